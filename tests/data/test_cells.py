"""Cells of every type of polars, shown as text and written; numbers as people and programs write them."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noisybayes.data.cells import STYLES, as_numbers, as_text, as_truths, number_style
from noisybayes.data.column_guess import guess
from noisybayes.data.read import read_table, write_table
from noisybayes.data.roles import find_roles, label_texts

DAY = dt.datetime(2024, 5, 17, 10, 30)
#: A column of each type, and its second cell as text.
COLUMNS = {
    "Boolean": (pl.Series([None, True]), "true"),
    "UInt64": (pl.Series([None, 2**63], dtype=pl.UInt64), "9223372036854775808"),
    "Int128": (pl.Series([None, 2**70], dtype=pl.Int128), str(2**70)),
    "Float32": (pl.Series([None, 2.0], dtype=pl.Float32), "2"),
    "Float64": (pl.Series([float("nan"), -0.5]), "-0.5"),
    "Decimal": (pl.Series([None, Decimal("1.50")], dtype=pl.Decimal(10, 2)), "1.50"),
    "String": (pl.Series(["", " x"]), " x"),
    "Categorical": (pl.Series([None, "x"], dtype=pl.Categorical), "x"),
    "Date": (pl.Series([None, DAY.date()]), "2024-05-17"),
    "Datetime with zone": (
        pl.Series([None, DAY], dtype=pl.Datetime("ms", "UTC")), "2024-05-17 10:30:00.000+00:00"
    ),
    "Time": (pl.Series([None, DAY.time()]), "10:30:00"),
    "Duration": (pl.Series([None, dt.timedelta(days=1, hours=2)]), "1d 2h"),
    "Binary": (pl.Series([None, b"\xffx"]), "\\xffx"),
    "List": (pl.Series([None, ["é", None]]), '["é", null]'),
    "Array": (pl.Series([None, [1, 2]], dtype=pl.Array(pl.Int64, 2)), "[1, 2]"),
    "Struct": (pl.Series([None, {"a": 1, "b": DAY.date()}]), '{"a": 1, "b": "2024-05-17"}'),
    "Null": (pl.Series([None, None]), None),
    "Object": (pl.Series([None, {1}], dtype=pl.Object), "{1}"),
}  # fmt: skip


@pytest.mark.parametrize("name", COLUMNS)
def test_every_type_is_text_has_a_role_and_is_written(name, tmp_path):
    column, text = COLUMNS[name]
    assert as_text(column).to_list()[1:] == [text]
    assert label_texts(column, None).to_list()[1:] == [text and text.strip()]
    if name != "Struct":  # a missing struct is one of missing fields
        assert as_text(column)[0] is None
    assert as_numbers(column).values.dtype == as_truths(column).values.dtype == pl.Float64

    frame = pl.DataFrame({"label": ["a", "b"] * 20, "x": pl.concat([column] * 20)})
    assert "(" not in guess(frame["x"], []).why  # no types of polars
    find_roles(frame)
    find_roles(frame, label="x")

    frame = pl.DataFrame({"x": column, "y": ["a", "b"]})
    if name != "Object":  # polars itself does not write it
        write_table(frame, tmp_path / "a.parquet", "parquet")
        assert read_table(tmp_path / "a.parquet").equals(frame)
    write_table(frame, tmp_path / "a.csv", "csv")
    assert read_table(tmp_path / "a.csv").columns == ["x", "y"]


def test_types_are_named_in_plain_words():
    words = {"Time": "times of day", "Duration": "durations", "Array": "lists", "Struct": "records", "Binary": "bytes"}
    for name, word in words.items():
        assert guess(COLUMNS[name][0], []).why == f"contains {word}, which are not used as a feature"


def test_numbers_and_truths():
    numbers = as_numbers(pl.Series(["1", " 2.5", "n/a", "x", "inf", None, "nan"]))
    assert numbers.values.to_list()[:4] == [1.0, 2.5, None, None]
    assert numbers.bad.to_list() == [False, False, False, True, True, False, False]
    truths = as_truths(pl.Series(["1", "TRUE", "no ", "2", "", None, "0.0"]))
    assert truths.values.to_list() == [1.0, 1.0, 0.0, None, None, None, 0.0]
    assert truths.bad.to_list() == [False, False, False, True, False, False, False]
    assert as_text(pl.Series([1, "x", 2.0, True, None], dtype=pl.Object)).to_list() == ["1", "x", "2", "true", None]


@pytest.mark.parametrize(
    ("cells", "style", "numbers"),
    [
        (["1.5", "-2", "1e3", " 4 ", "NA"], "point", [1.5, -2.0, 1000.0, 4.0, None]),
        (["1.234,50", "17", "-1.000.000,1"], "comma", [1234.5, 17.0, -1000000.1]),
        (["1 234,5", "1\u202f234\u202f567,5", "1'234,5"], "comma", [1234.5, 1234567.5, 1234.5]),
        (["1,234.5", "17", "-1,000,000"], "grouped", [1234.5, 17.0, -1000000.0]),
        (["1,234", "5,67"], "comma", [1.234, 5.67]),
        (["1'234.5", "2 000"], "grouped", [1234.5, 2000.0]),
        (["1.234", "5.678"], "point", [1.234, 5.678]),
    ],
)
def test_the_style_of_numbers_is_that_of_the_column(cells, style, numbers):
    column = pl.Series("x", cells)
    assert number_style(column) == style
    values, bad = as_numbers(column)
    assert values.to_list() == numbers
    assert not bad.any()
    assert as_numbers(column.head(1), style).values.to_list() == numbers[:1]
    values, bad = as_numbers(pl.Series([*cells, "1,5,5x"]))  # which does not hide the style
    assert values.to_list() == [*numbers, None]
    assert bad.to_list() == [False] * len(cells) + [True]


@given(st.lists(st.floats(-1e9, 1e9).map(lambda x: round(x, 2)), min_size=1))
def test_what_is_written_with_commas_comes_back(numbers):
    swap = str.maketrans(",.", ".,")
    for style, cells in {
        "grouped": [f"{x:,.2f}" for x in numbers],
        "comma": [f"{x:,.2f}".translate(swap) for x in numbers],
    }.items():
        assert as_numbers(pl.Series(cells), style).values.to_list() == numbers
    assert set(STYLES) == {"point", "grouped", "comma"}
