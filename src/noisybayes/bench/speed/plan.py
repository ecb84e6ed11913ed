"""A plan for a billion messages, from what was measured on fewer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...engines.dask import GROUPS
from ..store import Row, table
from . import cluster, files, growth
from .clock import grouped, median, ratio, shown, shown_bytes

#: The works whose rows the plan is made from.
NEEDS = ("cluster", "files", "growth")
#: What is assumed; one worker for each of the sums that leave the workers, since more would have nothing to do.
N_ROWS, ITERATIONS, WORKERS = 10**9, 50, GROUPS
NETWORK = 125e6  # bytes per second: 1 Gbit/s
_NUMBER = 8  # bytes


class Line(NamedTuple):
    """Through the smallest and the largest of what was measured; through zero if that is one size."""

    start: float
    slope: float

    def at(self, n: float) -> float:
        return self.start + self.slope * n


def line(points: dict[int, float]) -> Line:
    few, many = min(points), max(points)
    if few == many:
        return Line(0.0, points[many] / many)
    slope = (points[many] - points[few]) / (many - few)
    return Line(points[few] - slope * few, slope)


def page(of_cluster: list[Row], of_files: list[Row], of_growth: list[Row]) -> str:
    n_measured, largest = max(grouped(of_cluster, "n_rows").items())
    each = N_ROWS / WORKERS
    row_s = median(largest, "workers_1_iteration_s") / n_measured
    first_s = median(largest, "workers_1_first_s") / n_measured
    wait = ratio(largest, "workers_2_iteration_s", "workers_1_iteration_s") * 2
    message = _NUMBER * cluster.N_CLASSES * cluster.N_COLUMNS
    traffic = message * 2 * WORKERS
    iteration_s = row_s * each * wait + traffic / NETWORK
    lines = [
        ["computing, each row and iteration", f"{1e9 * row_s:.0f} ns", "`cluster`, 1 worker"],
        ["one iteration, computing", shown(row_s * each * wait), f"x rows of a worker x {wait:.2f}, see below"],
        ["parameters out, sums back, for each worker", f"{shown_bytes(message)} each", "classes x columns x 8 bytes"],
        ["network, one iteration", f"{shown_bytes(traffic)}, {shown(traffic / NETWORK)}", "as if all on one wire"],
        ["first iteration, with reading of the shards", shown(first_s * each), "`cluster`, 1 worker"],
        [f"**{ITERATIONS} iterations**", f"**{shown(first_s * each + (ITERATIONS - 1) * iteration_s)}**", "sum"],
        ["memory of a worker", shown_bytes(_by_rows(of_cluster, "workers_1_peak_bytes").at(each)), "`cluster`, line"],
        ["labels where the fit is started", shown_bytes(_NUMBER * N_ROWS), "8 bytes each, at least"],
        ["disk for the shards", shown_bytes(largest[0]["shard_bytes"] / n_measured * N_ROWS), "`cluster`, each row"],
    ]
    return f"""## A plan for a billion messages

Not measured, but computed from the rows above. Assumed: {N_ROWS:,} messages of {cluster.WORDS} words,
{cluster.N_CLASSES} classes, {cluster.N_COLUMNS:,} columns; {WORKERS} workers of one core each, as many as there are
groups of shards, with {each:,.0f} rows each; {ITERATIONS} iterations of EM; a network of {8 * NETWORK / 1e9:g} Gbit/s.
The shards lie where every worker can read its own at the speed of the disk that was measured with.

{table(["what", "cost", "from"], lines)}

The sums meet in a tree: {(WORKERS - 1).bit_length()} levels for {WORKERS} workers. What workers wait for each other is
taken from the step from one to two, on two cores that they shared with the scheduler: two took {wait:.2f} times half
the time of one. {_straight(of_growth)}

{_one_machine(of_files)}
"""


def _by_rows(rows: Sequence[Row], key: str) -> Line:
    return line({n_rows: median(mine, key) for n_rows, mine in grouped(rows, "n_rows").items()})


def _straight(of_growth: list[Row]) -> str:
    sizes = grouped([row for row in of_growth if row["what"] == "rows"], "size")
    *_, fewer, most = sorted(sizes)
    change = growth.each(sizes[most]) / growth.each(sizes[fewer])
    return (
        f"From {fewer:,} to {most:,} rows the time per word and class changed by a factor of {change:.2f} (`growth`); "
        "beyond that it is taken for constant."
    )


def _one_machine(of_files: list[Row]) -> str:
    from_disk = [row for row in of_files if row["way"] == files.FROM_DISK]
    wall, peak = (_by_rows(from_disk, key).at(N_ROWS) for key in ("wall_s", "peak_bytes"))
    most = max(row["n_rows"] for row in from_disk)
    return (
        f"Without a cluster: `{files.FROM_DISK}` on up to {most:,} messages, drawn out as a straight line, comes to "
        f"{shown(wall)} and {shown_bytes(peak)} of memory (more than that limit, then) for the whole audit on this "
        "machine."
    )
