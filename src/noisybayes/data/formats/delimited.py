"""CSV and TSV files."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import polars as pl

from ..content import Content
from ..csv_rows import Layout, csv_frames, read_header, scan
from ..decoding import is_ascii_based
from .base import Format, Head, Piece

_HEAD = 1 << 16


class Range(NamedTuple):
    """Whole rows of an uncompressed file."""

    start: int  # bytes
    stop: int
    n_lines: int  # above it
    layout: Layout


def _frames(content: Content, where: Range | None, separator: str | None) -> Iterator[pl.DataFrame]:
    if where is not None:
        lines = content.lines(where.start, where.stop)
        yield from csv_frames(content.name, lines, where.layout, where.n_lines)
        return
    lines = content.lines()
    header = read_header(content.name, lines, separator or _separator(content))
    yield from csv_frames(content.name, lines, header.layout, header.n_lines)


def _split(content: Content, size: int, separator: str | None) -> list[Piece] | None:
    """Finding where rows begin takes a pass over all of them: a line break between quotes does not begin a row."""
    if content.path is None or not is_ascii_based(content.encoding) or content.n_bytes <= size:
        return None
    lines = content.lines()
    header = read_header(content.name, lines, separator or _separator(content), content.encoding)
    start = header.n_bytes + (len(codecs.BOM_UTF8) if content.head().startswith(codecs.BOM_UTF8) else 0)
    lines = content.lines(start)
    cuts, n_rows = [(start, header.n_lines)], [0]
    for block in scan(content.name, lines, header.layout, header.n_lines, content.encoding):
        n_rows[-1] += block.n_rows
        if start + block.n_bytes - cuts[-1][0] >= size:
            cuts.append((start + block.n_bytes, block.n_lines))
            n_rows.append(0)
    ends = pairwise([*cuts, (content.n_bytes, 0)])
    ranges = [Range(begin, end, n_lines, header.layout) for (begin, n_lines), (end, _) in ends]
    return [Piece(where, rows) for where, rows in zip(ranges, n_rows, strict=True) if rows]


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
