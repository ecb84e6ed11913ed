"""Files to tables and back: names, progress, and the sentence for a file that cannot be read."""

from __future__ import annotations

import gzip
import io
import lzma
from pathlib import Path
from unittest.mock import Mock

import polars as pl
import pytest

from noisybayes.data import decoding
from noisybayes.data.errors import InputError
from noisybayes.data.formats import FORMATS, delimited, titles
from noisybayes.data.read import read_table, write_table

CSV = b'text,label\n"hello, you",a\nbye,\n'
ROWS = [("hello, you", "a"), ("bye", None)]
JSON_LINES = b'{"text": "hello, you", "label": "a"}\n\n{"text": "bye", "label": null}\n'


def refusal(source, **options):
    with pytest.raises(InputError) as caught:
        read_table(io.BytesIO(source) if isinstance(source, bytes) else source, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.CSV.gz", gzip.compress(CSV, mtime=0)),
        ("a.b.ndjson.xz", lzma.compress(JSON_LINES)),
        ("a.txt", CSV),
        ("a", JSON_LINES),
    ],
)
def test_a_file(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    assert read_table(tmp_path / name).rows() == read_table(str(tmp_path / name)).rows() == ROWS


def test_progress_is_reported(monkeypatch):
    monkeypatch.setattr(delimited, "_PORTION", 8)
    monkeypatch.setattr(decoding, "CHUNK", 4)
    monkeypatch.setattr(delimited, "_BATCH", 2)
    for rows in (b"1,2\n" * 5, b'5" pipe,2\n' * 5):  # read by polars or by the csv module
        seen = []
        read_table(io.BytesIO(b"a,b\n" + rows), report=seen.append)
        assert seen == [2, 4, 5]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "the input is empty; give a table with a header and rows"),
        (b"\xef\xbb\xbf \n\n", "the input is empty; give a table with a header and rows"),
        (b"a,b\n", "the input has no rows but the header (a, b); give a table with rows"),
        (b"PK\3\4 an archive", f"the format of the input is unknown (it is a ZIP file); save it as {titles()}"),
        (b"\0\1\2", f"the format of the input is unknown (it is not text); save it as {titles()}"),
    ],
)
def test_bad_content(content, text):
    assert refusal(content) == text


def test_bad_options():
    for encoding in ("utf-9", "hex", "idna", "punycode", "unicode_escape", "\0", "é"):
        assert refusal(CSV, encoding=encoding) == (
            f"there is no text encoding {encoding!r}; common ones are utf-8, utf-16, cp1252, gb18030, shift_jis"
        )
    assert refusal(CSV, format="xls") == f"there is no format 'xls'; it must be one of {', '.join(FORMATS)}"


def test_bad_paths(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    assert refusal(path) == f"there is no file {path}; check the path"
    monkeypatch.setattr(Path, "open", Mock(side_effect=PermissionError()))
    assert refusal(path) == f"you have no permission to read {path}; change it with: chmod u+r {path}"


def test_writing(tmp_path):
    frame = pl.DataFrame({"a": ["1", None], "b": [[1, 2], None], "c": [b"x", b"\xff"]})
    write_table(frame, tmp_path / "a.csv", "csv")
    assert read_table(tmp_path / "a.csv").rows() == [("1", "[1, 2]", "x"), (None, None, "\\xff")]
    with pytest.raises(InputError, match="a table cannot be written as 'xls'; choose csv, parquet or xlsx"):
        write_table(frame, tmp_path / "a.xls", "xls")
