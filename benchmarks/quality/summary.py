"""Means over seeds, and how our default compares with the best peer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ..result_files import Row
from .datasets import DATASETS, GROUPS
from .methods import GIVEN_RATES, METHODS, NEEDS_TRUTH, OURS, SECTION_METHODS
from .tasks import Array

DEFAULT = "inb"
_MANY = 4  # groups of data sets that are shown as a mean


class Mean(NamedTuple):
    value: float
    error: float  # standard error; nan for one seed
    n: int


class Comparison(NamedTuple):
    """The default against the peer with the best mean, on the seeds that both have."""

    peer: str
    ours: float
    theirs: float
    verdict: str  # "better": ours is; "worse"; "level": within two standard errors of the paired difference


def names(rows: Iterable[Row], column: str) -> list[str]:
    """The values of a column, in the order of their first row."""
    return list(dict.fromkeys(str(row[column]) for row in rows))


def in_order(rows: Iterable[Row]) -> list[Row]:
    """By data set and method in the order of registration, others last: parallel runs are stored as they finish."""
    known = DATASETS, (*METHODS, *GIVEN_RATES, *SECTION_METHODS)
    datasets, methods = ({name: place for place, name in enumerate(names)} for names in known)
    last = sum(map(len, known))
    return sorted(rows, key=lambda row: (datasets.get(row["dataset"], last), methods.get(row["method"], last)))


def blocks(datasets: list[str]) -> dict[str, list[str]]:
    """Title -> data sets. A large group is one block, at the position of its first data set."""
    by_title: dict[str, list[str]] = {}
    for name in datasets:
        group = next((title for title, members in GROUPS.items() if name in members), name)
        chosen = [other for other in datasets if other in GROUPS.get(group, ())]
        if len(chosen) >= _MANY:
            by_title.setdefault(f"{group}: mean of {len(chosen)} data sets", chosen)
        else:
            by_title[name] = [name]
    return by_title


def mean(rows: Iterable[Row], measure: str) -> Mean:
    values = np.array([row[measure] for row in rows if not row["error"]], dtype=np.float64)
    values = values[~np.isnan(values)]
    if not len(values):
        return Mean(np.nan, np.nan, 0)
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return Mean(float(values.mean()), float(error), len(values))


def compare(rows: list[Row], measure: str, sign: int) -> Comparison | None:
    """`rows` of one data set; `sign` is 1 where higher is better and -1 where lower is."""
    values = {method: _by_seed(rows, method, measure) for method in names(rows, "method")}
    ours = values.get(DEFAULT, {})
    candidates = []
    for peer, theirs in values.items():
        common = [seed for seed in ours if seed in theirs]
        if common and peer not in OURS and peer not in NEEDS_TRUTH:
            mine, others = (np.array([by_seed[seed] for seed in common]) for by_seed in (ours, theirs))
            comparison = Comparison(peer, float(mine.mean()), float(others.mean()), _verdict(sign * (mine - others)))
            candidates.append(comparison)
    return max(candidates, key=lambda c: sign * c.theirs, default=None)


def _by_seed(rows: list[Row], method: str, measure: str) -> dict[int, float]:
    values = {int(row["seed"]): float(row[measure]) for row in rows if row["method"] == method and not row["error"]}
    return {seed: value for seed, value in values.items() if not np.isnan(value)}


def _verdict(gain: Array) -> str:
    error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else 0.0
    if abs(gain.mean()) <= 2 * error or gain.mean() == 0:
        return "level"
    return "better" if gain.mean() > 0 else "worse"


def seeds_text(rows: Iterable[Row]) -> str:
    """How many seeds the data sets were run with: "5 seeds", or "1 to 2 seeds" if that differs."""
    by_dataset: dict[str, set[int]] = {}
    for row in rows:
        by_dataset.setdefault(str(row["dataset"]), set()).add(int(row["seed"]))
    counts = sorted({len(seeds) for seeds in by_dataset.values()})
    shown = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else str(counts[0])
    return f"{shown} seed{'s' if counts[-1] > 1 else ''}"
