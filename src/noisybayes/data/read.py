"""Read tables from files of every format, and write them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

import polars as pl

from .._files import whole_file
from .batches import common_schema, no_rows, readers_of, schema_of, unified
from .cells import as_text
from .decoding import check_encoding
from .errors import InputError
from .formats import known_suffixes
from .parts import Source, find_parts
from .spreadsheets import neutral_frame, write_workbook

Report = Callable[[int], None]
_NOT_IN_CSV = (pl.Object, pl.Binary, pl.Duration)


def read_table(
    source: Source,
    *,
    format: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    report: Report | None = None,
    tell: Callable[[str], None] | None = None,
) -> pl.DataFrame:
    """All rows of a file, of several parts, of an open binary file, or of standard input ("-").

    Parameters
    ----------
    source : a path, a folder of parts, a pattern such as ``parts/*.csv``, a URL that fsspec reads, a list of these, or
        an open binary file
    format : a key of `FORMATS`; by default detected from the file name, or else from the content
    encoding : of text formats; by default it is detected
    sheet : of an Excel file, by name; by default the first one
    report : called from time to time with the number of rows read so far
    tell : called with sentences about guesses, such as the encoding

    Cells of CSV and TSV stay text, so that writing them again loses nothing; empty ones are null. Compression (gzip,
    bzip2, xz, zstd) is detected automatically. A column without a name is named by its position.
    """
    if encoding is not None:
        check_encoding(encoding)
    parts = find_parts(source, known_suffixes())
    frames: list[pl.DataFrame] = []
    n_rows = 0
    readers, notes = readers_of(parts, format, encoding, sheet)
    for note in notes:
        if tell is not None:
            tell(note)
    for reader in readers:
        for _, frame in reader.frames():
            frames.append(frame)
            n_rows += frame.height
            if frame.height and report is not None:
                report(n_rows)
    # JSON types are known only now; those of other formats were known from their first frames
    schema = common_schema(frame.schema for frame in frames) if len(readers) == 1 else schema_of(readers)
    if not n_rows:
        raise no_rows(parts[0].name, list(schema.schema))
    return pl.concat([unified(frame, schema) for frame in frames]).rechunk()


def write_table(frame: pl.DataFrame, path: str | Path, format: str, *, neutral: bool = False) -> None:
    """Write "csv", "parquet" or "xlsx". In CSV, lists and bytes become text, and with `neutral` also formulas."""
    write_batches([frame], path, format, neutral=neutral)


def write_batches(frames: Iterable[pl.DataFrame], path: str | Path, format: str, *, neutral: bool = False) -> None:
    """The same for a table in parts."""
    if format not in ("csv", "parquet", "xlsx"):
        raise InputError(f"a table cannot be written as {format!r}; choose csv, parquet or xlsx")
    with whole_file(Path(path)) as target:
        if format == "parquet":
            _write_parquet(frames, target)
        elif format == "xlsx":
            write_workbook(map(_as_written, frames), target)
        else:
            _write_csv(map(neutral_frame, map(_as_written, frames)) if neutral else map(_as_written, frames), target)


def _as_written(frame: pl.DataFrame) -> pl.DataFrame:
    odd = [column for column in frame if column.dtype.is_nested() or column.dtype in _NOT_IN_CSV]
    return frame.with_columns([as_text(column) for column in odd])


def _write_csv(frames: Iterable[pl.DataFrame], path: Path) -> None:
    with path.open("wb") as file:
        for number, frame in enumerate(frames):
            frame.write_csv(file, include_header=number == 0)


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
