"""CSV and TSV to a table of text: by polars where a portion is regular, else by Python's csv module.

Polars fills short rows in silence and tells no line, so it is given only what was seen to be regular; the csv module
reads the rest of the file from the first portion that is not.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from typing import Any

import numpy as np
import polars as pl

from .errors import InputError
from .source import Lines

_BATCH = 5_000  # rows; larger batches of Python lists keep the garbage collector busy
_PORTION = 1 << 23  # characters
_QUOTE, _NEWLINE = b'"\n'
_CELL = pl.when(pl.all() != "").then(pl.all())


def read_csv(name: str, lines: Lines, separator: str, report: Callable[[int], None]) -> pl.DataFrame:
    frames, n_rows = [], 0
    for frame in csv_frames(name, lines, separator):
        frames.append(frame)
        n_rows += frame.height
        if frame.height:
            report(n_rows)
    return pl.concat(frames)


def csv_frames(name: str, lines: Lines, separator: str) -> Iterator[pl.DataFrame]:
    """The rows in portions; the first one has none, and tells the columns.

    Blank lines are skipped, except in a table of one column, where they are empty cells.
    """
    with _fields_of_any_size():
        reader = csv.reader(lines, delimiter=separator, strict=True)
        columns: list[str] = []
        while not columns:  # blank lines above the header
            columns = next(iter(_batch(name, reader, 1, 0)))
    columns = _column_names(name, columns)
    schema = dict.fromkeys(columns, pl.String())
    yield pl.DataFrame(schema=schema)
    n_lines = reader.line_num
    while portion := _portion(lines):
        frame = _regular(portion, separator, schema)
        if frame is None:
            yield from _irregular(name, chain(io.StringIO(portion, newline=""), lines), separator, schema, n_lines)
            return
        yield frame
        n_lines += portion.count("\n")


def _portion(lines: Lines) -> str:
    """Lines up to the end of a row, if the quotes are regular."""
    portion: list[str] = []
    size = n_quotes = 0
    while size < _PORTION or (n_quotes % 2 and size < 2 * _PORTION):  # one stray quote must not fetch the whole file
        text = lines.block() if size < _PORTION else next(lines, "")
        if not text:
            break
        portion.append(text)
        size += len(text)
        n_quotes += text.count('"') if '"' in text else 0  # the latter is faster by far
    return "".join(portion)


def _regular(text: str, separator: str, schema: dict[str, pl.String]) -> pl.DataFrame | None:
    if len(schema) < 2 or ("\r" in text and text.count("\r") != text.count("\r\n")):
        return None
    content = (text if text.endswith("\n") else text + "\n").encode()
    n_rows = _n_regular_rows(np.frombuffer(content, np.uint8), ord(separator), len(schema))
    if n_rows is None:
        return None
    try:
        frame = pl.read_csv(content, has_header=False, schema=schema, separator=separator, infer_schema=False)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return None
    return frame.select(_CELL) if frame.height == n_rows else None


def _n_regular_rows(content: Any, separator: int, width: int) -> int | None:
    """The number of rows if each has as many fields as the header and quotes stand around whole fields."""
    at = np.flatnonzero((content == _QUOTE) | (content == separator) | (content == _NEWLINE))
    found = content[at]
    is_quote = found == _QUOTE
    if is_quote.any():
        opened = np.cumsum(is_quote) % 2 == 1
        before = content[at[is_quote & opened] - 1]  # of a quote at the very start: the newline at the very end
        after = content[at[is_quote & ~opened] + 1]
        around = [_QUOTE, separator, _NEWLINE]
        if opened[-1] or not (np.isin(before, around).all() and np.isin(after, [*around, ord("\r")]).all()):
            return None
        found = found[~opened & ~is_quote]
    ends = np.flatnonzero(found == _NEWLINE)
    return len(ends) if (np.diff(ends, prepend=-1) == width).all() else None


def _irregular(
    name: str, lines: Iterator[str], separator: str, schema: dict[str, pl.String], n_lines: int
) -> Iterator[pl.DataFrame]:
    width = len(schema)
    reader = csv.reader(lines, delimiter=separator, strict=True)
    while True:
        before = n_lines + reader.line_num
        with _fields_of_any_size():
            rows = _batch(name, reader, _BATCH, n_lines)
        if not rows:
            return
        _check_widths(name, rows, width, before, separator)
        filled = [row for row in rows if row] if width > 1 else [row or [""] for row in rows]
        cells = zip(*filled, strict=True) if filled else [()] * width
        yield pl.DataFrame(dict(zip(schema, cells, strict=True)), schema=schema).select(_CELL)


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
            "write a quote within a quoted field twice"
        ) from None
    return rows


def _check_widths(name: str, rows: list[list[str]], width: int, before: int, separator: str) -> None:
    if set(map(len, rows)) <= {0, width}:
        return
    at = next(i for i, row in enumerate(rows) if len(row) not in (0, width))
    line, found = before + _n_lines(rows[:at]) + 1, len(rows[at])
    raise InputError(
        f"{name}: the row in line {line} has {found} field{'s' if found > 1 else ''} where the header has {width}; "
        f"put a field with a {separator!r} or a line break in it between quotes"
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
