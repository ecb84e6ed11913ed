"""Excel files: one sheet, whose first row is the header. A sheet has at most a million rows, so it is read at once."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator

import polars as pl

from ..._extras import require
from ..errors import InputError
from ..parts import Content
from .base import Format, Head


def _frames(content: Content, where: None) -> Iterator[pl.DataFrame]:
    fastexcel = require("fastexcel", extra="excel", purpose=f"reading {content.name}")
    logging.getLogger("fastexcel").setLevel(logging.ERROR)  # it warns about every empty column
    try:
        book = fastexcel.read_excel(content.everything())
        sheets: list[str] = book.sheet_names
    except fastexcel.FastExcelError as error:
        raise _damaged(content, error) from None
    sheet = content.sheet if content.sheet is not None else next(iter(sheets), None)
    if sheet not in sheets:
        named = ", ".join(map(repr, sheets))
        raise InputError(f"{content.name} has no sheet {sheet!r}; choose one of {named} with --sheet")
    try:
        # by default types are inferred from the first 1,000 rows, and later cells that do not fit are lost
        frame = book.load_sheet(sheet, schema_sample_rows=None).to_polars()
    except (fastexcel.FastExcelError, pl.exceptions.PolarsError) as error:
        raise _damaged(content, error) from None
    yield _filled(content.name, frame)


def _filled(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    """Without blank rows and unnamed blank columns; empty text cells are missing."""
    texts = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    frame = frame.with_columns(pl.when(pl.col(text) != "").then(pl.col(text)).alias(text) for text in texts)
    unnamed = [column for column in frame.columns if column.startswith("__UNNAMED__")]
    frame = frame.drop([column for column in unnamed if frame[column].null_count() == frame.height])
    frame = frame.filter(~pl.all_horizontal(pl.all().is_null())) if frame.width else frame
    names = [
        f"column {position}" if column.startswith("__UNNAMED__") else column.strip()
        for position, column in enumerate(frame.columns, 1)
    ]
    twice = [column for column, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(f"{name} has more than one column {twice[0]!r}; rename all but one of them in the header")
    return frame.rename(dict(zip(frame.columns, names, strict=True)))


def _damaged(content: Content, error: Exception) -> InputError:
    reason = str(error).strip().partition("\n")[0]
    return InputError(f"{content.name} is not an Excel file, or is damaged or locked ({reason}); save it again")


def _is_workbook(head: Head) -> bool:
    return head.content.startswith(b"PK\3\4") and b"xl/" in head.content


EXCEL = Format(
    "Excel",
    frames=_frames,
    suffixes=(".xlsx", ".xlsm", ".xls", ".ods"),
    is_certain=_is_workbook,
    is_text=False,
    has_sheets=True,
)
