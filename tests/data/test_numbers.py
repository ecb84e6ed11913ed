"""Numbers as people and programs of several countries write them."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noisybayes.data.cells import STYLES, as_numbers, number_style
from noisybayes.data.roles import find_roles


@pytest.mark.parametrize(
    ("cells", "style", "numbers"),
    [
        (["1.5", "-2", "1e3", " 4 ", "NA"], "point", [1.5, -2.0, 1000.0, 4.0, None]),
        (["1,5", "-2", "12,75"], "comma", [1.5, -2.0, 12.75]),
        (["1.234,50", "17", "-1.000.000,1"], "comma", [1234.5, 17.0, -1000000.1]),
        (["1 234,5", "1\u202f234\u202f567,5", "1'234,5"], "comma", [1234.5, 1234567.5, 1234.5]),
        (["0,125", "0,250"], "comma", [0.125, 0.25]),
        (["1,234.5", "17", "-1,000,000"], "grouped", [1234.5, 17.0, -1000000.0]),
        (["1,234", "5,678"], "grouped", [1234.0, 5678.0]),
        (["1,234", "5,67"], "comma", [1.234, 5.67]),
        (["1'234.5", "2 000"], "grouped", [1234.5, 2000.0]),
        (["1.234", "5.678"], "point", [1.234, 5.678]),
    ],
)
def test_the_style_is_that_of_the_column(cells, style, numbers):
    column = pl.Series("x", cells)
    assert number_style(column) == style
    values, bad = as_numbers(column)
    assert values.to_list() == numbers
    assert not bad.any()
    assert as_numbers(column.head(1), style).values.to_list() == numbers[:1]


def test_a_cell_that_is_no_number_does_not_hide_the_style():
    values, bad = as_numbers(pl.Series(["1,5", "new", "2,5", "1,5,5"]))
    assert values.to_list() == [1.5, None, 2.5, None]
    assert bad.to_list() == [False, True, False, True]
    assert as_numbers(pl.Series(["1.5", "1,5"])).bad.to_list() == [False, True]


def test_such_a_column_is_guessed_to_be_numeric():
    frame = pl.DataFrame({"label": ["a", "b"] * 30, "Preis": [f"{i}.{i:03d},{i % 7}5" for i in range(1, 61)]})
    assert find_roles(frame)[0].numeric == ("Preis",)


@given(st.lists(st.floats(-1e9, 1e9).map(lambda x: round(x, 2)), min_size=1))
def test_what_is_written_with_commas_comes_back(numbers):
    swap = str.maketrans(",.", ".,")
    for style, cells in {
        "grouped": [f"{x:,.2f}" for x in numbers],
        "comma": [f"{x:,.2f}".translate(swap) for x in numbers],
    }.items():
        assert as_numbers(pl.Series(cells), style).values.to_list() == numbers
    assert set(STYLES) == {"point", "grouped", "comma"}
