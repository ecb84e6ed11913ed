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


def written(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refusal(function, *args, **options):
    with pytest.raises(InputError) as caught:
        function(*args, **options)
    return str(caught.value)


def test_long_texts_come_in_smaller_batches(tmp_path, monkeypatch):
    monkeypatch.setattr("noisybayes.data.batches._BYTES", 1_000)
    monkeypatch.setattr(delimited, "_PORTION", 100)
    monkeypatch.setattr(decoding, "CHUNK", 8)
    path = written(tmp_path, "a.csv", "a,b\n" + f"{'x' * 90},y\n" * 50)
    heights = [frame.height for frame in Batches(path, rows=40)]
    assert sum(heights) == 50
    assert max(heights) < 20


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b""),
        ("a.csv", b"a,b\n"),
        ("a.csv", f"{CSV}x\n".encode()),
        ("a.csv.gz", gzip.compress(CSV.encode(), mtime=0)[:-9]),
        ("a.jsonl", b'{"a": 1}\n{"a"}\n'),
        ("a.parquet", b"PAR1 not really"),
        ("a", b"PK\3\4 an archive"),
    ],
)
def test_bad_files_are_refused_as_read_table_does(tmp_path, name, content):
    path = written(tmp_path, name, content)
    assert refusal(lambda: list(Batches(path))) == refusal(read_table, path)


def test_what_cannot_be_read_twice(tmp_path):
    assert refusal(Batches, "-") == "standard input cannot be read twice; save it as a file and give its path"
    assert refusal(Batches, os.devnull) == (
        "/dev/null cannot be read twice; save its content as a file and give its path"
    )
    assert refusal(Batches, tmp_path / "no.csv") == f"there is no file {tmp_path / 'no.csv'}; check the path"
    assert "there is no text encoding 'utf-9'" in refusal(Batches, tmp_path, encoding="utf-9")
    with pytest.raises(ValueError, match="a batch must have at least 1 row, got 0"):
        Batches(tmp_path, rows=0)


@pytest.mark.parametrize("change", ["longer", "same size", "gone"])
@pytest.mark.parametrize("when", ["between passes", "within a pass"])
def test_a_file_that_changes(tmp_path, change, when):
    path = written(tmp_path, "a.csv", CSV)
    batches = Batches(path, rows=5)
    passing = iter(batches)
    next(passing)
    if when == "between passes":
        list(passing)
        passing = iter(batches)
    if change == "gone":
        path.unlink()
    else:
        written(tmp_path, "a.csv", CSV + "x,y\n" if change == "longer" else CSV.replace("word", "name"))
        os.utime(path, (1, 1))
    text = f"{path} was changed while it was being read; leave it unchanged and start again"
    assert refusal(list, passing) == text


@pytest.mark.parametrize("rows", ["x,y\n", "x,y\nxxx,yyy\n"])
def test_a_partition_of_a_file_that_changed(tmp_path, rows):
    path = written(tmp_path, "a.csv", "a,b\nx,y\nx,y\nx,y\n")
    first, *_ = Batches(path).partitions(4)
    path.write_text(f"a,b\n{rows}")
    text = f"{path} was changed while it was being read; leave it unchanged and start again"
    assert refusal(first.read) == text


def test_the_line_of_a_bad_row_is_that_of_the_file(tmp_path):
    path = written(tmp_path, "a.jsonl", '{"a": 1}\n' * 50)
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


def test_steps_change_frames_wherever_they_are_read(tmp_path):
    path = written(tmp_path, "a.csv", "a,b\n" + "x,y\n" * 100)
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
