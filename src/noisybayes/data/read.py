"""Tables from CSV, TSV, JSON lines and Parquet files, and back to files."""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import polars as pl

from .._files import whole_file
from .cells import as_text
from .csv_rows import read_csv
from .errors import InputError
from .json_lines import read_json_lines
from .source import check_encoding, lines, opened

Report = Callable[[int], None]

FORMATS = ("csv", "tsv", "jsonl", "parquet")
_SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
_HEAD = 1 << 16
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)  # its zero bytes are text; the reader says which option it needs


def read_table(
    source: str | Path | BinaryIO,
    *,
    format: str | None = None,
    encoding: str = "utf-8",
    report: Report | None = None,
) -> pl.DataFrame:
    """All rows of a file, of an open binary file, or of standard input ("-").

    Parameters
    ----------
    format : "csv", "tsv", "jsonl" or "parquet"; by default told by the name of the file, or else by its content
    encoding : of CSV, TSV and JSON lines
    report : is told the number of rows read so far, now and then

    Cells of CSV and TSV stay text, so that writing them again loses nothing; empty ones are null. Compressed content
    (gzip, bzip2, xz, zstd) is recognised by itself. A column without a name is named by its position.
    """
    check_encoding(encoding)
    if format is not None and format not in FORMATS:
        raise InputError(f"there is no format {format!r}; it must be one of {', '.join(FORMATS)}")
    with opened(source) as (name, chunks):
        first = next(chunks, b"")
        head = first[:_HEAD].decode(encoding, "replace").lstrip("\ufeff").lstrip()
        if not head:
            raise InputError(f"{name} is empty; give a table with a header and rows")
        kind = format or _format(name, first, head)
        chunks = chain([first], chunks)
        progress = report or (lambda n_rows: None)
        if kind == "parquet":
            frame = _read_parquet(name, b"".join(chunks), progress)
        elif kind == "jsonl":
            frame = read_json_lines(name, lines(name, chunks, encoding), progress)
        else:
            separator = "\t" if kind == "tsv" else _separator(head)
            frame = read_csv(name, lines(name, chunks, encoding), separator, progress)
    if not frame.height:
        columns = f" but the header ({', '.join(frame.columns)})" if frame.width else ""
        raise InputError(f"{name} has no rows{columns}; give a table with rows")
    return frame.rechunk()


def write_table(frame: pl.DataFrame, path: str | Path, format: str) -> None:
    """Write "csv" or "parquet". In CSV, lists and bytes become text."""
    if format not in ("csv", "parquet"):
        raise InputError(f"a table cannot be written as {format!r}; choose csv or parquet")
    with whole_file(Path(path)) as made:
        if format == "parquet":
            frame.write_parquet(made)
        else:
            odd = [column for column in frame if column.dtype.is_nested() or column.dtype in (pl.Object, pl.Binary)]
            frame.with_columns([as_text(column) for column in odd]).write_csv(made)


def _format(name: str, first: bytes, head: str) -> str:
    """The name of the file decides; of a name that says nothing, the content."""
    if first.startswith(b"PAR1"):
        return "parquet"
    known = [_SUFFIXES[suffix] for suffix in map(str.lower, Path(name).suffixes[-2:]) if suffix in _SUFFIXES]
    if known:
        return known[-1]
    is_zip = first.startswith(b"PK\3\4")
    if is_zip or ("\0" in head and not first.startswith(_UTF16)):
        what = "a ZIP or Excel file" if is_zip else "no text"
        raise InputError(f"the format of {name} is unknown (it is {what}); save it as CSV, JSON lines or Parquet")
    if head[0] in "{[":
        return "jsonl"
    header = _first_line(head)
    return "tsv" if header.count("\t") > header.count(",") else "csv"


def _first_line(head: str) -> str:
    return next(io.StringIO(head))


def _separator(head: str) -> str:
    """The comma, or what spreadsheets write instead in some countries."""
    header = _first_line(head)
    return next((separator for separator in ",;\t" if separator in header), ",")


def _read_parquet(name: str, content: bytes, report: Report) -> pl.DataFrame:
    try:
        frame = pl.read_parquet(content)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise InputError(f"{name} is not a Parquet file, or a damaged one ({reason}); write it again") from None
    report(frame.height)
    return frame
