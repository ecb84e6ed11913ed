"""Parquet files. Polars skips the row groups that a slice of the rows does not touch."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from ..errors import InputError
from ..parts import Content
from .base import Format, Head, Piece

_ROWS = 100_000  # rows of a frame, unless they are long
_FIRST_ROWS = 10_000  # these show how long rows are
_FEWEST_ROWS = 1_000
_BYTES = 1 << 24  # bytes of a frame: a file of a few kilobytes may contain gigabytes of text
_ERRORS = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)


class Rows(NamedTuple):
    start: int
    stop: int


def _frames(content: Content, where: Rows | None) -> Iterator[pl.DataFrame]:
    table = _scan(content)
    n_rows = _count(table, content)
    start, stop = (0, n_rows) if where is None else where
    yield _empty(table, content)
    wanted = min(_FIRST_ROWS, _ROWS)
    while start < stop:
        frame = _slice(table, content, start, min(wanted, stop - start))
        start += frame.height
        content.bytes_read = content.n_bytes * start // n_rows
        wanted = min(_ROWS, max(_FEWEST_ROWS, _BYTES * frame.height // max(int(frame.estimated_size()), 1)))
        yield frame


def _slice(table: pl.LazyFrame, content: Content, start: int, wanted: int) -> pl.DataFrame:
    where = f"{content.name}: rows {start + 1} to {start + wanted} of the Parquet file cannot be read"
    try:
        frame = table.slice(start, wanted).collect()
    except _ERRORS as error:
        reason = str(error).partition("\n")[0]
        raise InputError(f"{where} ({reason}); write it again") from None
    if frame.height != wanted:
        raise InputError(f"{where} (there are only {frame.height}); write it again")
    return frame


def _split(content: Content, size: int) -> list[Piece] | None:
    """Equal numbers of rows, from the size of the file."""
    n_rows = _n_rows(content)
    if n_rows is None:
        return None
    n_pieces = max(1, min(n_rows, -(-content.n_bytes // size)))
    cuts = [n_rows * i // n_pieces for i in range(n_pieces + 1)]
    return [Piece(Rows(cuts[i], cuts[i + 1]), cuts[i + 1] - cuts[i]) for i in range(n_pieces)]


def _n_rows(content: Content) -> int | None:
    return None if content.path is None else _count(_scan(content), content)


def _scan(content: Content) -> pl.LazyFrame:
    if content.path is not None:
        return pl.scan_parquet(content.path, glob=False)
    return pl.scan_parquet(io.BytesIO(content.everything()))


def _count(table: pl.LazyFrame, content: Content) -> int:
    try:
        return int(table.select(pl.len()).collect().item())
    except _ERRORS as error:
        raise _not_parquet(content, error) from None


def _empty(table: pl.LazyFrame, content: Content) -> pl.DataFrame:
    try:
        return pl.DataFrame(schema=table.collect_schema())
    except _ERRORS as error:
        raise _not_parquet(content, error) from None


def _not_parquet(content: Content, error: BaseException) -> InputError:
    reason = str(error).partition("\n")[0]
    return InputError(f"{content.name} is not a Parquet file, or is damaged ({reason}); write it again")


def _is_parquet(head: Head) -> bool:
    return head.content.startswith(b"PAR1")


PARQUET = Format(
    "Parquet",
    frames=_frames,
    suffixes=(".parquet", ".pq"),
    is_certain=_is_parquet,
    is_text=False,
    split=_split,
    n_rows=_n_rows,
)
