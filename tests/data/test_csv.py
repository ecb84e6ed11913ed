"""CSV and TSV: the cells as written, cut anywhere, and the line of a malformed row."""

from __future__ import annotations

import csv
import io

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noisybayes.data import decoding
from noisybayes.data.batches import Batches
from noisybayes.data.errors import InputError
from noisybayes.data.formats import delimited
from noisybayes.data.read import read_table, write_table

FIX_FIELDS = "quote fields that contain a ',' or a line break"
FIX_QUOTE = "double a quote within a quoted field"
NOT_CLOSED = f'has a quote (") that is not closed before the end of its field; {FIX_QUOTE}'


def read(content, **options):
    return read_table(io.BytesIO(content), **options)


def outcome(read):
    """The rows, or the sentence that refuses them."""
    try:
        return read().rows()
    except InputError as error:
        return str(error)


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        ('\ufeffa,b\r\n"x\r\ny",2\r\n\r\n3,"say ""hi"""\r\n', [("x\r\ny", "2"), ("3", 'say "hi"')]),
        ("a,b,c\n007,1.50,NA\n,true,1e3\n", [("007", "1.50", "NA"), (None, "true", "1e3")]),
        ("a,b\r1,2\r3,4\r", [("1", "2"), ("3", "4")]),
        ("\n\na,b\n1,2", [("1", "2")]),
        ("a;b\n1,5;2\n", [("1,5", "2")]),
        ("a\tb\n1,5\t2\n", [("1,5", "2")]),
        ("a,b\nx\u2028y\x0b,z\x1c\n", [("x\u2028y\x0b", "z\x1c")]),
        ('a,b\n5" pipe,x\0y\n,""\n', [('5" pipe', "x\0y"), (None, None)]),
        ("a\n1\n\n2\n", [("1",), (None,), ("2",)]),
    ],
)
def test_files_as_they_are_met(content, rows):
    assert read(content.encode(), format="csv").rows() == rows


def test_names_of_columns():
    assert read(b",b,\n1,2,\n").columns == ["column 1", "b", "column 3"]
    text = "the input has more than one column 'a'; rename all but one of them in the header"
    assert outcome(lambda: read(b"a,b,a\n1,2,3\n")) == text


def test_a_text_of_many_lines_and_megabytes():
    long = "word\n" * 500_000
    assert read(f'a,b\n"{long}",é\n'.encode()).rows() == [(long, "é")]


@pytest.mark.parametrize("portion", [1, 1 << 20])
@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("a,b\n1,2\n3\n4,5\n", f"the row in line 3 has 1 field, but the header has 2; {FIX_FIELDS}"),
        ("a,b\n1,2\n3,4,5\n", f"the row in line 3 has 3 fields, but the header has 2; {FIX_FIELDS}"),
        ('a,b\n"1\n\r\n",2\n\n1,2,3\n', f"the row in line 6 has 3 fields, but the header has 2; {FIX_FIELDS}"),
        ('a,b\n1,2\n"3,4\n5,6\n', f"the row in line 3 {NOT_CLOSED}"),
        ('a,b\n1,2\n"x"y,2\n', f"the row in line 3 {NOT_CLOSED}"),
        ('a,b\n""hello"",2\n', f"the row in line 2 {NOT_CLOSED}"),
        ('a,"b\n1,2\n', f"the row in line 1 {NOT_CLOSED}"),
    ],
)
def test_the_line_of_a_malformed_row(monkeypatch, content, text, portion):
    monkeypatch.setattr(delimited, "_PORTION", portion)
    assert outcome(lambda: read(content.encode())) == f"the input: {text}"


PIECES = [",", "\n", '"', "\r\n", "\r", "a", "é", " ", ",b\n", '"x"', '""', "\x00"]
anything = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


@st.composite
def well_formed(draw):
    """Two columns, quoted as much as needed or more; the odd blank line."""
    cells = st.lists(st.sampled_from(PIECES), max_size=3).map("".join)
    made = io.StringIO()
    for row in draw(st.lists(st.tuples(cells, cells), max_size=12)):
        quoting = draw(st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]))
        end = draw(st.sampled_from(["\n", "\n", "\n", "\r\n", "\n\n"]))
        csv.writer(made, quoting=quoting, lineterminator=end).writerow(row)
    return made.getvalue()


@settings(max_examples=250, deadline=None)
@given(
    rows=anything | well_formed(),
    width=st.integers(1, 3),
    portion=st.sampled_from([1, 8, 1 << 20]),
    size=st.integers(1, 40),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "cp1252"]),
)
def test_by_polars_and_in_partitions_it_is_what_the_csv_module_reads(
    tmp_path_factory, rows, width, portion, size, encoding
):
    path = tmp_path_factory.getbasetemp() / "cut.csv"
    path.write_bytes((",".join("abc"[:width]) + "\n" + rows).encode(encoding))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delimited, "_PORTION", portion)
        patch.setattr(decoding, "CHUNK", 16)
        found = outcome(lambda: read_table(path, encoding=encoding))
        parts = outcome(lambda: pl.concat(part.read() for part in Batches(path, encoding=encoding).partitions(size)))
        patch.setattr(delimited, "_read_by_polars", lambda *args: None)
        assert found == outcome(lambda: read_table(path, encoding=encoding))
    assert parts == found or (parts == [] and "has no rows" in found)  # a small file is not counted beforehand


cell = (
    st.none()
    | st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
    | st.sampled_from(['"', "\r\n", ",", "\r"])
)


@settings(max_examples=100, deadline=None)
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
