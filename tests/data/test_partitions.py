"""Partitions: rows of quoted CSV cut at record boundaries only, and what is said of a file that has changed."""

from __future__ import annotations

import pickle

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noisybayes.data import csv_rows, decoding
from noisybayes.data.batches import Batches
from noisybayes.data.errors import InputError
from noisybayes.data.read import read_table

from .test_batches import anything, well_formed


def partitions_of(path, size, **options):
    return pickle.loads(pickle.dumps(Batches(path, **options).partitions(size)))


NOT_CLOSED = 'has a quote (") that is not closed'


def outcome(read):
    try:
        return read().rows()
    except InputError as error:
        return str(error)


@settings(max_examples=300, deadline=None)
@given(
    rows=anything | well_formed(),
    width=st.integers(1, 3),
    portion=st.sampled_from([1, 8, 1 << 20]),
    batch=st.sampled_from([1, 3, 1000]),
    size=st.integers(1, 40),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "cp1252"]),
)
def test_cut_anywhere_the_rows_are_those_of_the_file(tmp_path_factory, rows, width, portion, batch, size, encoding):
    path = tmp_path_factory.getbasetemp() / "cut.csv"
    path.write_bytes((",".join("abc"[:width]) + "\n" + rows).encode(encoding))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_rows, "_PORTION", portion)
        patch.setattr(csv_rows, "_BATCH", batch)
        patch.setattr(decoding, "CHUNK", 16)
        expected = outcome(lambda: read_table(path, encoding=encoding))
        found = outcome(lambda: pl.concat([part.read() for part in partitions_of(path, size, encoding=encoding)]))
    if found == []:  # a small file is not counted beforehand
        assert "has no rows" in expected
    elif NOT_CLOSED in found:  # looking for the ends of rows finds this fault before others in earlier lines
        assert isinstance(expected, str)
    else:
        assert found == expected


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_breaks_within_quotes_are_no_boundaries(tmp_path, monkeypatch, encoding, end):
    monkeypatch.setattr(csv_rows, "_PORTION", 64)
    monkeypatch.setattr(decoding, "CHUNK", 50)
    monkeypatch.setattr(csv_rows, "_BATCH", 3)
    text = "text,label\n" + "".join(f'"é {i}\nsays ""hi"",\nthen goes",{i}\n' for i in range(50))
    path = tmp_path / "a.csv"
    path.write_bytes(text.replace("\n", end).encode(encoding))
    table = read_table(path, encoding=encoding)
    assert table.height == 50
    partitions = partitions_of(path, 200, encoding=encoding)
    assert (len(partitions) > 5) == (encoding != "utf-16")  # in two bytes a line break cannot be told from a letter
    assert pl.concat([partition.read() for partition in partitions]).equals(table)


@pytest.mark.parametrize("quote", ["", '"'])
def test_the_line_of_a_malformed_row_is_that_of_the_file(tmp_path, monkeypatch, quote):
    monkeypatch.setattr(csv_rows, "_PORTION", 64)
    monkeypatch.setattr(decoding, "CHUNK", 50)
    path = tmp_path / "a.csv"
    path.write_text("a,b\n" + f"{quote}x{quote},y\n" * 100 + "x\n" + "x,y\n" * 100)
    with pytest.raises(InputError, match="the row in line 102 has 1 field, but the header has 2"):
        [partition.read() for partition in Batches(path).partitions(200)]


def test_the_line_of_a_bad_object_is_that_of_the_file(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1}\n' * 50)
    partitions = Batches(path).partitions(90)
    path.write_text('{"a": 1}\n' * 44 + '{"a": x}\n' + '{"a": 1}\n' * 5)
    with pytest.raises(InputError, match="line 45 is not JSON"):
        [partition.read() for partition in partitions]


@pytest.mark.parametrize("rows", ["x,y\n", "x,y\nxxx,yyy\n"])
def test_a_file_that_changed_is_refused(tmp_path, rows):
    path = tmp_path / "a.csv"
    path.write_text("a,b\nx,y\nx,y\nx,y\n")
    first, *_ = Batches(path).partitions(4)
    path.write_text(f"a,b\n{rows}")
    with pytest.raises(InputError) as caught:
        first.read()
    assert str(caught.value) == f"{path} was changed while it was being read; leave it unchanged and start again"


def test_a_file_without_rows_has_no_partitions(tmp_path):
    path = tmp_path / "a.parquet"
    pl.DataFrame({"a": [], "b": []}).write_parquet(path)
    with pytest.raises(InputError) as caught:
        Batches(path).partitions()
    assert str(caught.value) == f"{path} has no rows but the header (a, b); give a table with rows"


def test_steps_change_frames_wherever_they_are_read(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n" + "x,y\n" * 100)
    plain = Batches(path, rows=7)
    changed = plain.with_step(_rename).with_step(_add)
    expected = _add(_rename(read_table(path)))
    assert pl.concat(changed).equals(expected)
    assert pl.concat(part.read() for part in pickle.loads(pickle.dumps(changed.partitions(40)))).equals(expected)
    assert changed.head(3).equals(expected.head(3))
    assert pl.concat(plain).equals(read_table(path))


def _rename(frame):
    return frame.rename({"a": "c"})


def _add(frame):
    return frame.with_columns(d=pl.col("c") + pl.col("b"))


def test_a_description_is_small(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n" + "some words,label\n" * 10_000)
    partition, *_ = Batches(path).partitions(50_000)
    assert len(pickle.dumps(partition)) < 2_000
