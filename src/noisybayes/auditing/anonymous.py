"""Replaces the names of labelers by numbers in the table itself, so that no output can show a name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from ..data.cells import as_text
from ..data.errors import InputError


@dataclass(frozen=True)
class RenameColumns:
    """Renames the label columns of each frame."""

    names: dict[str, str]

    def __call__(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame.rename(self.names)


@dataclass(frozen=True)
class RenameLabelers:
    """Replaces the names in the column of labelers."""

    column: str
    names: dict[str, str]

    def __call__(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame.with_columns(labeler_names(frame[self.column]).replace(self.names))


def new_column_names(known: Sequence[str], columns: Mapping[str, Any]) -> tuple[RenameColumns | None, dict[str, Any]]:
    """How label columns are renamed, if there are several, and the columns by role. known : columns of the table

    Labelers are named "labeler 1", "labeler 2" and so on. The order of the numbers does not reveal anyone, and the same
    names always get the same numbers.
    """
    label = columns.get("label")
    if isinstance(label, list | tuple):
        # missing columns are reported where columns are read
        names = new_names([name for name in label if name in known])
        return RenameColumns(names), {**columns, "label": [names.get(name, name) for name in label]}
    if columns.get("labeler") is None:
        raise InputError(
            "--anonymous hides the names of labelers, but none are given; add --labeler or several --label"
        )
    return None, dict(columns)


def labeler_names(column: pl.Series) -> pl.Series:
    """Names without outer spaces; null where empty."""
    return as_text(column).str.strip_chars().replace("", None)


def distinct_names(frame: pl.DataFrame, column: str) -> list[str]:
    names: list[str] = labeler_names(frame[column]).drop_nulls().unique().to_list()
    return names


def new_names(names: Sequence[str]) -> dict[str, str]:
    order = np.random.default_rng(len(names)).permutation(len(names))
    width = len(str(len(names)))
    return {name: f"labeler {place + 1:0{width}}" for name, place in zip(sorted(names), order.tolist(), strict=True)}
