"""The levels of a source: categories as they are, times and numbers in a few ordered bins.

A column may be given by its distinct values and how often each occurs (`counts`), by default once.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from .cells import as_text
from .errors import InputError
from .simulate import Array

# With more distinct values than this share of the rows, or than this number, levels would have too few rows.
_MOST_DIFFERENT, _MOST_LEVELS = 0.5, 1_000
#: Number of bins with equal numbers of rows, and the range of the number of calendar periods used instead.
_MOST_BINS, _FEWEST_PERIODS, _MOST_PERIODS = 12, 5, 14
# Share of the cells that must be times, or numbers, for the column to count as such.
_MOST_CELLS = 0.95
# Date formats: the order day, month, year is recognised only with dots, as in date features.
_DAY = r"^\s*(?<year>\d{4})[-/.](?<month>\d{1,2})[-/.](?<day>\d{1,2})(?:[T ,]+(?<hour>\d{1,2}):(?<minute>\d{2}))?"
_DAY_LAST = r"^\s*(?<day>\d{1,2})\.(?<month>\d{1,2})\.(?<year>\d{4})(?:[T ,]+(?<hour>\d{1,2}):(?<minute>\d{2}))?"
_MONTH = r"^\s*(?<year>\d{4})[-/.](?<month>\d{1,2})\s*$"
_WEEK = r"^\s*(?<year>\d{4})-?[Ww](?<week>\d{1,2})\s*$"
_NEEDED = ("year", "month", "day", "hour", "minute")
# Calendar periods, from the finest to the coarsest: their length and format.
_PERIODS = (
    ("1d", "%Y-%m-%d"),
    ("1w", "week of %Y-%m-%d"),
    ("1mo", "%Y-%m"),
    ("1q", "quarter from %Y-%m"),
    ("1y", "%Y"),
)  # fmt: skip


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


class Bins(NamedTuple):
    names: tuple[str, ...]  # in order
    starts: tuple[str, ...]  # start of each
    code: Array  # (n,) len(names) where the cell is empty


def times_of(column: pl.Series, counts: Array | None = None) -> pl.Series | None:
    """Every cell as a time, null if it is not one; None if the column does not contain times."""
    if column.dtype == pl.Date:
        return column.cast(pl.Datetime("us"))
    if isinstance(column.dtype, pl.Datetime):
        return column.dt.replace_time_zone(None).cast(pl.Datetime("us"))
    if column.dtype.is_numeric():
        return None
    text = as_text(column).str.strip_chars().replace("", None)
    parts = [_from_parts(text, pattern) for pattern in (_DAY, _DAY_LAST, _MONTH)]
    times = parts[0].fill_null(parts[1]).fill_null(parts[2]).fill_null(_weeks(text))
    return times if _mostly(times, text, counts) else None


def numbers_of(column: pl.Series, counts: Array | None = None) -> pl.Series | None:
    """Every cell as a number, null if it is not one; None if the column does not contain numbers."""
    if column.dtype == pl.Boolean:
        return None
    text = as_text(column).str.strip_chars().replace("", None)
    numbers = text.cast(pl.Float64, strict=False)
    numbers = numbers.set(~numbers.is_finite().fill_null(False), None)
    return numbers if _mostly(numbers, text, counts) else None


def time_bins(times: pl.Series, counts: Array | None = None) -> Bins:
    """The shortest of days, weeks, months, quarters or years that gives few enough periods; else bins with equal
    numbers of rows."""
    for length, written in _PERIODS:
        start = times.dt.truncate(length)
        distinct = start.drop_nulls().unique().sort()
        if len(distinct) > _MOST_PERIODS:
            continue
        if len(distinct) < _FEWEST_PERIODS and times.drop_nulls().n_unique() > _MOST_PERIODS:
            break  # too coarse, while there were too many of the finer ones
        names = tuple(distinct.dt.strftime(written).to_list())
        return Bins(names, tuple(distinct.dt.strftime("%Y-%m-%d").to_list()), _codes(start, distinct))
    days = times.dt.truncate("1d")
    unit, written = (days, "%Y-%m-%d") if days.drop_nulls().n_unique() > _MOST_BINS else (times, "%Y-%m-%d %H:%M")
    return _equal(unit, lambda value: value.strftime(written), counts)


def number_bins(numbers: pl.Series, counts: Array | None = None) -> Bins:
    """Each number separately if there are few; else bins with equal numbers of rows."""

    def written(value: float) -> str:
        return f"{value:.0f}" if value.is_integer() else f"{value:g}"

    distinct = numbers.drop_nulls().unique().sort()
    if len(distinct) > _MOST_PERIODS:
        return _equal(numbers, written, counts)
    names = tuple(written(value) for value in distinct.to_list())
    return Bins(names, names, _codes(numbers, distinct))


def _equal(values: pl.Series, written: Callable[[Any], str], counts: Array | None) -> Bins:
    """Bins with about equal numbers of rows; equal values are in one bin."""
    there = values.is_not_null().to_numpy()
    order = values.filter(pl.Series(there)).arg_sort()
    known, last_rows = (
        values.filter(pl.Series(there))[order],
        np.cumsum(_repeats(values, counts)[there][order.to_numpy()]),
    )
    wanted = np.arange(_MOST_BINS) * int(last_rows[-1]) // _MOST_BINS
    firsts = known[np.searchsorted(last_rows, wanted, side="right")].unique().sort()
    code = firsts.search_sorted(values.fill_null(known[0]), side="right").to_numpy().astype(np.int64) - 1
    code[values.is_null().to_numpy()] = len(firsts)
    names = []
    for b, first in enumerate(firsts.to_list()):
        last = values.filter(pl.Series(code == b)).max()
        start, end = written(first), written(last)
        names.append(start if start == end else f"{start} to {end}")
    return Bins(tuple(names), tuple(written(first) for first in firsts.to_list()), code)


def _codes(values: pl.Series, distinct: pl.Series) -> Array:
    places = {value: code for code, value in enumerate(distinct.to_list())}
    return np.array([len(places) if value is None else places[value] for value in values.to_list()], dtype=np.int64)


def _from_parts(text: pl.Series, pattern: str) -> pl.Series:
    groups = text.str.extract_groups(pattern).struct.unnest()
    names = re.findall(r"\?<(\w+)>", pattern)
    number = {name: groups[name].cast(pl.Int32, strict=False).fill_null(0) for name in names}
    filled = {name: number.get(name, pl.Series([int(name == "day")] * len(text))) for name in _NEEDED}
    parts = pl.DataFrame({**filled, "there": groups["year"].is_not_null()})
    written = pl.format("{}-{}-{} {}:{}", "year", *(pl.col(name).cast(pl.String).str.zfill(2) for name in _NEEDED[1:]))
    return parts.select(
        pl.when("there").then(written).str.to_datetime("%Y-%m-%d %H:%M", strict=False, time_unit="us")
    ).to_series()


def _weeks(text: pl.Series) -> pl.Series:
    """The Mondays of ISO 8601 weeks."""
    groups = text.str.extract_groups(_WEEK).struct.unnest()
    written = pl.format("{}-W{}-1", pl.col("year"), pl.col("week").str.zfill(2))
    monday = groups.select(pl.when(pl.col("year").is_not_null()).then(written)).to_series()
    return monday.str.to_datetime("%G-W%V-%u", strict=False, time_unit="us")


def _mostly(found: pl.Series, text: pl.Series, counts: Array | None) -> bool:
    repeats = _repeats(text, counts)
    n_cells, n_found = (repeats[column.is_not_null().to_numpy()].sum() for column in (text, found))
    return bool(n_cells and n_found >= _MOST_CELLS * n_cells)


def _repeats(values: pl.Series, counts: Array | None) -> Array:
    return np.ones(len(values), dtype=np.int64) if counts is None else counts
