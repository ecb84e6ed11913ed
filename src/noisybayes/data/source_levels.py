"""The levels of a source: categories as they are, times and numbers in a few ordered bins."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from .cells import as_text
from .errors import InputError
from .periods import number_bins, numbers_of, time_bins, times_of
from .simulate import Array

# With more distinct values than this share of the rows, or than this number, levels would have too few rows.
_MOST_DIFFERENT, _MOST_LEVELS = 0.5, 1_000


class SourceLevels(NamedTuple):
    column: str
    kind: str  # "category", "number" or "time"
    names: tuple[str, ...]  # of the levels; ordered for times and numbers
    starts: tuple[str, ...]  # for times and numbers: where each level begins
    code: Array  # (n,) len(names) where the cell is empty

    @property
    def is_ordered(self) -> bool:
        return self.kind != "category"


def source_levels(frame: pl.DataFrame, column: str) -> SourceLevels:
    cells = frame[column]
    if as_text(cells).str.strip_chars().replace("", None).null_count() == len(cells):
        raise InputError(f"--source: the column {column!r} is empty in every row")
    times = times_of(cells)
    if times is not None:
        return SourceLevels(column, "time", *time_bins(times))
    _check_few(cells, column)
    numbers = numbers_of(cells)
    if numbers is not None:
        return SourceLevels(column, "number", *number_bins(numbers))
    return _categories(cells, column)


def _check_few(cells: pl.Series, column: str) -> None:
    text = as_text(cells).str.strip_chars().replace("", None)
    n_different = text.drop_nulls().n_unique()
    if n_different > max(2, _MOST_DIFFERENT * len(text)):
        raise InputError(
            f"--source: the column {column!r} has {n_different:,} distinct values in {len(text):,} rows, and looks "
            "like an identifier; choose a column of categories or times"
        )


def _categories(cells: pl.Series, column: str) -> SourceLevels:
    text = as_text(cells).str.strip_chars().replace("", None)
    names = text.drop_nulls().unique().sort()
    if len(names) > _MOST_LEVELS:
        raise InputError(
            f"--source: the column {column!r} has {len(names):,} distinct values, but a source has at most "
            f"{_MOST_LEVELS:,}; choose a coarser one"
        )
    code = text.cast(pl.Enum(names)).to_physical().cast(pl.Int64).fill_null(len(names)).to_numpy()
    return SourceLevels(column, "category", tuple(names.to_list()), (), np.asarray(code))
