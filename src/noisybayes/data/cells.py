"""Cells of a column as text, numbers or yes / no. A missing cell is null; what cannot be read is marked."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import polars as pl

#: How files without a number or a yes / no say so.
_MISSING = ("", "na", "n/a", "nan", "null", "none")
_TRUTHS = {"0": 0.0, "0.0": 0.0, "false": 0.0, "no": 0.0, "1": 1.0, "1.0": 1.0, "true": 1.0, "yes": 1.0}
_LARGEST = 1e100  # beyond it, squares and their sums are infinite
_EXACT = 2.0**53  # beyond it, a float is not a whole number that anybody wrote


class Parsed(NamedTuple):
    values: pl.Series  # float64, null where missing
    bad: pl.Series  # bool: there is something that cannot be read


def as_text(series: pl.Series) -> pl.Series:
    """Every cell of any type as text: whole floats as ints, lists and structs as JSON, empty cells null."""
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


def as_numbers(series: pl.Series) -> Parsed:
    if series.dtype.is_numeric() or series.dtype == pl.Boolean:
        values, cells = series.cast(pl.Float64), series
    else:
        cells = _stripped(series)
        values = cells.cast(pl.Float64, strict=False)
    bad = (values.is_null() & cells.is_not_null()) | (values.fill_nan(None).abs() > _LARGEST).fill_null(False)
    return Parsed(values.fill_nan(None), bad)


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
