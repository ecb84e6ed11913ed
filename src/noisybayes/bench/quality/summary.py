"""Means over seeds, and how our default compares with the best peer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ..store import Row
from .methods import NEEDS_TRUTH, OURS
from .tasks import Array

DEFAULT = "inb"


class Mean(NamedTuple):
    value: float
    error: float  # standard error; nan for one seed
    n: int


class Comparison(NamedTuple):
    """Of the default with the peer that has the best mean, on the seeds that both have."""

    peer: str
    ours: float
    theirs: float
    verdict: str  # "better": ours is; "worse"; "level": within two standard errors of the paired difference


def names(rows: Iterable[Row], column: str) -> list[str]:
    """The values of a column, in the order of their first row."""
    return list(dict.fromkeys(str(row[column]) for row in rows))


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
    found = {int(row["seed"]): float(row[measure]) for row in rows if row["method"] == method and not row["error"]}
    return {seed: value for seed, value in found.items() if not np.isnan(value)}


def _verdict(gain: Array) -> str:
    error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else 0.0
    if abs(gain.mean()) <= 2 * error or gain.mean() == 0:
        return "level"
    return "better" if gain.mean() > 0 else "worse"
