"""Every type of polars: read, shown as text, guessed about, taken as a label, and written."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import polars as pl
import pytest

from noisybayes.data.cells import as_numbers, as_text, as_truths
from noisybayes.data.column_guess import guess
from noisybayes.data.errors import InputError
from noisybayes.data.read import read_table, write_table
from noisybayes.data.roles import find_roles, label_texts

DAY = dt.datetime(2024, 5, 17, 10, 30)
#: A column of each type, and its second cell as text.
COLUMNS = {
    "Boolean": (pl.Series([None, True]), "true"),
    "Int8": (pl.Series([None, 5], dtype=pl.Int8), "5"),
    "UInt64": (pl.Series([None, 2**63], dtype=pl.UInt64), "9223372036854775808"),
    "Int128": (pl.Series([None, 2**70], dtype=pl.Int128), str(2**70)),
    "Float32": (pl.Series([None, 2.0], dtype=pl.Float32), "2"),
    "Float64": (pl.Series([float("nan"), -0.5]), "-0.5"),
    "Decimal": (pl.Series([None, Decimal("1.50")], dtype=pl.Decimal(10, 2)), "1.50"),
    "String": (pl.Series(["", "x"]), "x"),
    "Categorical": (pl.Series([None, "x"], dtype=pl.Categorical), "x"),
    "Enum": (pl.Series([None, "x"], dtype=pl.Enum(["x"])), "x"),
    "Date": (pl.Series([None, DAY.date()]), "2024-05-17"),
    "Datetime": (pl.Series([None, DAY]), "2024-05-17 10:30:00.000000"),
    "Datetime with zone": (
        pl.Series([None, DAY], dtype=pl.Datetime("ms", "UTC")), "2024-05-17 10:30:00.000+00:00"
    ),
    "Time": (pl.Series([None, DAY.time()]), "10:30:00"),
    "Duration": (pl.Series([None, dt.timedelta(days=1, hours=2)]), "1d 2h"),
    "Binary": (pl.Series([None, b"\xffx"]), "\\xffx"),
    "List": (pl.Series([None, ["é", None]]), '["é", null]'),
    "List of durations": (pl.Series([None, [dt.timedelta(days=1)]]), '["1 day, 0:00:00"]'),
    "Array": (pl.Series([None, [1, 2]], dtype=pl.Array(pl.Int64, 2)), "[1, 2]"),
    "Struct": (pl.Series([None, {"a": 1, "b": DAY.date()}]), '{"a": 1, "b": "2024-05-17"}'),
    "Null": (pl.Series([None, None]), None),
    "Object": (pl.Series([None, {1}], dtype=pl.Object), "{1}"),
}  # fmt: skip
NAMES = list(COLUMNS)


@pytest.mark.parametrize("name", NAMES)
def test_a_cell_is_text(name):
    column, text = COLUMNS[name]
    assert as_text(column).to_list()[1:] == [text]
    assert label_texts(column, None).to_list()[1:] == [text]
    if name not in ("Struct",):  # a missing struct is one of missing fields
        assert as_text(column)[0] is None
    assert as_numbers(column).values.dtype == as_truths(column).values.dtype == pl.Float64


@pytest.mark.parametrize("name", NAMES)
def test_roles_are_found(name):
    column, _ = COLUMNS[name]
    frame = pl.DataFrame({"label": ["a", "b"] * 20, "x": pl.concat([column] * 20)})
    role, why = guess(frame["x"], [])
    assert "(" not in why  # no types of polars
    assert role is None or isinstance(role, str)
    find_roles(frame)
    find_roles(frame, label="x")


@pytest.mark.parametrize("name", [name for name in NAMES if name != "Object"])  # polars itself does not write it
def test_parquet_and_csv(tmp_path, name):
    frame = pl.DataFrame({"x": COLUMNS[name][0], "y": ["a", "b"]})
    write_table(frame, tmp_path / "a.parquet", "parquet")
    again = read_table(tmp_path / "a.parquet")
    assert again.equals(frame)
    write_table(again, tmp_path / "a.csv", "csv")
    assert read_table(tmp_path / "a.csv").columns == ["x", "y"]


def test_objects_are_written_as_text(tmp_path):
    write_table(pl.DataFrame({"x": COLUMNS["Object"][0], "y": ["a", "b"]}), tmp_path / "a.csv", "csv")
    assert read_table(tmp_path / "a.csv").rows() == [(None, "a"), ("{1}", "b")]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([DAY.time(), None], "times of day"),
        ([dt.timedelta(1), None], "durations"),
        ([[1], None], "lists"),
        ([{"a": 1}, {"a": 2}], "records"),
        ([b"x", None], "bytes"),
    ],
)
def test_types_are_named_in_plain_words(values, words):
    assert guess(pl.Series("x", values), []).why == f"contains {words}, which are not used as a feature"


def test_a_column_of_durations_cannot_be_numbers():
    column = pl.Series("x", [dt.timedelta(days=1)])
    assert as_numbers(column).bad.to_list() == [True]
    with pytest.raises(InputError, match="no column 'y'"):
        find_roles(column.to_frame(), numeric=["y"])
