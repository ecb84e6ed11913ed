"""Batches and partitions of a table: their sizes, and files that change or can be read only once."""

from __future__ import annotations

import gzip
import os
import threading
from pathlib import Path

import polars as pl
import pytest

from noisybayes.data import decoding, parts
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


@pytest.mark.parametrize("largest", [20, 10**6])
def test_what_can_be_read_only_once_is_kept(tmp_path, monkeypatch, largest):
    monkeypatch.setattr(parts, "_LARGE", largest)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(CSV,))
    writer.start()
    batches = Batches(pipe)
    writer.join()
    assert batches.name == str(pipe)
    assert pl.concat(batches).equals(pl.concat(batches))
    assert (batches.parts[0].path is None) == (largest > 20)


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
