"""Tables written for Excel: what is read back is what was written."""

from __future__ import annotations

import datetime

import polars as pl
import pytest

from noisybayes.data import workbooks
from noisybayes.data.errors import InputError
from noisybayes.data.read import read_table, write_batches, write_table

pytest.importorskip("xlsxwriter")
pytest.importorskip("fastexcel")


def test_cells_come_back(tmp_path):
    frame = pl.DataFrame({
        "text": ["größer", "=1+1", "http://a.b", None], "number": [1.5, 2.0, None, -3.0],
        "yes": [True, False, None, True],
        "day": [datetime.date(2024, 5, 17)] * 4,
    })  # fmt: skip
    write_table(frame, tmp_path / "t.xlsx", "xlsx")
    back = read_table(tmp_path / "t.xlsx")
    assert back["text"].to_list() == ["größer", "=1+1", "http://a.b", None]
    assert back["number"].to_list() == [1.5, 2.0, None, -3.0]
    assert back["yes"].to_list() == [True, False, None, True]
    assert back["day"].to_list()[0] in ("2024-05-17", datetime.date(2024, 5, 17))


def test_batches_have_one_header_and_long_texts_are_cut(tmp_path):
    batches = [pl.DataFrame({"text": ["a", "b" * 40_000]}), pl.DataFrame({"text": ["c"]})]
    write_batches(batches, tmp_path / "t.xlsx", "xlsx")
    back = read_table(tmp_path / "t.xlsx")["text"].to_list()
    assert back[0] == "a"
    assert back[1].startswith("bbb")
    assert len(back[1]) == 32_767
    assert back[2:] == ["c"]


def test_more_rows_than_a_sheet_has(tmp_path, monkeypatch):
    monkeypatch.setattr(workbooks, "MOST_ROWS", 3)
    with pytest.raises(InputError, match="at most 3 rows"):
        write_table(pl.DataFrame({"a": [1, 2, 3]}), tmp_path / "t.xlsx", "xlsx")
    assert list(tmp_path.iterdir()) == []
