"""A plan for a billion messages, extrapolated from measurements on fewer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from noisybayes.engines.dask import GROUPS
from noisybayes.robust.constants import DEFAULT

from ..result_files import Row, table
from . import cluster_audit, files
from .clock import grouped, median, shown, shown_bytes

#: The measurements that the plan is computed from.
NEEDS = ("cluster_audit", "files")
#: Assumptions; one worker per partial sum, since more workers would be idle.
N_ROWS, WORKERS = 10**9, GROUPS
#: Passes over the rows in an audit that reweights the labels once, as counted by an engine.
PASSES = 11
N_COLUMNS = 20_000  # words
NETWORK = 125e6  # bytes per second: 1 Gbit/s
_NUMBER = 8  # bytes
_KINDS = 2  # of scores: multinomial and complement weights


class Line(NamedTuple):
    """The line through the smallest and the largest measurement; through zero if there is only one size."""

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


def page(of_cluster: list[Row], of_files: list[Row]) -> str:
    each = N_ROWS / WORKERS
    cpu, wall = _by_rows(of_cluster, "dask_cpu_s"), _by_rows(of_cluster, "dask_wall_s")
    most = max(row["n_rows"] for row in of_cluster)
    busy, fixed = cpu.slope * each, max(wall.start, 0.0)
    one_fold = _NUMBER * files.N_CLASSES * N_COLUMNS
    traffic = PASSES * WORKERS * (1 + _KINDS) * DEFAULT.n_folds * one_fold
    driver = max(row["driver_peak_bytes"] for row in of_cluster)
    worker = line({n // cluster_audit.WORKERS: value for n, value in _medians(of_cluster, "worker_peak_bytes").items()})
    lines = [
        ["CPU time per message, all processes", f"{1e6 * cpu.slope:.1f} us", "`cluster_audit`, line"],
        ["computing, reading and writing per worker", shown(busy), "x messages per worker"],
        ["fixed cost", shown(fixed), "`cluster_audit`, line at 0"],
        [
            f"network, {PASSES} passes",
            f"{shown_bytes(traffic)}, {shown(traffic / NETWORK)}",
            "parameters out, sums back; as if all over one link",
        ],
        ["**the whole audit**", f"**{shown(busy + fixed + traffic / NETWORK)}**", "sum"],
        [
            "memory of the driver",
            shown_bytes(driver),
            f"maximum over all sizes up to {most:,}: nothing is kept per row",
        ],
        ["memory of a worker", shown_bytes(worker.at(each)), "`cluster_audit`, line over the messages per worker"],
    ]
    return f"""## A plan for a billion messages

Not measured, but extrapolated from the rows above. Assumptions: {N_ROWS:,} messages of {files.WORDS} words in files
that every worker can read, {files.N_CLASSES} classes, {N_COLUMNS:,} words; {WORKERS} single-core workers with
{each:,.0f} messages each; a network of {8 * NETWORK / 1e9:g} Gbit/s. Scores, sums and evidence stay on the workers; the
driver gets statistics and the most suspicious rows.

{table(["what", "cost", "from"], lines)}

{_one_machine(of_files)}
"""


def _medians(rows: Sequence[Row], key: str) -> dict[int, float]:
    return {n_rows: median(mine, key) for n_rows, mine in grouped(rows, "n_rows").items()}


def _by_rows(rows: Sequence[Row], key: str) -> Line:
    return line(_medians(rows, key))


def _one_machine(of_files: list[Row]) -> str:
    from_disk = [row for row in of_files if row["way"] == files.FROM_DISK]
    wall, peak = (_by_rows(from_disk, key).at(N_ROWS) for key in ("wall_s", "peak_bytes"))
    most = max(row["n_rows"] for row in from_disk)
    return (
        f"Without a cluster: `{files.FROM_DISK}`, extrapolated linearly from up to {most:,} messages, comes to "
        f"{shown(wall)} and {shown_bytes(peak)} of memory (above that limit) for the whole audit on this "
        "machine."
    )
