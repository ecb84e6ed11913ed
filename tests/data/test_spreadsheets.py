"""Formulas in CSV files are texts, unless one asks for the cells as they came; Excel files hold what was written."""

from __future__ import annotations

import datetime

import polars as pl
import pytest

from noisybayes.data import spreadsheets
from noisybayes.data.errors import InputError
from noisybayes.data.read import read_table, write_batches, write_table
from noisybayes.data.spreadsheets import neutral_frame, neutral_text

FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "=", "-x", "+"]
OTHERS = ["", "a", "-5", "+1.5e-3", "-1,234.5", "-12%", "a=1", " =1", "'=1"]


def test_formulas_become_texts_and_everything_else_stays():
    expected = ["'" + text for text in FORMULAS] + OTHERS
    assert [neutral_text(text) for text in FORMULAS + OTHERS] == expected
    assert neutral_frame(pl.DataFrame({"a": FORMULAS + OTHERS}))["a"].to_list() == expected


def test_all_kinds_of_columns():
    frame = pl.DataFrame(
        {"=name": ["=1", None], "n": [-1, 2], "^.*$": ["@a", "b"], "c": pl.Series(["=1", "x"], dtype=pl.Categorical)}
    )
    found = neutral_frame(frame)
    assert found.columns == ["'=name", "n", "^.*$", "c"]
    assert found.rows() == [("'=1", -1, "'@a", "'=1"), (None, 2, "b", "x")]
    assert neutral_frame(pl.DataFrame({"=a": [1], "'=a": [2]})).columns == ["'=a", "'=a'"]


def test_a_written_table(tmp_path):
    frame = pl.DataFrame({"a": ["=1", "b"]})
    write_table(frame, tmp_path / "neutral.csv", "csv", neutral=True)
    write_table(frame, tmp_path / "raw.csv", "csv")
    write_table(frame, tmp_path / "a.parquet", "parquet", neutral=True)  # no spreadsheet runs what is in there
    read = {path.name: read_table(path)["a"].to_list() for path in tmp_path.iterdir()}
    assert read == {"neutral.csv": ["'=1", "b"], "raw.csv": ["=1", "b"], "a.parquet": ["=1", "b"]}


def test_cells_of_a_workbook_come_back(tmp_path):
    frame = pl.DataFrame({
        "text": ["größer", "=1+1", "http://a.b", None], "number": [1.5, 2.0, None, -3.0],
        "yes": [True, False, None, True],
    })  # fmt: skip
    days = pl.Series("day", [datetime.date(2024, 5, 17)] * 4)
    write_table(frame.with_columns(days), tmp_path / "t.xlsx", "xlsx")
    back = read_table(tmp_path / "t.xlsx")
    assert back.drop("day").equals(frame)
    assert back["day"].to_list()[0] in ("2024-05-17", datetime.date(2024, 5, 17))


def test_batches_have_one_header_and_long_texts_are_cut(tmp_path):
    batches = [pl.DataFrame({"text": ["a", "b" * 40_000]}), pl.DataFrame({"text": ["c"]})]
    write_batches(batches, tmp_path / "t.xlsx", "xlsx")
    back = read_table(tmp_path / "t.xlsx")["text"].to_list()
    assert back == ["a", "b" * 32_766 + "…", "c"]


def test_more_rows_than_a_sheet_has(tmp_path, monkeypatch):
    monkeypatch.setattr(spreadsheets, "MOST_ROWS", 3)
    with pytest.raises(InputError, match="at most 3 rows"):
        write_table(pl.DataFrame({"a": [1, 2, 3]}), tmp_path / "t.xlsx", "xlsx")
    assert list(tmp_path.iterdir()) == []
