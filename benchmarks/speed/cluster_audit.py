"""The whole audit on a local Dask cluster, against one process that keeps its rows on disk."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from noisybayes._extras import require
from noisybayes._files import scratch_folder

from ..data.simulated_messages import write_messages
from ..result_files import Row, table
from .clock import command_cost, grouped, median, ratio, shown, shown_bytes
from .cluster import largest_peak
from .files import FROM_DISK, MEMORY, N_CLASSES, WORDS

if TYPE_CHECKING:
    from distributed import Client

SIZES = (300_000, 1_000_000, 10_000_000)
#: Run once, and only on the cluster: does the driver need more memory for more rows?
LARGEST = 30_000_000
WORKERS = 2
#: Targets: time as a multiple of that of one process, and bytes of any process.
MOST_TIMES, MOST_BYTES = 1.5, 2.5e9
_DISK_PER_MESSAGE = 1_000  # bytes; the file, the workers' data and the results together


def measure(reps: int, seed: int = 0) -> Iterator[Row]:
    require("distributed", extra="dask", purpose="the speed of a cluster")
    for n_rows in SIZES:
        with _messages(n_rows, seed) as messages:
            for rep in range(reps):
                yield {"n_rows": n_rows, "rep": rep, **_in_turn(messages)}
    yield measure_largest(seed)


def measure_largest(seed: int = 0) -> Row:
    with _messages(LARGEST, seed) as messages:
        unknown = {"disk_wall_s": np.nan, "disk_cpu_s": np.nan, "disk_peak_bytes": np.nan, "flags_differ": np.nan}
        return {"n_rows": LARGEST, "rep": 0, **_on_cluster(messages, messages.with_name("there")), **unknown}


@contextmanager
def _messages(n_rows: int, seed: int) -> Iterator[Path]:
    with scratch_folder(Path(tempfile.gettempdir()), _DISK_PER_MESSAGE * n_rows) as folder:
        messages = folder / "messages.csv"
        write_messages(messages, n_rows, n_words=WORDS, n_classes=N_CLASSES, seed=seed, true_label=False)
        yield messages


def _in_turn(messages: Path) -> Row:
    here, there = messages.with_name("here"), messages.with_name("there")
    one = command_cost(*_command(messages, here, "--memory", f"{MEMORY:.0f}"))
    cluster = _on_cluster(messages, there)
    differ = _suspects(here / "corrected.csv") != _suspects(there / "corrected.parquet")
    for folder in (here, there):
        shutil.rmtree(folder)
    disk = {f"disk_{name}": value for name, value in one._asdict().items()}
    return {**disk, **cluster, "flags_differ": int(differ.sum())}


def _on_cluster(messages: Path, out: Path) -> Row:
    from distributed import Client

    from noisybayes.engines.dask import local_cluster

    with local_cluster(WORKERS) as cluster, Client(cluster, set_as_default=False) as client:
        before = _cpu(client)
        driver = command_cost(*_command(messages, out, "--engine", "dask", "--scheduler", cluster.scheduler_address))
        return {
            "dask_wall_s": driver.wall_s,
            "dask_cpu_s": driver.cpu_s + _cpu(client) - before,
            "driver_peak_bytes": driver.peak_bytes,
            "worker_peak_bytes": largest_peak(client),
        }


def _cpu(client: Client) -> float:
    return float(sum(client.run(time.process_time).values()))


def _command(messages: Path, out: Path, *options: str) -> list[Any]:
    columns = ["--label", "label", "--text", "text"]
    return [sys.executable, "-m", "noisybayes", "audit", messages, *columns, "--out", out, *options]


def _suspects(path: Path) -> Any:
    frame = pl.scan_csv(path) if path.suffix == ".csv" else pl.scan_parquet(path)
    return frame.select("suspect").collect(engine="streaming")["suspect"].to_numpy()


def page(rows: list[Row]) -> str:
    processes = ("disk", "driver", "worker")
    times = ("disk_wall_s", "dask_wall_s", "disk_cpu_s", "dask_cpu_s")
    lines = [
        [f"{n_rows:,}", *(_or_dash(median(mine, key), shown) for key in times),
         *(_or_dash(ratio(mine, f"dask_{kind}_s", f"disk_{kind}_s"), "{:.2f} x".format) for kind in ("wall", "cpu")),
         *(_or_dash(max(row[f"{who}_peak_bytes"] for row in mine), shown_bytes) for who in processes),
         _or_dash(max(row["flags_differ"] for row in mine), "{:,.0f}".format)]
        for n_rows, mine in grouped(rows, "n_rows").items()
    ]  # fmt: skip
    header = ["messages", "time: from disk", "Dask", "CPU time: from disk", "Dask", "time, Dask / from disk",
              "CPU time", "peak memory: from disk", "driver", "a worker", "suspects that differ"]  # fmt: skip
    return f"""## An audit on a cluster

From a CSV file of simulated messages ({WORDS} words, {N_CLASSES} classes) to a report and a corrected table:
`{FROM_DISK}`, and `noisybayes audit --engine dask` with {WORKERS} worker processes on the same machine, which read,
fit, score and write. The driver is the process of the command; CPU time is the sum over driver and workers.

{table(header, lines)}

{_verdict(rows)}
"""


def _or_dash(value: float, text: Callable[[float], str]) -> str:
    """Values that were not measured are not shown."""
    return "-" if np.isnan(value) else text(value)


def _verdict(rows: list[Row]) -> str:
    compared = [row for row in rows if not np.isnan(row["disk_wall_s"])]
    n_rows, largest = max(grouped(compared, "n_rows").items())
    slower = ratio(largest, "dask_wall_s", "disk_wall_s")
    peak = max(max(row["driver_peak_bytes"], row["worker_peak_bytes"]) for row in rows)
    verdict = "met" if slower <= MOST_TIMES and peak <= MOST_BYTES else "not met"
    drivers = {n: np.median([row["driver_peak_bytes"] for row in mine]) for n, mine in grouped(rows, "n_rows").items()}
    few, many = min(drivers), max(drivers)
    growth = (
        f" From {few:,} to {many:,} messages the memory of the driver went from {shown_bytes(drivers[few])} to "
        f"{shown_bytes(drivers[many])}."
        if few < many
        else ""
    )
    return (
        f"The limits, {MOST_TIMES:g} times the time of one process and {MOST_BYTES / 1e9:g} GB for each process, were "
        f"{verdict} at {n_rows:,} messages: {slower:.2f} x and {shown_bytes(peak)}.{growth}"
    )
