"""Write tables as Excel files, row by row: a workbook needs no more memory than a batch of its rows."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from .._extras import require
from .errors import InputError

#: Excel's limit of rows per sheet, including the header.
MOST_ROWS = 1_048_576
#: Excel's limit of characters per cell.
_LONGEST = 32_767


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
