"""Batches and partitions of a table: their sizes, steps, and files that change or cannot be read twice."""

from __future__ import annotations

import gzip
import os
import pickle
from pathlib import Path

import polars as pl
import pytest

from noisybayes.data import decoding
from noisybayes.data.batches import Batches
from noisybayes.data.errors import InputError
from noisybayes.data.formats import delimited
from noisybayes.data.read import read_table

CSV = "text,label\n" + "".join(f"word {i},a\n" for i in range(40))


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(CSV)
    return path


def refusal(function, *args, **options):
    with pytest.raises(InputError) as caught:
        function(*args, **options)
    return str(caught.value)


def test_long_texts_come_in_smaller_batches(path, monkeypatch):
    monkeypatch.setattr("noisybayes.data.batches._BYTES", 1_000)
    monkeypatch.setattr(delimited, "_PORTION", 100)
    monkeypatch.setattr(decoding, "CHUNK", 8)
    path.write_text("a,b\n" + f"{'x' * 90},y\n" * 50)
    heights = [frame.height for frame in Batches(path, rows=40)]
    assert sum(heights) == 50
    assert max(heights) < 20


@pytest.mark.parametrize("content", [b"", b"a,b\n", f"{CSV}x\n".encode(), gzip.compress(CSV.encode())[:-9], b"PAR1 no"])
def test_bad_files_are_refused_as_read_table_does(path, content):
    path.write_bytes(content)
    assert refusal(lambda: list(Batches(path))) == refusal(read_table, path)


def test_what_cannot_be_read_twice():
    assert refusal(Batches, "-") == "standard input cannot be read twice; save it as a file and give its path"
    assert refusal(Batches, os.devnull) == (
        "/dev/null cannot be read twice; save its content as a file and give its path"
    )


@pytest.mark.parametrize("change", [CSV + "x,y\n", CSV.replace("word", "name"), None])
@pytest.mark.parametrize("when", ["between passes", "within a pass", "in partitions"])
def test_a_file_that_changes(path, change, when):
    batches = Batches(path, rows=5)
    passing = iter(batches)
    next(passing)
    if when == "between passes":
        list(passing)
        passing = iter(batches)
    elif when == "in partitions":  # which see the size
        passing, change = batches.partitions(300)[0], CSV + "x,y\n"
    path.unlink()
    if change is not None:
        path.write_text(change)
        os.utime(path, (1, 1))
    text = f"{path} was changed while it was being read; leave it unchanged and start again"
    assert refusal(list, passing) == text


def test_the_line_of_a_bad_row_is_that_of_the_file(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1}\n' * 50)
    partitions = Batches(path).partitions(90)
    path.write_text('{"a": 1}\n' * 44 + '{"a": x}\n' + '{"a": 1}\n' * 5)
    with pytest.raises(InputError, match="line 45 is not JSON"):
        [partition.read() for partition in partitions]


def test_a_file_without_rows_has_no_partitions(tmp_path):
    path = tmp_path / "a.parquet"
    pl.DataFrame({"a": [], "b": []}).write_parquet(path)
    assert refusal(Batches(path).partitions) == f"{path} has no rows but the header (a, b); give a table with rows"
    in_header = Path(__file__).parent / "findings/line_break_in_header.tsv"
    assert "\n" not in refusal(lambda: list(Batches(in_header)))


def test_steps_change_frames_wherever_they_are_read(path):
    plain = Batches(path, rows=7)
    changed = plain.with_step(_rename).with_step(_add)
    expected = _add(_rename(read_table(path)))
    assert pl.concat(changed).equals(expected)
    assert pl.concat(part.read() for part in pickle.loads(pickle.dumps(changed.partitions(40)))).equals(expected)
    assert changed.head(3).equals(expected.head(3))
    assert pl.concat(plain).equals(read_table(path))


def _rename(frame):
    return frame.rename({"text": "c"})


def _add(frame):
    return frame.with_columns(d=pl.col("c") + pl.col("label"))
