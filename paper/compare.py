"""Our figures beside the paper's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from benchmarks.result_files import Row


class Mean(NamedTuple):
    value: float
    error: float  # standard error
    n: int

    def shown(self, digits: int = 1, sign: bool = False) -> str:
        if not self.n:
            return "–"
        error = f" ± {self.error:.{digits}f}" if np.isfinite(self.error) else ""
        return f"{self.value:{'+' if sign else ''}.{digits}f}{error}"


def mean_of(rows: Sequence[Row], measure: str, scale: float = 1.0) -> Mean:
    values = scale * np.array([row[measure] for row in rows if row[measure] == row[measure]], dtype=float)
    if not len(values):
        return Mean(float("nan"), float("nan"), 0)
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else float("nan")
    return Mean(float(values.mean()), float(error), len(values))


def cell(rows: Sequence[Row], setting: str, method: str) -> list[Row]:
    return [row for row in rows if row["setting"] == setting and row["method"] == method]


def paired(rows: Sequence[Row], setting: str, method: str, against: str, relative: bool = False) -> Mean:
    """Accuracy of a method minus that of another on the same data, in points, or in percent of the other's."""
    other = {row["rep"]: row["accuracy"] for row in cell(rows, setting, against)}
    pairs = []
    for row in cell(rows, setting, method):
        if row["rep"] in other:
            gap = row["accuracy"] - other[row["rep"]]
            pairs.append({"gap": gap / other[row["rep"]] if relative else gap})
    return mean_of(pairs, "gap", 100)


def methods_in(rows: Sequence[Row], methods: Sequence[str]) -> list[str]:
    present = {row["method"] for row in rows}
    return [name for name in methods if name in present]


def settings_in(rows: Sequence[Row], settings: Sequence[str]) -> list[str]:
    """In the order of the experiment; settings of a quick run are not part of it and keep the stored order."""
    present = list(dict.fromkeys(row["setting"] for row in rows))
    return [name for name in settings if name in present] or present


def repetitions(rows: Sequence[Row]) -> str:
    """How many rows the methods have in a setting: one number, or the range."""
    counts: dict[tuple[str, str], int] = {}
    for row in rows:
        counts[row["setting"], row["method"]] = counts.get((row["setting"], row["method"]), 0) + 1
    least, most = min(counts.values()), max(counts.values())
    return str(most) if least == most else f"{least} to {most}, by method"


def difference(mean: Mean, paper: float) -> str:
    error = f" ± {mean.error:.1f}" if np.isfinite(mean.error) else ""
    return f"{mean.value - paper:+.1f}{error}"


def verdict(mean: Mean, paper: float, close: float = 1.0) -> str:
    """Within a point, or within two standard errors of the difference (the paper's error is assumed to equal ours)."""
    gap = mean.value - paper
    chance = 2 * np.sqrt(2) * mean.error if np.isfinite(mean.error) else 0.0
    if abs(gap) <= max(close, chance):
        return "reproduced"
    return "higher" if gap > 0 else "lower"
