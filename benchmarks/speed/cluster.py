"""EM on Dask workers that read shards, against threads of one process with all rows in memory."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from noisybayes._extras import require
from noisybayes._files import scratch_folder
from noisybayes.dataset.csr import row_view
from noisybayes.dataset.shards import Shards
from noisybayes.estimators import BernoulliINB

from ..result_files import Row, table
from .clock import grouped, median, ratio, shown, shown_bytes
from .em import n_bytes, pace, random_texts

if TYPE_CHECKING:
    from distributed import Client

SIZES = (2_000_000, 10_000_000)
N_COLUMNS, WORDS, N_CLASSES = 20_000, 12, 13
BLOCK = 100_000  # rows per shard
WORKERS = (1, 2)


def measure(reps: int, seed: int = 0) -> Iterator[Row]:
    require("distributed", extra="dask", purpose="the speed of a cluster")
    for n_rows in SIZES:
        yield from _of_size(n_rows, reps, seed)  # in its own stack frame, so that its rows are freed before the next


def _of_size(n_rows: int, reps: int, seed: int) -> Iterator[Row]:
    X, y = random_texts(np.random.default_rng(seed), np.float32, n_rows, N_COLUMNS, WORDS, N_CLASSES)
    with scratch_folder(Path(tempfile.gettempdir()), n_bytes(X)) as folder:
        blocks = (row_view(X, start, min(start + BLOCK, n_rows)) for start in range(0, n_rows, BLOCK))
        shards = Shards.write(folder, blocks, N_COLUMNS, X.dtype)
        disk = sum(path.stat().st_size for path in folder.iterdir())
        for rep in range(reps):
            row: Row = {"n_rows": n_rows, "rep": rep, "shard_bytes": disk}
            row |= _named("threads", pace(BernoulliINB, X, y)._asdict())
            for workers in WORKERS:
                row |= _named(f"workers_{workers}", _on_workers(workers, shards, y))
            yield row


def _on_workers(workers: int, shards: Shards, y: Any) -> Row:
    from distributed import Client

    from noisybayes.engines.dask import local_cluster, on_cluster

    with local_cluster(workers) as cluster, Client(cluster, set_as_default=False) as client:
        engine = on_cluster(client)
        spent = pace(lambda **settings: BernoulliINB(**settings, engine=engine), shards, y)
        return {**spent._asdict(), "peak_bytes": largest_peak(client)}


def largest_peak(client: Client) -> float:
    """Peak memory of a worker in bytes; Linux only."""
    if sys.platform != "linux":
        return float("nan")
    # getrusage would report the peak of this process, which started the workers, if that was larger
    statuses = client.run(Path("/proc/self/status").read_text)
    return max(1024.0 * int(peak) for text in statuses.values() for peak in re.findall(r"VmHWM:\s+(\d+)", text))


def _named(who: str, measured: Row) -> Row:
    return {f"{who}_{key}": value for key, value in measured.items()}


def page(rows: list[Row]) -> str:
    who = ("threads", *(f"workers_{workers}" for workers in WORKERS))
    lines = [
        [f"{n_rows:,}", *(shown(median(mine, f"{name}_iteration_s")) for name in who),
         f"{ratio(mine, 'workers_1_iteration_s', 'workers_2_iteration_s'):.2f} x",
         f"{ratio(mine, 'workers_2_iteration_s', 'threads_iteration_s'):.2f}",
         *(shown(median(mine, f"{name}_first_s")) for name in who),
         *(shown_bytes(median(mine, f"{name}_peak_bytes")) for name in who[1:])]
        for n_rows, mine in grouped(rows, "n_rows").items()
    ]  # fmt: skip
    header = ["rows", "threads", "Dask, 1 worker", "Dask, 2 workers", "speedup from 1 to 2 workers",
              "2 workers / threads", "first iteration: threads", "1 worker", "2 workers",
              "peak memory of a worker: 1", "2"]  # fmt: skip
    return f"""## A cluster

One EM iteration over rows of {WORDS} words, {N_COLUMNS:,} columns, {N_CLASSES} classes: threads of one process with all
rows in memory, and Dask worker processes on the same machine, which read shards of {BLOCK:,} rows by path. The first
iteration, in which the shards are read, is excluded; its time is shown separately.

{table(header, lines)}
"""
