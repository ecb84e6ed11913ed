"""CSV and TSV files, read by polars in portions of whole rows.

Polars fills short rows in silence and cannot say where a file is wrong, so Python's csv module checks each portion, and
reads the rest of a file from the first one that polars does not take: slowly, but with the line of a malformed row.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import chain, islice
from typing import Any, NamedTuple

import polars as pl

from ..decoding import Lines, is_ascii_based
from ..errors import InputError
from ..parts import Content
from .base import Format, Head, Piece

_HEAD = 1 << 16
_BATCH = 5_000  # rows; larger batches of Python lists keep the garbage collector busy
_PORTION = 1 << 23  # characters
_CELL = pl.when(pl.all() != "").then(pl.all())


class Layout(NamedTuple):
    """The information in the header."""

    separator: str
    columns: tuple[str, ...]
    n_lines: int  # of the header


class Range(NamedTuple):
    """Whole rows of an uncompressed file."""

    start: int  # bytes
    stop: int
    n_lines: int  # above it
    layout: Layout


def _frames(content: Content, where: Range | None, separator: str | None) -> Iterator[pl.DataFrame]:
    """The rows in portions; the first one has no rows and gives the columns.

    Blank lines are skipped, except in a table of one column, where they are empty cells.
    """
    if where is None:
        lines = content.lines()
        layout = _read_header(content.name, lines, separator or _separator(content))
        n_lines = layout.n_lines
    else:
        lines, layout, n_lines = content.lines(where.start, where.stop), where.layout, where.n_lines
    yield pl.DataFrame(schema=dict.fromkeys(layout.columns, pl.String()))
    while portion := _portion(lines):
        frame = _read_by_polars(portion, layout)
        if frame is None:
            rest = chain(io.StringIO(portion, newline=""), lines)
            yield from _read_by_csv(content.name, rest, layout, n_lines)
            return
        yield frame
        n_lines += portion.count("\n")


def _split(content: Content, size: int, separator: str | None) -> list[Piece] | None:
    """Finding where rows begin takes a pass over all of them: a line break between quotes does not begin a row.

    What polars does not take is one last piece.
    """
    if content.path is None or not is_ascii_based(content.encoding) or content.n_bytes <= size:
        return None
    lines = content.lines()
    layout = _read_header(content.name, lines, separator or _separator(content))
    header = islice(content.lines(), layout.n_lines)
    start = at = sum(len(line.encode(content.encoding)) for line in header) + (
        len(codecs.BOM_UTF8) if content.head().startswith(codecs.BOM_UTF8) else 0
    )
    n_lines = above = layout.n_lines
    pieces: list[Piece] = []
    n_rows = 0
    lines = content.lines(start)
    while portion := _portion(lines):
        frame = _read_by_polars(portion, layout)
        if frame is None:
            return [*pieces, Piece(Range(start, content.n_bytes, above, layout), None)]
        at, n_lines = at + len(portion.encode(content.encoding)), n_lines + portion.count("\n")
        n_rows += frame.height
        if at - start >= size:
            pieces.append(Piece(Range(start, at, above, layout), n_rows))
            start, above, n_rows = at, n_lines, 0
    return [*pieces, Piece(Range(start, at, above, layout), n_rows)] if n_rows else pieces


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


def _read_by_polars(text: str, layout: Layout) -> pl.DataFrame | None:
    """The rows; None if one of them is not as wide as the header, or quotes do not enclose whole fields."""
    width = len(layout.columns)
    # in one column, a blank line is an empty cell; old programs end lines with \r
    if width < 2 or text.count("\r") != text.count("\r\n"):
        return None
    try:
        if '"' in text and not _is_regular(text, layout):
            return None
        frame = pl.read_csv(
            (text if text.endswith("\n") else text + "\n").encode(),
            has_header=False,
            schema=dict.fromkeys(layout.columns, pl.String()),
            separator=layout.separator,
            infer_schema=False,
        ).select(_CELL)
        # a longer row is an error; of a shorter one, the last cell is missing
        is_full = '"' in text or not frame.to_series(-1).null_count() or _is_regular(text, layout)
        return frame if is_full else None
    except (csv.Error, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return None


def _is_regular(text: str, layout: Layout) -> bool:
    rows = _csv_reader(io.StringIO(text, newline=""), layout.separator)
    return all(len(row) == len(layout.columns) for row in rows)


def _read_by_csv(name: str, lines: Iterator[str], layout: Layout, n_lines: int) -> Iterator[pl.DataFrame]:
    """The rows, or an error that names the line."""
    width, reader = len(layout.columns), _csv_reader(lines, layout.separator)
    rows: list[list[str]] = []
    line = n_lines + 1
    try:
        for row in reader:
            if len(row) != width and row:
                raise InputError(
                    f"{name}: the row in line {line} has {len(row)} field{'s' if len(row) > 1 else ''}, but the header "
                    f"has {width}; quote fields that contain a {layout.separator!r} or a line break"
                )
            line = n_lines + reader.line_num + 1
            if row or width == 1:
                rows.append(row or [""])
            if len(rows) == _BATCH:
                yield _frame(rows, layout)
                rows = []
    except csv.Error:
        raise _not_closed(name, line) from None
    if rows:
        yield _frame(rows, layout)


def _frame(rows: list[list[str]], layout: Layout) -> pl.DataFrame:
    return pl.DataFrame(dict(zip(layout.columns, zip(*rows, strict=True), strict=True))).select(_CELL)


def _read_header(name: str, lines: Lines, separator: str) -> Layout:
    reader = _csv_reader(lines, separator)
    try:
        header = next(filter(None, reader))  # blank lines above it
    except csv.Error:
        raise _not_closed(name, 1) from None
    columns = [column or f"column {position}" for position, column in enumerate(header, 1)]
    twice = [column for column, count in Counter(columns).items() if count > 1]
    if twice:
        raise InputError(f"{name} has more than one column {twice[0]!r}; rename all but one of them in the header")
    return Layout(separator, tuple(columns), reader.line_num)


def _csv_reader(lines: Iterator[str], separator: str) -> Any:
    csv.field_size_limit(2**31 - 1)  # by default, a text of more than 128 kB is an error
    return csv.reader(lines, delimiter=separator, strict=True)


def _not_closed(name: str, line: int) -> InputError:
    return InputError(
        f'{name}: the row in line {line} has a quote (") that is not closed before the end of its field; '
        "double a quote within a quoted field"
    )


def _separator(content: Content) -> str:
    """The comma, or the separator that spreadsheets use in some countries."""
    text = content.head()[:_HEAD].decode(content.encoding, "replace").lstrip("\ufeff").lstrip()
    header = text.partition("\n")[0]
    return next((separator for separator in ",;\t" if separator in header), ",")


def _is_text(head: Head) -> bool:
    return True


def _has_tabs(head: Head) -> bool:
    return head.first_line.count("\t") > head.first_line.count(",")


CSV = Format(
    "CSV",
    frames=partial(_frames, separator=None),
    suffixes=(".csv",),
    is_likely=_is_text,
    split=partial(_split, separator=None),
)
TSV = Format(
    "TSV",
    frames=partial(_frames, separator="\t"),
    suffixes=(".tsv",),
    is_likely=_has_tabs,
    split=partial(_split, separator="\t"),
)
