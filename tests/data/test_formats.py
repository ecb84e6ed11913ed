"""Laws of every format: read whole, in batches or in partitions, from a file or a stream, it is one table."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import pickle
import sys

import polars as pl
import pytest
from click.testing import CliRunner

from noisybayes.cli.app import app
from noisybayes.data import decoding
from noisybayes.data.batches import Batches
from noisybayes.data.errors import InputError
from noisybayes.data.formats import FORMATS, delimited, json_records, parquet
from noisybayes.data.read import read_table

from .example_files import EXAMPLES, rows_of


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    """Portions and batches of a few rows, so that small files have many."""
    monkeypatch.setattr(delimited, "_PORTION", 40)
    monkeypatch.setattr(delimited, "_BATCH", 3)
    monkeypatch.setattr(json_records, "_BATCH", 2)
    monkeypatch.setattr(decoding, "CHUNK", 50)
    monkeypatch.setattr(parquet, "_ROWS", 4)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_the_table_is_the_same_however_it_is_read(tmp_path, name, pack):
    path = tmp_path / f"table{FORMATS[name].suffixes[0] if FORMATS[name].suffixes else ''}"
    path.write_bytes(pack(EXAMPLES[name]()))
    table = read_table(path)
    assert rows_of(table) == [("hello, you", "a"), ("bye", "b"), ("so\nlong", "a"), ("é 多少", "b")] * 3
    with path.open("rb") as file:
        assert read_table(file, format=name).equals(table)
    path = path.rename(tmp_path / "no name that tells the format")
    assert read_table(path).equals(table)
    for rows in (1, 5, 100):
        batches = Batches(path, rows=rows)
        assert batches.n_rows == (12 if name == "parquet" and pack is bytes else None)
        for _ in range(2):
            frames = list(batches)
            assert pl.concat(frames).equals(table)
            assert {frame.height for frame in frames[:-1]} <= {rows}
        assert batches.n_rows == batches.rows_read == 12
        assert batches.bytes_read == batches.n_bytes == path.stat().st_size
        assert batches.columns == table.columns
        assert batches.head(2).equals(table.head(2))


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("size", [1, 60, 10**6])
def test_partitions_hold_all_rows_once_and_in_order(tmp_path, name, size):
    path = tmp_path / f"table{FORMATS[name].suffixes[0] if FORMATS[name].suffixes else ''}"
    path.write_bytes(EXAMPLES[name]())
    partitions = pickle.loads(pickle.dumps(Batches(path).partitions(size)))
    table = read_table(path)
    assert pl.concat([partition.read() for partition in partitions]).equals(table)
    assert [partition.count_rows() for partition in partitions] == [len(partition.read()) for partition in partitions]
    assert all(len(pickle.dumps(partition)) < 2_000 for partition in partitions)
    if size == 1:
        assert (len(partitions) > 1) == (FORMATS[name].split is not None)


@pytest.mark.parametrize(("pack", "name"), [(bytes, "csv"), (gzip.compress, "jsonl"), (lzma.compress, "parquet")])
def test_standard_input(monkeypatch, pack, name):
    class Pipe(io.BytesIO):
        def seekable(self):
            return False

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Pipe(pack(EXAMPLES[name]()))))
    assert rows_of(read_table("-")) == rows_of(read_table(io.BytesIO(EXAMPLES[name]())))


PACKED = [pack(EXAMPLES["csv"]() * 200)[:-12] for pack in (gzip.compress, bz2.compress, lzma.compress)]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        *((packed, r"the input is damaged or truncated \(.*\); download or compress it again") for packed in PACKED),
        (EXAMPLES["parquet"]()[:-40], r"the input is not a Parquet file, or is damaged \(.*\); write it again"),
        (
            b"\x28\xb5\x2f\xfd" + bytes(20),
            "zstd files cannot be read here; unpack it with zstd -d, or .*",
        ),
    ],
)
def test_damaged_files_are_refused_in_one_sentence(monkeypatch, content, text):
    for module in ("compression.zstd", "zstandard"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError, match=f"^{text}$"):
        read_table(io.BytesIO(content))


def test_a_damaged_row_group(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "_ROWS", 10_000)
    frame = pl.DataFrame({"text": [f"message {i * 7919 % 10_007} of {i}" for i in range(40_000)]})
    path = tmp_path / "[a].parquet"  # no pattern of names
    frame.write_parquet(path, row_group_size=10_000)
    content = bytearray(path.read_bytes())
    middle = len(content) * 5 // 8  # in the third of four groups
    content[middle : middle + 2_000] = bytes(byte ^ 0xFF for byte in content[middle : middle + 2_000])
    path.write_bytes(content)
    seen = []
    with pytest.raises(
        InputError, match=r"rows 20001 to 30000 of the Parquet file cannot be read \(.*; write it again"
    ):
        seen.extend(Batches(path, rows=10_000))
    assert pl.concat(seen).equals(frame.head(20_000))


def test_the_command_line_offers_them_all():
    text = " ".join(CliRunner().invoke(app, ["predict", "--help"], terminal_width=500).output.split())
    assert f"[{'|'.join(FORMATS)}]" in text
    assert set(EXAMPLES) == set(FORMATS)
