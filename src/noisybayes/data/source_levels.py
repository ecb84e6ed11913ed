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


class CellCounts(NamedTuple):
    """The cells of a column as text, counted."""

    column: str
    values: pl.Series  # distinct, sorted
    counts: Array  # (V,) of each value
    n_rows: int  # including empty cells
    is_numeric: bool  # whether the column has a numeric type


def source_levels(frame: pl.DataFrame, column: str) -> SourceLevels:
    """The levels of a column in memory."""
    text = cell_texts(frame[column])
    values = text.drop_nulls().unique().sort()
    place = text.cast(pl.Enum(values)).to_physical().cast(pl.Int64).fill_null(len(values)).to_numpy()
    counts = np.bincount(place, minlength=len(values) + 1)[:-1]
    found = levels_of_values(CellCounts(column, values, counts, len(text), frame[column].dtype.is_numeric()))
    return found._replace(code=np.append(found.code, len(found.names))[place])


def cell_texts(cells: pl.Series) -> pl.Series:
    """Cells of a source or of a labeler as text, null where empty; times to the minute."""
    if isinstance(cells.dtype, pl.Datetime):
        cells = cells.dt.truncate("1m")
    return as_text(cells).str.strip_chars().replace("", None)


def levels_of_values(cells: CellCounts) -> SourceLevels:
    """The levels of a column; `code` has one entry for each of its distinct values."""
    column, values = cells.column, cells.values
    if not len(values):
        raise InputError(f"--source: the column {column!r} is empty in every row")
    times = None if cells.is_numeric else times_of(values, cells.counts)
    if times is not None:
        return SourceLevels(column, "time", *time_bins(times, cells.counts))
    if len(values) > max(2, _MOST_DIFFERENT * cells.n_rows):
        raise InputError(
            f"--source: the column {column!r} has {len(values):,} distinct values in {cells.n_rows:,} rows, and looks "
            "like an identifier; choose a column of categories or times"
        )
    numbers = numbers_of(values, cells.counts)
    if numbers is not None:
        return SourceLevels(column, "number", *number_bins(numbers, cells.counts))
    if len(values) > _MOST_LEVELS:
        raise InputError(
            f"--source: the column {column!r} has {len(values):,} distinct values, but a source has at most "
            f"{_MOST_LEVELS:,}; choose a coarser one"
        )
    return SourceLevels(column, "category", tuple(values.to_list()), (), np.arange(len(values)))
