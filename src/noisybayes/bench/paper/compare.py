"""Our figures beside the paper's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..store import Row


class Mean(NamedTuple):
    value: float
    error: float  # standard error
    n: int


def mean_of(rows: Sequence[Row], measure: str, scale: float = 1.0) -> Mean:
    values = scale * np.array([row[measure] for row in rows if row[measure] == row[measure]], dtype=float)
    if not len(values):
        return Mean(float("nan"), float("nan"), 0)
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else float("nan")
    return Mean(float(values.mean()), float(error), len(values))


def difference(mean: Mean, paper: float) -> str:
    error = f" ± {mean.error:.1f}" if np.isfinite(mean.error) else ""
    return f"{mean.value - paper:+.1f}{error}"


def verdict(mean: Mean, paper: float, close: float = 1.0) -> str:
    """Within a point, or within two standard errors of both means (the paper's is taken to be as large as ours)."""
    gap = mean.value - paper
    chance = 2 * np.sqrt(2) * mean.error if np.isfinite(mean.error) else 0.0
    if abs(gap) <= max(close, chance):
        return "reproduced"
    return "higher" if gap > 0 else "lower"
