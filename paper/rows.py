"""Result rows: stored as CSV files, averaged, compared with the paper's figures, and shown in Markdown tables."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

Row = dict[str, Any]


def read_rows(path: Path) -> list[Row]:
    """Rows as stored, with numbers as numbers; none if there is no file."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [{key: _number(value) for key, value in row.items()} for row in csv.DictReader(file)]


def _number(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def write_rows(path: Path, rows: Sequence[Row]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".new")  # an interrupted run must not lose earlier rows
    with unfinished.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    os.replace(unfinished, path)


def table(header: Sequence[str], rows: Iterable[Iterable[Any]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *([str(cell) for cell in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


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


def accuracy(rows: Sequence[Row], setting: str, method: str) -> Mean:
    """In percent."""
    return mean_of(cell(rows, setting, method), "accuracy", 100)


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


def settings_in(rows: Sequence[Row], settings: Iterable[str]) -> list[str]:
    present = {row["setting"] for row in rows}
    return [name for name in settings if name in present]


def repetitions(rows: Sequence[Row]) -> str:
    """How many rows the methods have in a setting: one number, or the range."""
    counts: dict[tuple[str, str], int] = {}
    for row in rows:
        counts[row["setting"], row["method"]] = counts.get((row["setting"], row["method"]), 0) + 1
    least, most = min(counts.values()), max(counts.values())
    return str(most) if least == most else f"{least} to {most}, by method"


def difference(mean: Mean, paper: float) -> str:
    return mean._replace(value=mean.value - paper).shown(sign=True)


def verdict(mean: Mean, paper: float) -> str:
    """Within a point, or within two standard errors of the difference (the paper's error is assumed to equal ours)."""
    gap = mean.value - paper
    chance = 2 * np.sqrt(2) * mean.error if np.isfinite(mean.error) else 0.0
    if abs(gap) <= max(1.0, chance):
        return "reproduced"
    return "higher" if gap > 0 else "lower"
