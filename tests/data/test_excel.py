"""Excel files: sheets, blank rows and columns, types, and what is said of other files."""

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


def refusal(content, **options):
    with pytest.raises(InputError) as caught:
        read(content, **options)
    return str(caught.value)


TWO = book(First=[["text", "label"], ["hello", "a"]], Second=[["text", "label"], ["bye", "b"]])


def test_a_sheet_by_name_or_the_first_one():
    assert read(TWO).rows() == [("hello", "a")]
    assert read(TWO, sheet="Second").rows() == [("bye", "b")]
    assert refusal(TWO, sheet="Third") == (
        "the input has no sheet 'Third'; choose one of 'First', 'Second' with --sheet"
    )
    assert refusal(b"text,label\nx,y\n", sheet="First") == (
        "--sheet is for Excel files, but the input is CSV; leave it out"
    )


def test_sheets_as_people_leave_them():
    frame = read(book(A=[
        [" text ", "", "n", "", "when"],
        ["hello", "x", 1, "", datetime.date(2024, 5, 17)],
        [],
        ["", "y", 2.5],
    ]))  # fmt: skip
    assert frame.columns == ["text", "column 2", "n", "when"]
    assert frame.drop("when").rows() == [("hello", "x", 1.0), (None, "y", 2.5)]
    assert frame["when"].cast(pl.Date).to_list() == [datetime.date(2024, 5, 17), None]


def test_a_text_below_many_numbers_is_not_lost():
    frame = read(book(A=[["n", "label"], *[[i, "a"] for i in range(1_500)], ["none", "b"]]))
    assert frame["n"].null_count() == 0
    assert frame.row(-1) == ("none", "b")


def test_what_is_said_of_other_files(tmp_path):
    path = tmp_path / "book.xlsx"
    path.write_bytes(b"PK\3\4")
    with pytest.raises(InputError) as caught:
        read_table(path)
    assert str(caught.value) == (
        f"{path} is not an Excel file, or is damaged or locked (calamine error: Cannot detect file format); "
        "save it again"
    )
    assert refusal(TWO[: len(TWO) // 2]).endswith("); save it again")
    assert refusal(book(A=[])) == "the input has no rows; give a table with rows"
    assert refusal(book(A=[["a", "b"]])) == "the input has no rows but the header (a, b); give a table with rows"


def test_the_reader_is_an_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    with pytest.raises(MissingExtraError) as caught:
        read(TWO)
    assert str(caught.value) == "reading the input needs fastexcel: pip install 'noisybayes[excel]'"
