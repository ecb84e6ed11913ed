"""Excel files: sheets, blank rows and columns, types, and files that are none."""

from __future__ import annotations

import datetime
import io
import sys

import polars as pl
import pytest

from noisybayes._extras import MissingExtraError
from noisybayes.data.errors import InputError
from noisybayes.data.read import read_table

xlsxwriter = pytest.importorskip("xlsxwriter")


def book(**sheets):
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, {"default_date_format": "yyyy-mm-dd"}) as made:
        for name, rows in sheets.items():
            sheet = made.add_worksheet(name)
            for number, row in enumerate(rows):
                sheet.write_row(number, 0, row)
    return buffer.getvalue()


def read(content, **options):
    return read_table(io.BytesIO(content), **options)


TWO = book(First=[["text", "label"], ["hello", "a"]], Second=[["text", "label"], ["bye", "b"]])


def test_a_sheet_by_name_or_the_first_one():
    assert read(TWO).rows() == [("hello", "a")]
    assert read(TWO, sheet="Second").rows() == [("bye", "b")]


def test_sheets_as_people_leave_them():
    day = datetime.date(2024, 5, 17)
    frame = read(book(A=[[" text ", "", "n", "", "when"], ["hello", "x", 1, "", day], [], ["", "y", 2.5]]))
    assert frame.with_columns(pl.col("when").cast(pl.Date)).to_dict(as_series=False) == {
        "text": ["hello", None], "column 2": ["x", "y"], "n": [1.0, 2.5], "when": [day, None]
    }  # fmt: skip


def test_a_text_below_many_numbers_is_not_lost():
    frame = read(book(A=[["n", "label"], *[[i, "a"] for i in range(1_500)], ["none", "b"]]))
    assert frame["n"].null_count() == 0
    assert frame.row(-1) == ("none", "b")


NOT_EXCEL = "the input is not an Excel file, or is damaged or locked ("


@pytest.mark.parametrize(
    ("content", "options", "text"),
    [
        (TWO, {"sheet": "Third"}, "the input has no sheet 'Third'; choose one of 'First', 'Second' with --sheet"),
        (b"a,b\nx,y\n", {"sheet": "A"}, "--sheet is for Excel files, but the input is CSV; leave it out"),
        (b"PK\3\4", {"format": "excel"}, NOT_EXCEL),
        (TWO[: len(TWO) // 2], {}, NOT_EXCEL),
        (book(A=[]), {}, "the input has no rows; give a table with rows"),
        (book(A=[["a", "b"]]), {}, "the input has no rows but the header (a, b); give a table with rows"),
    ],
)
def test_what_cannot_be_read(content, options, text):
    with pytest.raises(InputError) as caught:
        read(content, **options)
    assert str(caught.value).startswith(text)


def test_the_reader_is_an_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    with pytest.raises(MissingExtraError) as caught:
        read(TWO)
    assert str(caught.value) == "reading the input needs fastexcel: pip install 'noisybayes[excel]'"
