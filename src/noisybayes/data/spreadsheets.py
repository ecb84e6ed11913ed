"""Cells that a spreadsheet would take for a formula, made harmless.

A program that opens a CSV file runs a cell that begins with =, +, - or @. An apostrophe before it makes it a text; the
program does not show it. Numbers stay as they are.
"""

from __future__ import annotations

import polars as pl

_FORMULA = r"^[=+\-@\t\r]"
_NUMBER = r"^[+-]?(\d[\d.,' ]*|[.,]\d+)([eE][+-]?\d+)?%?$"


def neutral_frame(frame: pl.DataFrame) -> pl.DataFrame:
    """Cells and names of columns."""
    texts = [_neutral(pl.col(name)) for name, dtype in frame.schema.items() if dtype == pl.String]
    cells = frame.with_columns(texts)
    cells.columns = _distinct([neutral_text(name) for name in frame.columns])
    return cells


def neutral_text(text: str) -> str:
    found: str = pl.select(_neutral(pl.lit(text))).item()
    return found


def _neutral(cell: pl.Expr) -> pl.Expr:
    dangerous = cell.str.contains(_FORMULA) & ~cell.str.contains(_NUMBER)
    return pl.when(dangerous).then("'" + cell).otherwise(cell).name.keep()


def _distinct(names: list[str]) -> list[str]:
    taken: set[str] = set()
    for i, name in enumerate(names):
        while name in taken:
            name += "'"
        names[i] = name
        taken.add(name)
    return names
