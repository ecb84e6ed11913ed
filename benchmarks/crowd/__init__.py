"""Several labels of a row: how often the consensus of each method is the true label, against known truth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ..result_files import store_rows
from . import one_label, texts
from .texts import DATASETS, METHODS, OURS

__all__ = ["DATASETS", "METHODS", "run"]

SEVERAL, LABELERS, DATES = "crowd.csv", "labelers.csv", "sources.csv"


def run(datasets: Sequence[str], methods: Sequence[str], seeds: range, results: Path) -> Iterator[str]:
    """A line for each data set and seed, whose earlier rows are replaced."""
    for name in datasets:
        for seed in seeds:
            rows = list(texts.measure(name, methods, seed))
            store_rows(results / SEVERAL, rows, ("dataset", "seed", "method"))
            if OURS in methods:
                store_rows(results / LABELERS, list(one_label.measure_labelers(name, seed)), ("dataset", "seed"))
                store_rows(results / DATES, list(one_label.measure_dates(name, seed)), ("dataset", "seed"))
            yield f"{name}, seed {seed}: {len(rows)} rows"
