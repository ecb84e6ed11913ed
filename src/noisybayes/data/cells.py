"""Cells of a column as text, numbers or yes/no. A missing cell is null; cells that cannot be parsed are marked."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

#: How files write a missing number or yes/no.
_MISSING = ("", "na", "n/a", "nan", "null", "none")
_TRUTHS = {"0": 0.0, "0.0": 0.0, "false": 0.0, "no": 0.0, "1": 1.0, "1.0": 1.0, "true": 1.0, "yes": 1.0}
LARGEST = 1e100  # beyond this, squares and their sums are infinite
_EXACT = 2.0**53  # beyond this, a float is not exactly the integer that was written


#: Number formats: what a cell must look like (empty: as programs write it), the thousands separator, and the decimal
#: mark. If several fit a column equally well, the first one is used.
STYLES = {
    "point": ("", "", "."),  # 1234.5
    "grouped": (  # 1,234.5
        r"^[+-]?([1-9]\d{0,2}([,' \u{a0}\u{202f}]\d{3})+|\d+)(\.\d+)?$",
        r"[,' \u{a0}\u{202f}]",
        ".",
    ),
    "comma": (r"^[+-]?(\d+|\d{1,3}([.' \u{a0}\u{202f}]\d{3})+)(,\d+)?$", r"[.' \u{a0}\u{202f}]", ","),  # 1.234,5
}


class Parsed(NamedTuple):
    values: pl.Series  # float64, null where missing
    bad: pl.Series  # bool: there is something that cannot be parsed


def as_text(series: pl.Series) -> pl.Series:
    """Every cell of any type as text: integer-valued floats as ints, lists and structs as JSON, empty cells as null."""
    dtype = series.dtype
    if dtype.is_float():
        text = _float_text(series)
    elif dtype == pl.Duration:
        text = series.dt.to_string("polars")
    elif dtype.is_nested() or dtype in (pl.Object, pl.Binary):
        text = _text_by_value(series)
    else:
        try:
            text = series.cast(pl.String)
        except pl.exceptions.PolarsError:  # a type of a later version of polars
            text = _text_by_value(series)
    return text.set(text == "", None)


def _text_by_value(series: pl.Series) -> pl.Series:
    return pl.Series(series.name, [value_text(value) for value in series.to_list()], dtype=pl.String)


def value_text(value: Any) -> str | None:
    """One value of any type as text."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return str(int(value))
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, dict | list | bool) else str(value)


def as_numbers(series: pl.Series, style: str | None = None) -> Parsed:
    """Cells as numbers; `style` is one of `STYLES`, by default the one that fits the column best.

    Only the whole column shows what a cell such as 1,234 means. When reading a table in parts, determine the style
    once with `number_style` and use it for every part.
    """
    if series.dtype.is_numeric() or series.dtype == pl.Boolean:
        values, cells = series.cast(pl.Float64), series
    else:
        cells = _stripped(series)
        values = _parsed(cells, style or _best_style(cells))
    bad = (values.is_null() & cells.is_not_null()) | (values.fill_nan(None).abs() > LARGEST).fill_null(False)
    return Parsed(values.fill_nan(None), bad)


def number_style(series: pl.Series) -> str:
    """The one of `STYLES` in which most cells of a column are numbers."""
    is_text = not (series.dtype.is_numeric() or series.dtype == pl.Boolean)
    return _best_style(_stripped(series)) if is_text else "point"


def _best_style(cells: pl.Series) -> str:
    best, fewest = "point", len(cells) + 1
    for style in STYLES:
        n_bad = int((_parsed(cells, style).is_null() & cells.is_not_null()).sum())
        if n_bad < fewest:
            best, fewest = style, n_bad
        if not fewest:
            break
    return best


def _parsed(cells: pl.Series, style: str) -> pl.Series:
    """Floats, null where a cell is not a number in this style."""
    pattern, thousands, decimal = STYLES[style]
    if pattern:
        cells = cells.set(~cells.str.contains(pattern), None)
        cells = cells.str.replace_all(thousands, "").str.replace(decimal, ".", literal=True)
    return cells.cast(pl.Float64, strict=False)


def as_truths(series: pl.Series) -> Parsed:
    cells = _stripped(series)
    values = cells.replace_strict(_TRUTHS, default=None, return_dtype=pl.Float64)
    return Parsed(values, values.is_null() & cells.is_not_null())


def _stripped(series: pl.Series) -> pl.Series:
    cells = as_text(series).str.strip_chars().str.to_lowercase()
    return cells.set(cells.is_in(_MISSING), None)


def _float_text(series: pl.Series) -> pl.Series:
    cell = pl.col(series.name)
    whole = (cell == cell.round()) & (cell.abs() < _EXACT)
    as_int = cell.cast(pl.Int64, strict=False)
    text = pl.when(whole).then(as_int.cast(pl.String)).otherwise(cell.cast(pl.String))
    return series.fill_nan(None).to_frame().select(text.alias(series.name)).to_series()


def positions(cells: pl.Series, values: pl.Series) -> NDArray[np.int32]:
    """(n,) of each cell in `values`, which are distinct texts; -1 where it is null or not among them."""
    codes = cells.cast(pl.Enum(values), strict=False).to_physical()
    return codes.cast(pl.Int32).fill_null(-1).to_numpy()
