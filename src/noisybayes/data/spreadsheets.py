"""Escape cells that a spreadsheet would run as a formula.

A program that opens a CSV file runs a cell that begins with =, +, - or @. A leading apostrophe makes it text, and the
program does not show the apostrophe. Numbers stay as they are.
"""

from __future__ import annotations

import re

import polars as pl

_FORMULA = r"^[=+\-@\t\r]"
_NUMBER = r"^[+-]?(\d[\d.,' ]*|[.,]\d+)([eE][+-]?\d+)?%?$"
_TEXTS = (pl.String, pl.Categorical, pl.Enum)


def neutral_frame(frame: pl.DataFrame) -> pl.DataFrame:
    """Escapes cells and column names."""
    cells = frame.with_columns([_neutral(column.cast(pl.String)) for column in frame if column.dtype in _TEXTS])
    cells.columns = _distinct([neutral_text(name) for name in frame.columns])
    return cells


def neutral_text(text: str) -> str:
    return f"'{text}" if re.match(_FORMULA, text) and not re.match(_NUMBER, text) else text


def _neutral(column: pl.Series) -> pl.Series:
    harmless = ~column.str.contains(_FORMULA) | column.str.contains(_NUMBER)
    return column.zip_with(harmless.fill_null(True), "'" + column).alias(column.name)


def _distinct(names: list[str]) -> list[str]:
    taken: set[str] = set()
    for i, name in enumerate(names):
        while name in taken:
            name += "'"
        names[i] = name
        taken.add(name)
    return names
