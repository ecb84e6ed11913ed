"""Review the tables in every order: results/review.csv. An interrupted run continues where it stopped."""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Iterator
from pathlib import Path

import numpy as np

from ..data.datasets import DatasetUnavailableError
from ..quality.tasks import Array
from ..result_files import Row, read_rows, store_rows
from .orders import DATASETS, ORDERS, Order, Table, up_to

RESULTS, KEY = "review.csv", ("dataset", "method", "seed")
#: Where a review is measured, in percent of the rows.
PERCENTS = range(1, 31)


def run(
    datasets: Collection[str], methods: Collection[str], seeds: range, root: Path, fresh: bool = False
) -> Iterator[str]:
    """A line for each finished review; all of one seed before the next seed."""
    path = root / "results" / RESULTS
    done = set() if fresh else {tuple(row[name] for name in KEY) for row in read_rows(path)}
    for seed in seeds:
        for dataset in datasets:
            left = [method for method in methods if (dataset, method, seed) not in done]
            try:
                table = DATASETS[dataset](seed) if left else None
            except DatasetUnavailableError as error:
                print(f"{dataset} is left out: {error}", file=sys.stderr)
                continue
            for method in left:
                assert table is not None
                rows = list(review(table, ORDERS[method], seed))
                store_rows(path, [{"dataset": dataset, "method": method, "seed": seed, **row} for row in rows], KEY)
                yield f"{dataset}, seed {seed}, {method}: {rows[-1]['found']:.3f} found in {PERCENTS[-1]} % of the rows"


def review(table: Table, order: Order, seed: int) -> Iterator[Row]:
    """A row per percentage: what was found so far, and the seconds that the order has taken."""
    n, wrong = len(table.y), table.y != table.true
    positions, seconds = _reviewed(order, table, seed, up_to(PERCENTS[-1], n))
    n_found = np.cumsum(wrong[positions])
    for percent in PERCENTS:
        count = up_to(percent, n)
        yield {
            "rows": n,
            "wrong": int(wrong.sum()),
            "percent": percent,
            "found": round(float(n_found[count - 1] / wrong.sum()), 6),
            "precision": round(float(n_found[count - 1] / count), 6),
            "seconds": round(float(seconds[count - 1]), 3),
        }


def _reviewed(order: Order, table: Table, seed: int, most: int) -> tuple[Array, Array]:
    """The first rows in order, and for each the seconds until it was selected."""
    positions, seconds = np.empty(0, dtype=np.intp), np.empty(0)
    elapsed = 0.0
    # an order that changes the labels in place must not change them for the next one
    batches = order(table.kind, table.X, table.y.copy(), lambda rows: table.true[rows], seed)
    while len(positions) < most:
        start = time.perf_counter()
        batch = next(batches)
        elapsed += time.perf_counter() - start
        positions = np.concatenate([positions, batch])
        seconds = np.concatenate([seconds, np.full(len(batch), elapsed)])
    return positions[:most], seconds[:most]
