"""A file in batches: the cells of `read_table`, as often as wanted, and what is said of a file that cannot be read."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import os

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noisybayes.data import csv_rows, decoding
from noisybayes.data.batches import Batches
from noisybayes.data.errors import InputError
from noisybayes.data.formats import parquet, records
from noisybayes.data.read import read_table, write_table

CSV = 'text,label,note\n"hello, ""you""\nthere",a,\nbye,b,é\n' + "".join(f"word {i},a,{i}\n" for i in range(40))
JSON = "\n".join(
    json.dumps(row)
    for row in [{"a": 1, "b": 1}, {"a": 2.5, "b": "x", "c": None}, {"a": None, "d": [1]}, *[{"a": 3, "d": "y"}] * 9]
)


@pytest.fixture
def small_portions(monkeypatch):
    """Portions and batches of a few rows, so that small files have many."""
    monkeypatch.setattr(csv_rows, "_PORTION", 40)
    monkeypatch.setattr(csv_rows, "_BATCH", 3)
    monkeypatch.setattr(records, "_BATCH", 2)
    monkeypatch.setattr(decoding, "CHUNK", 23)


def written(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refusal(function, *args, **options):
    with pytest.raises(InputError) as caught:
        function(*args, **options)
    return str(caught.value)


FILES = {
    "plain.csv": CSV,
    "windows.csv": "\ufeff" + CSV.replace("\n", "\r\n"),
    "mac.csv": CSV.replace("\n", "\r"),
    "semicolons.csv": CSV.replace(",", ";"),
    "tabs.csv": CSV.replace(",", "\t"),
    "tabs.tsv": CSV.replace(",", "\t"),
    "blank.csv": "\n\n" + CSV.replace("word 7", "\nword 7") + "\n\n",
    "quote_in_a_cell.csv": CSV.replace("word 9", 'a 5" pipe'),
    "no_end.csv": CSV.rstrip("\n"),
    "one_column.csv": "a\nx\n\ny\n",
    "packed.csv.gz": gzip.compress(CSV.encode(), mtime=0),
    "packed.bz2": bz2.compress(CSV.encode()),
    "packed.jsonl.xz": lzma.compress(JSON.encode()),
    "lines.jsonl": JSON,
    "told by content": JSON,
}


@pytest.mark.usefixtures("small_portions")
@pytest.mark.parametrize("rows", [1, 3, 7, 1_000])
@pytest.mark.parametrize("name", FILES)
def test_batches_hold_the_cells_of_the_table(tmp_path, name, rows):
    path = written(tmp_path, name, FILES[name])
    batches, table = Batches(path, rows=rows), read_table(path)
    for _ in range(2):
        frames = list(batches)
        assert pl.concat(frames).equals(table)
        assert {frame.height for frame in frames[:-1]} <= {rows}
        assert batches.n_rows == batches.rows_read == table.height
        assert batches.bytes_read == batches.n_bytes == path.stat().st_size
    assert batches.head(2).equals(table.head(2))


@pytest.mark.usefixtures("small_portions")
@pytest.mark.parametrize("encoding", ["utf-16", "gb18030"])
def test_other_encodings(tmp_path, encoding):
    path = written(tmp_path, "a.csv", CSV.replace("é", "多少").encode(encoding))
    assert pl.concat(Batches(path, encoding=encoding, rows=4)).equals(read_table(path, encoding=encoding))


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("rows", [1, 3, 100])
def test_parquet(tmp_path, rows, pack):
    frame = pl.DataFrame({"a": range(10), "b": [["x"], None] * 5, "c": [1.5, None] * 5})
    frame.write_parquet(tmp_path / "[a].parquet", row_group_size=4)  # no pattern of names
    path = written(tmp_path, "[a].parquet", pack((tmp_path / "[a].parquet").read_bytes()))
    batches = Batches(path, rows=rows)
    assert batches.n_rows == (10 if pack is bytes else None)
    assert pl.concat(batches).equals(frame)
    assert batches.n_rows == 10


def test_long_texts_come_in_smaller_batches(tmp_path, monkeypatch):
    monkeypatch.setattr("noisybayes.data.batches._BYTES", 1_000)
    monkeypatch.setattr(csv_rows, "_PORTION", 100)
    monkeypatch.setattr(decoding, "CHUNK", 8)
    path = written(tmp_path, "a.csv", "a,b\n" + f"{'x' * 90},y\n" * 50)
    heights = [frame.height for frame in Batches(path, rows=40)]
    assert sum(heights) == 50
    assert max(heights) < 20


PIECES = [",", "\n", '"', "\r\n", "\r", "a", "é", " ", ",b\n", '"x"', '""', "\x00"]
anything = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


@st.composite
def well_formed(draw):
    """Two columns, quoted as much as needed or more; the odd blank line."""
    cells = st.lists(st.sampled_from(PIECES), max_size=3).map("".join)
    rows = draw(st.lists(st.tuples(cells, cells), max_size=12))
    made = io.StringIO()
    for row in rows:
        quoting = draw(st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]))
        end = draw(st.sampled_from(["\n", "\n", "\n", "\r\n", "\n\n"]))
        csv.writer(made, quoting=quoting, lineterminator=end).writerow(row)
    return made.getvalue()


@settings(max_examples=400, deadline=None)
@given(rows=anything | well_formed(), width=st.integers(1, 3), portion=st.sampled_from([1, 8, 1 << 20]))
def test_regular_rows_are_read_as_the_csv_module_reads_them(rows, width, portion):
    text = ",".join("abc"[:width]) + "\n" + rows
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_rows, "_PORTION", portion)
        found = _outcome(text)
        patch.setattr(csv_rows, "_regular", lambda *args: None)
        assert found == _outcome(text)


def frames_of(name, lines):
    header = csv_rows.read_header(name, lines, ",")
    return csv_rows.csv_frames(name, lines, header.layout, header.n_lines)


def _outcome(text):
    try:
        content = text.encode()
        chunks = (content[i : i + 8] for i in range(0, len(content), 8))
        return pl.concat(frames_of("it", decoding.Lines("it", chunks, "utf-8"))).rows()
    except InputError as error:
        return str(error)


def test_one_stray_quote_does_not_fetch_the_whole_file(monkeypatch):
    monkeypatch.setattr(csv_rows, "_PORTION", 100)
    fetched = 0

    def chunks():
        nonlocal fetched
        for line in [b"a,b\n", b'5" pipe,x\n', *[b"word,y\n"] * 9_000]:
            fetched += 1
            yield line

    frames = frames_of("it", decoding.Lines("it", chunks(), "utf-8"))
    assert next(frames).height == 0
    assert next(frames).row(0) == ('5" pipe', "x")
    assert fetched <= csv_rows._BATCH + 2
    assert sum(frame.height for frame in frames) == 9_001 - csv_rows._BATCH


@pytest.mark.usefixtures("small_portions")
@pytest.mark.parametrize(
    ("old", "new"),
    [("word 25,a,25", "word 25,a"), ("word 25,a,25", "w,2,5,a"), ("word 25", '"word 25"x'), ("word 25", '"word 25')],
)
def test_a_malformed_row_late_in_the_file(tmp_path, old, new):
    path = written(tmp_path, "a.csv", CSV.replace(old, new))
    text = refusal(list, Batches(path, rows=9))
    assert text == refusal(read_table, path)
    assert text.startswith(f"{path}: the row in line 30 has ")


@pytest.mark.usefixtures("small_portions")
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b""),
        ("a.csv", b"a,b\n"),
        ("a.csv", b"a,a\n1,2\n"),
        ("a.csv.gz", gzip.compress(CSV.encode(), mtime=0)[:-9]),
        ("a.jsonl", JSON.encode() + b'\n{"a"}\n'),
        ("a.parquet", b"PAR1 not really"),
        ("a", b"PK\3\4 an archive"),
    ],
)
def test_what_is_said_is_what_read_table_says(tmp_path, name, content):
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
        written(tmp_path, "a.csv", CSV + "x,y,z\n" if change == "longer" else CSV.replace("bye", "boo"))
        os.utime(path, (1, 1))
    text = f"{path} was changed while it was being read; leave it unchanged and start again"
    assert refusal(list, passing) == text


def test_a_damaged_row_group(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "_ROWS", 10_000)
    frame = pl.DataFrame({"text": [f"message {i * 7919 % 10_007} of {i}" for i in range(40_000)]})
    path = tmp_path / "a.parquet"
    frame.write_parquet(path, row_group_size=10_000)
    content = bytearray(path.read_bytes())
    middle = len(content) * 5 // 8  # in the third of four groups
    content[middle : middle + 2_000] = bytes(byte ^ 0xFF for byte in content[middle : middle + 2_000])
    path.write_bytes(content)
    seen = []
    text = refusal(lambda: seen.extend(Batches(path, rows=10_000)))
    assert text.startswith(f"{path}: rows 20001 to 30000 of the Parquet file cannot be read (")
    assert text.endswith("); write it again")
    assert pl.concat(seen).equals(frame.head(20_000))


def test_written_tables_come_back(tmp_path):
    frame = pl.DataFrame({"a": ["x\ny", None, '"', "\r", " "] * 30, "b": [str(i) for i in range(150)]})
    write_table(frame, tmp_path / "a.csv", "csv")
    assert pl.concat(Batches(tmp_path / "a.csv", rows=11)).equals(frame)
