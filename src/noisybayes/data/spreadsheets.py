"""What is written for spreadsheets: cells that they would run as a formula are escaped, and Excel files.

A program that opens a CSV file runs a cell that begins with =, +, - or @. A leading apostrophe makes it text, and the
program does not show the apostrophe. Numbers stay as they are.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from .._extras import require
from .errors import InputError

_FORMULA = r"^[=+\-@\t\r]"
_NUMBER = r"^[+-]?(\d[\d.,' ]*|[.,]\d+)([eE][+-]?\d+)?%?$"
_TEXTS = (pl.String, pl.Categorical, pl.Enum)
#: Excel's limit of rows per sheet, including the header.
MOST_ROWS = 1_048_576
#: Excel's limit of characters per cell.
_LONGEST = 32_767


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


def excel_writer() -> Any:
    """The package that writes Excel files; raises if it is missing."""
    return require("xlsxwriter", extra="excel", purpose="writing Excel files")


def write_workbook(frames: Iterable[pl.DataFrame], path: Path) -> None:
    """One sheet with a header. Text stays text: formulas and links are not active, long text is truncated."""
    xlsxwriter = excel_writer()
    options = {
        "constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "tmpdir": str(path.parent),
    }  # fmt: skip
    with xlsxwriter.Workbook(path, options) as book:
        sheet, at = book.add_worksheet(), 0
        for frame in frames:
            header: Iterable[tuple[Any, ...]] = () if at else [tuple(frame.columns)]
            for cells in chain(header, frame.iter_rows()):
                if at >= MOST_ROWS:
                    raise InputError(
                        f"an Excel sheet has at most {MOST_ROWS:,} rows, but the table has more; write CSV or Parquet"
                    )
                for column, cell in enumerate(cells):
                    _write_cell(sheet, at, column, cell)
                at += 1
        sheet.freeze_panes(1, 0)


def _write_cell(sheet: Any, row: int, column: int, cell: Any) -> None:
    if cell is None:
        return
    if isinstance(cell, bool):
        sheet.write_boolean(row, column, cell)
    elif isinstance(cell, int | float) and math.isfinite(cell):
        sheet.write_number(row, column, cell)
    else:
        text = str(cell)
        sheet.write_string(row, column, text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")
