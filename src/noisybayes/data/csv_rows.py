"""CSV and TSV to a table of text, by Python's csv module: polars fills short rows in silence and tells no line."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

import polars as pl

from .errors import InputError

_BATCH = 5_000  # rows; larger batches of Python lists keep the garbage collector busy


def read_csv(name: str, text: Iterator[str], separator: str, report: Callable[[int], None]) -> pl.DataFrame:
    """Blank lines are skipped, except in a table of one column, where they are empty cells."""
    with _fields_of_any_size():
        reader = csv.reader(text, delimiter=separator, strict=True)
        columns: list[str] = []
        while not columns:  # blank lines above the header
            columns = next(iter(_batch(name, reader, 1)))
        columns = _column_names(name, columns)
        schema = dict.fromkeys(columns, pl.String())
        frames, n_rows = [pl.DataFrame(schema=schema)], 0
        before = reader.line_num
        while rows := _batch(name, reader, _BATCH):
            _check_widths(name, rows, len(columns), before, separator)
            before = reader.line_num
            filled = [row for row in rows if row] if len(columns) > 1 else [row or [""] for row in rows]
            cells = zip(*filled, strict=True) if filled else [()] * len(columns)
            frames.append(pl.DataFrame(dict(zip(columns, cells, strict=True)), schema=schema))
            n_rows += len(filled)
            report(n_rows)
    cell = pl.all()
    return pl.concat(frames).select(pl.when(cell != "").then(cell))


@contextmanager
def _fields_of_any_size() -> Iterator[None]:
    limit = csv.field_size_limit(2**31 - 1)  # by default, a text of more than 128 kB is an error
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def _batch(name: str, reader: Any, size: int) -> list[list[str]]:
    rows: list[list[str]] = []
    before = reader.line_num
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
