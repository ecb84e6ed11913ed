"""CSV and TSV to a table of text: by polars where a portion is regular, else by Python's csv module.

Polars silently fills short rows and reports no line numbers, so it gets only portions known to be regular; the csv
module reads the rest of the file from the first portion that is not.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from .decoding import Lines
from .errors import InputError

_BATCH = 5_000  # rows; larger batches of Python lists keep the garbage collector busy
_PORTION = 1 << 23  # characters
_QUOTE, _NEWLINE = b'"\n'
_CELL = pl.when(pl.all() != "").then(pl.all())


class Layout(NamedTuple):
    """The information in the header."""

    separator: str
    columns: tuple[str, ...]

    @property
    def schema(self) -> dict[str, pl.String]:
        return dict.fromkeys(self.columns, pl.String())


class Header(NamedTuple):
    layout: Layout
    n_lines: int
    n_bytes: int  # of these lines


class Scanned(NamedTuple):
    """A counted portion of rows, and where it ends."""

    n_rows: int
    n_lines: int  # of the file, up to their end
    n_bytes: int  # from the first row of all to their end


def read_header(name: str, lines: Lines, separator: str, encoding: str = "utf-8") -> Header:
    measured = _Measured(lines, encoding)
    with _fields_of_any_size():
        reader = csv.reader(measured, delimiter=separator, strict=True)
        columns: list[str] = []
        while not columns:  # blank lines above the header
            columns = next(iter(_batch(name, reader, 1, 0)))
    return Header(Layout(separator, tuple(_column_names(name, columns))), reader.line_num, measured.n_bytes)


def csv_frames(name: str, lines: Lines, layout: Layout, n_lines: int) -> Iterator[pl.DataFrame]:
    """The rows in portions; the first one has no rows and gives the columns.

    Blank lines are skipped, except in a table of one column, where they are empty cells. There are `n_lines` lines
    above the rows.
    """
    yield pl.DataFrame(schema=layout.schema)
    while portion := _portion(lines):
        frame = _regular(portion, layout)
        if frame is None:
            for rows, _ in _irregular(name, chain(_lines_of(portion), lines), layout, n_lines):
                yield _frame(rows, layout)
            return
        yield frame
        n_lines += portion.count("\n")


def scan(name: str, lines: Lines, layout: Layout, n_lines: int, encoding: str) -> Iterator[Scanned]:
    """Count the rows and find where they end, as `csv_frames` reads them."""
    n_bytes = 0
    while portion := _portion(lines):
        n_rows = _n_plain_rows(portion, layout)
        if n_rows is None:
            n_rows = _n_regular_rows(portion, layout)
        if n_rows is None:
            rest = _Measured(chain(_lines_of(portion), lines), encoding)
            for rows, n_read in _irregular(name, rest, layout, n_lines):
                yield Scanned(len(rows), n_read, n_bytes + rest.n_bytes)
            return
        n_lines += portion.count("\n")
        n_bytes += len(portion.encode(encoding))
        yield Scanned(n_rows, n_lines, n_bytes)


def _n_plain_rows(text: str, layout: Layout) -> int | None:
    """The number of rows if every line is one, which is quick to see; the reader checks whether each has all fields."""
    if len(layout.columns) < 2 or '"' in text or "\r" in text or text.startswith("\n") or "\n\n" in text:
        return None
    return text.count("\n") + (not text.endswith("\n"))


class _Measured:
    """Lines, and the number of bytes consumed."""

    def __init__(self, lines: Iterator[str], encoding: str) -> None:
        self._lines, self._encoding, self.n_bytes = lines, encoding, 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.n_bytes += len(line.encode(self._encoding))
        return line


def _lines_of(portion: str) -> Iterator[str]:
    return io.StringIO(portion, newline="")


def _portion(lines: Lines) -> str:
    """Lines up to the end of a row, if the quotes are regular."""
    portion: list[str] = []
    size = n_quotes = 0
    while size < _PORTION or (n_quotes % 2 and size < 2 * _PORTION):  # one stray quote must not pull in the whole file
        text = lines.block() if size < _PORTION else next(lines, "")
        if not text:
            break
        portion.append(text)
        size += len(text)
        n_quotes += text.count('"') if '"' in text else 0  # the latter is much faster
    return "".join(portion)


def _regular(text: str, layout: Layout) -> pl.DataFrame | None:
    n_rows = _n_regular_rows(text, layout)
    if n_rows is None:
        return None
    try:
        frame = pl.read_csv(
            _ended(text), has_header=False, schema=layout.schema, separator=layout.separator, infer_schema=False
        )
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return None
    return frame.select(_CELL) if frame.height == n_rows else None


def _ended(text: str) -> bytes:
    return (text if text.endswith("\n") else text + "\n").encode()


def _n_regular_rows(text: str, layout: Layout) -> int | None:
    """The number of rows if each has as many fields as the header and quotes enclose whole fields."""
    width = len(layout.columns)
    if width < 2 or ("\r" in text and text.count("\r") != text.count("\r\n")):
        return None
    content, separator = np.frombuffer(_ended(text), np.uint8), ord(layout.separator)
    at = np.flatnonzero((content == _QUOTE) | (content == separator) | (content == _NEWLINE))
    marks = content[at]
    is_quote = marks == _QUOTE
    if is_quote.any():
        opened = np.cumsum(is_quote) % 2 == 1
        before = content[at[is_quote & opened] - 1]  # for a quote at the very start: the newline at the very end
        after = content[at[is_quote & ~opened] + 1]
        around = [_QUOTE, separator, _NEWLINE]
        if opened[-1] or not (np.isin(before, around).all() and np.isin(after, [*around, ord("\r")]).all()):
            return None
        marks = marks[~opened & ~is_quote]
    ends = np.flatnonzero(marks == _NEWLINE)
    return len(ends) if (np.diff(ends, prepend=-1) == width).all() else None


def _irregular(name: str, lines: Iterator[str], layout: Layout, n_lines: int) -> Iterator[tuple[list[list[str]], int]]:
    """Rows from the csv module, and the number of lines up to their end."""
    width = len(layout.columns)
    reader = csv.reader(lines, delimiter=layout.separator, strict=True)
    while True:
        before = n_lines + reader.line_num
        with _fields_of_any_size():
            rows = _batch(name, reader, _BATCH, n_lines)
        if not rows:
            return
        _check_widths(name, rows, width, before, layout.separator)
        filled = [row for row in rows if row] if width > 1 else [row or [""] for row in rows]
        yield filled, n_lines + reader.line_num


def _frame(rows: list[list[str]], layout: Layout) -> pl.DataFrame:
    cells = zip(*rows, strict=True) if rows else [()] * len(layout.columns)
    return pl.DataFrame(dict(zip(layout.columns, cells, strict=True)), schema=layout.schema).select(_CELL)


@contextmanager
def _fields_of_any_size() -> Iterator[None]:
    limit = csv.field_size_limit(2**31 - 1)  # by default, a text of more than 128 kB is an error
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def _batch(name: str, reader: Any, size: int, n_lines: int) -> list[list[str]]:
    rows: list[list[str]] = []
    before = n_lines + reader.line_num
    try:
        rows.extend(islice(reader, size))
    except csv.Error:
        line = before + _n_lines(rows) + 1
        raise InputError(
            f'{name}: the row in line {line} has a quote (") that is not closed before the end of its field; '
            "double a quote within a quoted field"
        ) from None
    return rows


def _check_widths(name: str, rows: list[list[str]], width: int, before: int, separator: str) -> None:
    if set(map(len, rows)) <= {0, width}:
        return
    at = next(i for i, row in enumerate(rows) if len(row) not in (0, width))
    line, n_cells = before + _n_lines(rows[:at]) + 1, len(rows[at])
    raise InputError(
        f"{name}: the row in line {line} has {n_cells} field{'s' if n_cells > 1 else ''}, but the header has {width}; "
        f"quote fields that contain a {separator!r} or a line break"
    )


def _n_lines(rows: list[list[str]]) -> int:
    breaks = (field.count("\n") + field.count("\r") - field.count("\r\n") for row in rows for field in row)
    return len(rows) + sum(breaks)


def _column_names(name: str, header: list[str]) -> list[str]:
    columns = [column or f"column {position}" for position, column in enumerate(header, 1)]
    twice = [column for column, count in Counter(columns).items() if count > 1]
    if twice:
        raise InputError(f"{name} has more than one column {twice[0]!r}; rename all but one of them in the header")
    return columns
