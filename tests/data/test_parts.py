"""Tables in several files: patterns, folders, lists and URLs, and parts that do not fit together."""

from __future__ import annotations

import gzip

import polars as pl
import pytest

from noisybayes.data.batches import Batches
from noisybayes.data.errors import InputError
from noisybayes.data.formats import known_suffixes
from noisybayes.data.read import read_table

fsspec = pytest.importorskip("fsspec")
ROWS = [("hello", "a"), ("bye", "b"), ("so long", "b"), ("hi", "a")]


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    (folder / "0.csv").write_text("text,label\nhello,a\nbye,b\n")
    (folder / "1.csv").write_text("label,text\nb,so long\n")
    (folder / "2.csv.gz").write_bytes(gzip.compress(b"text,label\nhi,a\n"))
    (folder / "3.csv").write_text("")  # a worker without rows
    (folder / "4.csv").write_text("text,label\n")
    for name in ("_SUCCESS", ".3.csv.crc", "notes.txt"):
        (folder / name).write_text("x")
    return folder


def refusal(function, *args):
    with pytest.raises(InputError) as caught:
        function(*args)
    return str(caught.value)


def same_everywhere(source):
    """The table, which batches and partitions must hold too."""
    table, batches = read_table(source), Batches(source, rows=1)
    assert pl.concat(batches).equals(table)
    assert batches.bytes_read == batches.n_bytes
    assert pl.concat([partition.read() for partition in batches.partitions(8)]).equals(table)
    return table


def test_a_folder_a_pattern_and_a_list(folder):
    for source in (folder, str(folder), f"{folder}/*.csv*", [folder / "0.csv", folder / "1.csv", folder / "2.csv.gz"]):
        assert same_everywhere(source).rows() == ROWS
    assert same_everywhere([f"{folder}/2*", f"{folder}/0.csv"]).rows() == [ROWS[3], *ROWS[:2]]


def test_parts_of_several_formats_and_types(tmp_path):
    pl.DataFrame({"text": ["x"], "n": [1], "odd": [1]}).write_parquet(tmp_path / "0.parquet")
    pl.DataFrame({"text": ["y"], "n": [2.5], "odd": ["z"]}).write_parquet(tmp_path / "1.parquet")
    (tmp_path / "2.jsonl").write_text('{"text": "u", "n": 3}\n{"text": "v", "more": true}\n')
    assert same_everywhere(tmp_path).rows() == [
        ("x", 1.0, "1", None), ("y", 2.5, "z", None), ("u", 3.0, None, None), ("v", None, None, True),
    ]  # fmt: skip


def test_a_url(folder):
    fs = fsspec.filesystem("memory")
    for name in ("0.csv", "1.csv", "2.csv.gz"):
        fs.pipe(f"/parts/{name}", (folder / name).read_bytes())
    try:
        for source in ("memory://parts", "memory://parts/*"):
            assert same_everywhere(source).rows() == ROWS
        batches = Batches("memory://parts/0.csv")
        fs.pipe("/parts/0.csv", b"text,label\nchanged,a\n")
        assert refusal(list, batches) == (
            "memory://parts/0.csv was changed while it was being read; leave it unchanged and start again"
        )
    finally:
        fs.rm("/parts", recursive=True)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("memory://none.csv", "there is no file memory://none.csv; check the address"),
        ("memory://none/*", "no file matches memory://none/*; check the pattern"),
        ("nosuch://a.csv", "nosuch://a.csv cannot be read here (Protocol not known: nosuch); install the missing "
         "package or save it as a file"),
        ("none/*.csv", "no file matches none/*.csv; check the pattern"),
        ([], "the list of files is empty; give at least one file"),
    ],
)  # fmt: skip
def test_sources_without_a_file(source, text):
    assert refusal(read_table, source) == text


def test_parts_that_do_not_fit(folder, tmp_path):
    assert refusal(read_table, tmp_path) == (
        f"the folder {tmp_path} has no file that ends in {', '.join(known_suffixes())}; give the files"
    )
    (folder / "5.csv").write_text("text,kind\nx,y\n")
    for read in (read_table, lambda source: list(Batches(source)), lambda source: Batches(source).partitions()):
        assert refusal(read, folder) == (
            f"{folder}/5.csv has no column 'label', but {folder}/0.csv has one; give all parts the same columns"
        )
