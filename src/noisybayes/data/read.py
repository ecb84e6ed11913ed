"""Tables from CSV, TSV, JSON lines and Parquet files, and back to files."""

from __future__ import annotations

import codecs
import io
import tempfile
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import polars as pl

from .._files import whole_file
from .cells import as_text
from .csv_rows import read_csv
from .errors import InputError
from .json_lines import read_json_lines
from .source import Lines, check_encoding, opened

Report = Callable[[int], None]

FORMATS = ("csv", "tsv", "jsonl", "parquet")
_SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
PARQUET_ERRORS = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
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
    with opened(source) as (name, chunks):
        kind, separator, chunks = recognised(name, chunks, format, encoding)
        progress = report or (lambda n_rows: None)
        if kind == "parquet":
            frame = _read_parquet(name, b"".join(chunks), progress)
        elif kind == "jsonl":
            frame = read_json_lines(name, Lines(name, chunks, encoding), progress)
        else:
            frame = read_csv(name, Lines(name, chunks, encoding), separator, progress)
    if not frame.height:
        raise no_rows(name, frame.columns)
    return frame.rechunk()


def recognised(
    name: str, chunks: Iterator[bytes], format: str | None, encoding: str
) -> tuple[str, str, Iterator[bytes]]:
    """The format of some content, the separator of its cells, and the content from its beginning."""
    check_encoding(encoding)
    if format is not None and format not in FORMATS:
        raise InputError(f"there is no format {format!r}; it must be one of {', '.join(FORMATS)}")
    first = next(chunks, b"")
    head = first[:_HEAD].decode(encoding, "replace").lstrip("\ufeff").lstrip()
    if not head:
        raise InputError(f"{name} is empty; give a table with a header and rows")
    kind = format or _format(name, first, head)
    return kind, "\t" if kind == "tsv" else _separator(head), chain([first], chunks)


def no_rows(name: str, columns: list[str]) -> InputError:
    header = f" but the header ({', '.join(columns)})" if columns else ""
    return InputError(f"{name} has no rows{header}; give a table with rows")


def write_table(frame: pl.DataFrame, path: str | Path, format: str) -> None:
    """Write "csv" or "parquet". In CSV, lists and bytes become text."""
    write_batches([frame], path, format)


def write_batches(frames: Iterable[pl.DataFrame], path: str | Path, format: str) -> None:
    """The same of a table that comes in parts."""
    if format not in ("csv", "parquet"):
        raise InputError(f"a table cannot be written as {format!r}; choose csv or parquet")
    with whole_file(Path(path)) as made:
        (_write_parquet if format == "parquet" else _write_csv)(frames, made)


def _write_csv(frames: Iterable[pl.DataFrame], path: Path) -> None:
    with path.open("wb") as file:
        for number, frame in enumerate(frames):
            odd = [column for column in frame if column.dtype.is_nested() or column.dtype in (pl.Object, pl.Binary)]
            frame.with_columns([as_text(column) for column in odd]).write_csv(file, include_header=number == 0)


def _write_parquet(frames: Iterable[pl.DataFrame], path: Path) -> None:
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".parts.") as folder:
        parts = []
        for number, frame in enumerate(frames):
            parts.append(Path(folder) / f"{number:06d}.parquet")
            frame.write_parquet(parts[-1])
        if len(parts) == 1:
            parts[0].replace(path)
        else:
            pl.scan_parquet(parts).sink_parquet(path)


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
    except PARQUET_ERRORS as error:
        raise no_parquet(name, error) from None
    report(frame.height)
    return frame


def no_parquet(name: str, error: BaseException) -> InputError:
    reason = str(error).partition("\n")[0]
    return InputError(f"{name} is not a Parquet file, or a damaged one ({reason}); write it again")
