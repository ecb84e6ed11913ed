"""EM on the workers of a Dask cluster against threads of one process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...estimators import BernoulliINB
from ..store import Row, table
from .clock import grouped, median, ratio, shown
from .em import random_texts, seconds_per_iteration

SIZES = (2_000_000,)
N_COLUMNS, WORDS, N_CLASSES = 5_000, 12, 13
WORKERS = (1, 2)


def measure(reps: int, seed: int = 0) -> Iterator[Row]:
    from distributed import Client, LocalCluster

    from ...engines.dask import on_cluster

    for n_rows in SIZES:
        X, y = random_texts(np.random.default_rng(seed), np.float32, n_rows, N_COLUMNS, WORDS, N_CLASSES)
        for rep in range(reps):
            row: Row = {"n_rows": n_rows, "rep": rep, "threads_s": seconds_per_iteration(BernoulliINB, X, y)}
            for workers in WORKERS:
                cluster = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0")
                with cluster, Client(cluster, set_as_default=False) as client:
                    engine = on_cluster(client)

                    def there(engine: Any = engine, **settings: Any) -> Any:
                        return BernoulliINB(**settings, engine=engine)

                    row[f"workers_{workers}_s"] = seconds_per_iteration(there, X, y)
            yield row


def page(rows: list[Row]) -> str:
    lines = [
        [f"{n_rows:,}", shown(median(mine, "threads_s")), *(shown(median(mine, f"workers_{w}_s")) for w in WORKERS),
         f"{ratio(mine, 'workers_1_s', 'workers_2_s'):.2f} x", f"{ratio(mine, 'workers_2_s', 'threads_s'):.2f}"]
        for n_rows, mine in grouped(rows, "n_rows").items()
    ]  # fmt: skip
    header = ["rows", "threads", "Dask, 1 worker", "Dask, 2 workers", "2 workers faster than 1", "2 workers / threads"]
    return f"""## A cluster

One EM iteration over rows of {WORDS} words, {N_COLUMNS:,} columns, {N_CLASSES} classes: threads of one process, and
worker processes of Dask on the same machine. The rows are sent once, before the first iteration, which does not count.

{table(header, lines)}
"""
