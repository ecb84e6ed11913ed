"""Formulas in CSV files are texts, unless one asks for the cells as they came."""

from __future__ import annotations

import polars as pl
import pytest

from noisybayes.data.read import read_table, write_table
from noisybayes.data.spreadsheets import neutral_frame, neutral_text


@pytest.mark.parametrize("text", ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "=", "-x", "+"])
def test_formulas_become_texts(text):
    assert neutral_text(text) == "'" + text
    assert neutral_frame(pl.DataFrame({"a": [text]}))["a"].to_list() == ["'" + text]


@pytest.mark.parametrize("text", ["", "a", "-5", "+1.5e-3", "-1,234.5", "-12 %".replace(" ", ""), "a=1", " =1", "'=1"])
def test_everything_else_stays(text):
    assert neutral_text(text) == text
    assert neutral_frame(pl.DataFrame({"a": [text]}))["a"].to_list() == [text]


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
