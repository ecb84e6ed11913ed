"""Laws of every format: read whole or in batches, from a file or a stream, plain or compressed, it is one table."""

from __future__ import annotations

import gzip
import pickle

import polars as pl
import pytest
from click.testing import CliRunner

from noisybayes.cli.app import app
from noisybayes.data import csv_rows, decoding
from noisybayes.data.batches import Batches
from noisybayes.data.content import opened
from noisybayes.data.formats import FORMATS, find_format, known_suffixes, parquet, records, titles
from noisybayes.data.parts import LocalFile
from noisybayes.data.read import read_table

from .example_files import EXAMPLES, rows_of


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    """Portions and batches of a few rows, so that small files have many."""
    monkeypatch.setattr(csv_rows, "_PORTION", 40)
    monkeypatch.setattr(csv_rows, "_BATCH", 3)
    monkeypatch.setattr(records, "_BATCH", 2)
    monkeypatch.setattr(decoding, "CHUNK", 50)
    monkeypatch.setattr(parquet, "_ROWS", 4)


def test_every_format_is_tested():
    assert set(EXAMPLES) == set(FORMATS)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_the_table_is_the_same_however_it_is_read(tmp_path, name, pack):
    content = EXAMPLES[name]()
    path = tmp_path / f"table{FORMATS[name].suffixes[0] if FORMATS[name].suffixes else ''}"
    path.write_bytes(pack(content))
    table = read_table(path)
    assert rows_of(table) == [("hello, you", "a"), ("bye", "b"), ("so\nlong", "a"), ("é 多少", "b")] * 3
    assert read_table(path, format=name).equals(table)
    with path.open("rb") as file:
        assert read_table(file, format=name).equals(table)
    for rows in (1, 5, 100):
        batches = Batches(path, rows=rows)
        for _ in range(2):
            assert pl.concat(batches).equals(table)
        assert batches.n_rows == batches.rows_read == 12
        assert batches.columns == table.columns


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("size", [1, 60, 10**6])
def test_partitions_hold_all_rows_once_and_in_order(tmp_path, name, size):
    path = tmp_path / f"table{FORMATS[name].suffixes[0] if FORMATS[name].suffixes else ''}"
    path.write_bytes(EXAMPLES[name]())
    partitions = pickle.loads(pickle.dumps(Batches(path).partitions(size)))
    table = read_table(path)
    assert pl.concat([partition.read() for partition in partitions]).equals(table)
    assert pl.concat([frame for partition in partitions for frame in partition]).equals(table)
    assert [partition.count_rows() for partition in partitions] == [len(partition.read()) for partition in partitions]
    if size == 1:
        assert (len(partitions) > 1) == (FORMATS[name].split is not None)


@pytest.mark.parametrize("name", FORMATS)
def test_the_content_tells_the_format(tmp_path, name):
    path = tmp_path / "table"
    path.write_bytes(EXAMPLES[name]())
    with opened(LocalFile(path)) as content:
        assert find_format(content, None) is FORMATS[name]


def test_the_command_line_offers_them_all():
    text = " ".join(CliRunner().invoke(app, ["predict", "--help"], terminal_width=500).output.split())
    assert f"[{'|'.join(FORMATS)}]" in text
    answer = CliRunner().invoke(app, ["predict", "model", "x", "--input-format", "xls"])
    assert "'xls' is not one of" in answer.output


def test_names_for_messages():
    assert titles().endswith(" or TSV")
    assert {".csv", ".parquet"} <= set(known_suffixes())
