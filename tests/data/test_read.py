"""Files to tables and back: formats, compression, encodings, and what is said of a file that cannot be read."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import sys
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noisybayes.data import csv_rows, decoding
from noisybayes.data.errors import InputError
from noisybayes.data.formats import FORMATS, known_suffixes, titles
from noisybayes.data.read import read_table, write_table

CSV = b'text,label\n"hello, you",a\nbye,\n'
ROWS = [("hello, you", "a"), ("bye", None)]
JSON_LINES = b'{"text": "hello, you", "label": "a"}\n\n{"text": "bye", "label": null}\n'


def parquet(frame):
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


PARQUET = parquet(pl.DataFrame(ROWS, schema=["text", "label"], orient="row"))


def read(content, **options):
    return read_table(io.BytesIO(content), **options)


def refusal(content, **options):
    with pytest.raises(InputError) as caught:
        read(content, **options)
    return str(caught.value)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("content", [CSV, CSV.replace(b"hello, you", b"hello\tyou"), JSON_LINES, PARQUET])
def test_format_and_compression_are_told_by_the_content(content, pack):
    frame = read(pack(content))
    assert frame.columns == ["text", "label"]
    assert [tuple(cell and cell.replace("\t", ", ") for cell in row) for row in frame.rows()] == ROWS


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", CSV),
        ("a.CSV.gz", gzip.compress(CSV, mtime=0)),
        ("a.tsv", b"text\tlabel\nhello, you\ta\nbye\t\n"),
        ("a.jsonl", JSON_LINES),
        ("a.b.ndjson.xz", lzma.compress(JSON_LINES)),
        ("a.parquet", PARQUET),
        ("a.txt", CSV),
        ("a", JSON_LINES),
    ],
)
def test_a_file(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    assert read_table(tmp_path / name).rows() == ROWS
    assert read_table(str(tmp_path / name)).rows() == ROWS


@pytest.mark.parametrize(
    "content", [CSV, gzip.compress(JSON_LINES, mtime=0), PARQUET, b"text\tlabel\nhello, you\ta\nbye\t\n"]
)
def test_standard_input(monkeypatch, content):
    class Pipe(io.BytesIO):
        def seekable(self):
            return False

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Pipe(content)))
    assert read_table("-").rows() == ROWS


def test_cells_of_csv_stay_text():
    frame = read(b"a,b,c\n007,1.50,NA\n,true,1e3\n")
    assert frame.rows() == [("007", "1.50", "NA"), (None, "true", "1e3")]


def test_csv_as_it_is_met():
    assert read(b'\xef\xbb\xbfa,b\r\n"x\r\ny",2\r\n\r\n3,"say ""hi"""\r\n').rows() == [
        ("x\r\ny", "2"),
        ("3", 'say "hi"'),
    ]
    assert read(b"a,b\r1,2\r3,4\r").rows() == [("1", "2"), ("3", "4")]
    assert read(b"\n\na,b\n1,2").rows() == [("1", "2")]
    assert read(b"a;b\n1,5;2\n").rows() == [("1,5", "2")]
    assert read("a,b\nx\u2028y\x0b,z\x1c\n".encode()).rows() == [("x\u2028y\x0b", "z\x1c")]
    assert read(b"a\n1\n\n2\n").rows() == [("1",), (None,), ("2",)]
    assert read(b",b,\n1,2,\n").columns == ["column 1", "b", "column 3"]


def test_a_text_of_many_lines_and_megabytes():
    long = "word\n" * 500_000
    frame = read(f'a,b\n"{long}",é\n'.encode())
    assert frame.rows() == [(long, "é")]


@pytest.mark.parametrize("encoding", ["latin-1", "gb18030", "utf-16", "utf-16-le"])
def test_other_encodings(monkeypatch, encoding):
    monkeypatch.setattr(decoding, "CHUNK", 3)  # characters are cut in two
    text = "é,b\n1,ü\n" if encoding == "latin-1" else "中文,b\n1,多少\n"
    content = text.encode(encoding)
    header, row = (line.split(",") for line in text.split())
    frame = read(content, format="csv", encoding=encoding)
    assert (frame.columns, frame.rows()) == (header, [tuple(row)])


def test_progress_is_reported(monkeypatch):
    monkeypatch.setattr(csv_rows, "_PORTION", 8)
    monkeypatch.setattr(decoding, "CHUNK", 4)
    monkeypatch.setattr(csv_rows, "_BATCH", 2)
    for rows in (b"1,2\n" * 5, b"1\r,2\n" * 5):  # regular or not
        seen = []
        read(b"a,b\n" + rows.replace(b"1\r", b'"1\r"'), report=seen.append)
        assert seen == [2, 4, 5]
    read(PARQUET, report=seen.append)
    assert seen[3:] == [2]


def test_json_values_of_several_types():
    records = [
        {"a": 1, "b": 1, "c": True, "d": [1, "é"], "e": 1},
        {"a": 2.5, "b": "x", "c": None, "e": 10**30, "f": "y"},
    ]
    frame = read("\n".join(map(json.dumps, records)).encode())
    assert frame["a"].to_list() == [1.0, 2.5]
    assert frame["b"].to_list() == ["1", "x"]
    assert frame["c"].to_list() == [True, None]
    assert frame["d"].to_list() == ['[1, "é"]', None]
    assert frame["e"].to_list() == ["1", str(10**30)]
    assert frame["f"].to_list() == [None, "y"]
    assert read(b'{"a": "\\ud83d\\ude00 \\ud800"}')["a"].to_list() == ["😀 �"]


def test_json_types_that_change_between_batches(monkeypatch):
    monkeypatch.setattr("noisybayes.data.formats.records._BATCH", 1)
    frame = read(b'{"a": 1.0, "b": 1}\n{"a": "x", "b": 2.5}\n{"a": null}\n')
    assert frame["a"].to_list() == ["1", "x", None]
    assert frame["b"].to_list() == [1.0, 2.5, None]


FIX_FIELDS = "quote fields that contain a ',' or a line break"
FIX_QUOTE = "double a quote within a quoted field"
FIX_JSON = 'write one object per line, like {"text": "hello", "label": "greeting"}'


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "the input is empty; give a table with a header and rows"),
        (b"\xef\xbb\xbf \n\n", "the input is empty; give a table with a header and rows"),
        (b"a,b\n", "the input has no rows but the header (a, b); give a table with rows"),
        (b"a,b,a\n1,2,3\n", "the input has more than one column 'a'; rename all but one of them in the header"),
        (
            b"a,b\n1,2\n3\n",
            f"the input: the row in line 3 has 1 field, but the header has 2; {FIX_FIELDS}",
        ),
        (
            b'a,b\n"1\n\r\n",2\n\n1,2,3\n',
            f"the input: the row in line 6 has 3 fields, but the header has 2; {FIX_FIELDS}",
        ),
        (
            b'a,b\n1,2\n"3,4\n5,6\n',
            f'the input: the row in line 3 has a quote (") that is not closed before the end of its field; {FIX_QUOTE}',
        ),
        (
            b'a,b\n"x"y,2\n',
            f'the input: the row in line 2 has a quote (") that is not closed before the end of its field; {FIX_QUOTE}',
        ),
        (
            b'{"a": 1}\n{"a"}\n',
            f"the input: line 2 is not JSON (Expecting ':' delimiter at column 5); {FIX_JSON}",
        ),
        (b'{"a": 1}\n[2]\n', f"the input: line 2 is not a JSON object with keys; {FIX_JSON}"),
        (b"{}\n", f"the input: line 1 is not a JSON object with keys; {FIX_JSON}"),
        (
            b"PK\3\4 an archive",
            f"the format of the input is unknown (it is a ZIP file); save it as {titles()}",
        ),
        (b"\0\1\2", f"the format of the input is unknown (it is not text); save it as {titles()}"),
    ],
)
def test_what_is_said_of_bad_content(content, text):
    assert refusal(content) == text


@pytest.mark.parametrize("chunk", [1, 4, 1 << 20])
def test_the_byte_that_cannot_be_decoded_is_told(monkeypatch, chunk):
    monkeypatch.setattr(decoding, "CHUNK", chunk)
    content = b"\xef\xbb\xbfa,b\n1,\xc3\xa9\n" + "né\n".encode("latin-1")
    assert refusal(content, format="csv", encoding="utf-8") == (
        f"the input is not utf-8 text: the byte 0xe9 at offset {content.index(0xE9)} (line 3) cannot be read; "
        "try --encoding cp1252"
    )


def test_what_is_said_of_options():
    assert refusal(CSV, encoding="utf-9") == (
        "there is no text encoding 'utf-9'; common ones are utf-8, utf-16, cp1252, gb18030, shift_jis"
    )
    for encoding in ("hex", "idna", "punycode", "unicode_escape", "rot13", "\0", "é"):
        assert f"there is no text encoding {encoding!r}; " in refusal(CSV, encoding=encoding)
    assert refusal(CSV, format="xls") == (f"there is no format 'xls'; it must be one of {', '.join(FORMATS)}")


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_damaged_compressed_file(pack):
    text = refusal(pack(CSV * 1000)[:-12])
    assert text.startswith("the input is damaged or truncated (")
    assert text.endswith("); download or compress it again")


def test_zstd_needs_a_library(monkeypatch):
    for module in ("compression.zstd", "zstandard"):
        monkeypatch.setitem(sys.modules, module, None)
    assert refusal(b"\x28\xb5\x2f\xfd" + bytes(20)) == (
        "zstd files cannot be read here; unpack it with zstd -d, or pip install zstandard"
    )


def test_a_damaged_parquet_file():
    text = refusal(PARQUET[:-40])
    assert text.startswith("the input is not a Parquet file, or is damaged (")
    assert text.endswith("); write it again")


def test_what_is_said_of_paths(tmp_path, monkeypatch):
    def text(path):
        with pytest.raises(InputError) as caught:
            read_table(path)
        return str(caught.value)

    path = tmp_path / "a.csv"
    assert text(path) == f"there is no file {path}; check the path"
    assert text(tmp_path) == (
        f"the folder {tmp_path} has no file that ends in {', '.join(known_suffixes())}; give the files"
    )

    def fails_with(error):
        def fail(self, mode):
            raise error

        monkeypatch.setattr(Path, "open", fail)

    fails_with(PermissionError())
    assert text(path) == f"you have no permission to read {path}; change it with: chmod u+r {path}"
    fails_with(OSError("too many links"))
    assert text(path) == f"{path} cannot be opened (too many links); check the path"


def test_writing(tmp_path):
    frame = pl.DataFrame({"a": ["1", None], "b": [[1, 2], None], "c": [b"x", b"\xff"]})
    write_table(frame, tmp_path / "a.csv", "csv")
    assert read_table(tmp_path / "a.csv").rows() == [("1", "[1, 2]", "x"), (None, None, "\\xff")]
    write_table(frame, tmp_path / "a.parquet", "parquet")
    assert read_table(tmp_path / "a.parquet").equals(frame)
    with pytest.raises(InputError, match="a table cannot be written as 'xls'; choose csv, parquet or xlsx"):
        write_table(frame, tmp_path / "a.xls", "xls")


cell = (
    st.none()
    | st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
    | st.sampled_from(['"', "\r\n", ",", "\r"])
)


@settings(max_examples=150, deadline=None)
@given(data=st.data(), width=st.integers(1, 4))
def test_csv_to_table_to_csv_keeps_every_cell(tmp_path_factory, data, width):
    rows = data.draw(st.lists(st.tuples(*[cell] * width), min_size=1, max_size=6))
    frame = pl.DataFrame(rows, schema={f"c{i}": pl.String for i in range(width)}, orient="row")
    path = tmp_path_factory.getbasetemp() / "round.csv"
    write_table(frame, path, "csv")
    again = read_table(path)
    assert again.equals(frame)
    written = path.read_bytes()
    write_table(again, path, "csv")
    assert path.read_bytes() == written
