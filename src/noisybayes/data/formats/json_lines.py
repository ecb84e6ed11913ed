"""JSON lines: one object per line."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import polars as pl

from ..content import Content
from ..decoding import is_ascii_based
from .base import Format, Head, Piece
from .records import frames_of, line_records


class Range(NamedTuple):
    """Whole lines of an uncompressed file."""

    start: int  # bytes
    stop: int
    n_lines: int  # above it


def _frames(content: Content, where: Range | None) -> Iterator[pl.DataFrame]:
    start, stop, n_lines = (0, None, 0) if where is None else where
    return frames_of(content.name, line_records(content.name, content.lines(start, stop), n_lines))


def split_lines(content: Content, size: int) -> list[Piece] | None:
    """A line break within a JSON string is written as \\n, so every line break in the file ends an object."""
    if content.path is None or not is_ascii_based(content.encoding) or content.n_bytes <= size:
        return None
    cuts, position, n_lines = [(0, 0)], 0, 0
    for chunk in content.chunks():
        wanted = cuts[-1][0] + size - position
        end = chunk.find(b"\n", max(wanted, 0)) + 1 if wanted < len(chunk) else 0
        if end:
            cuts.append((position + end, n_lines + chunk.count(b"\n", 0, end)))
        position, n_lines = position + len(chunk), n_lines + chunk.count(b"\n")
    ends = pairwise([*cuts, (position, 0)])
    return [Piece(Range(start, stop, above), None) for (start, above), (stop, _) in ends if start < stop]


def _is_object(head: Head) -> bool:
    return head.text[0] == "{"


JSON_LINES = Format(
    "JSON lines",
    frames=_frames,
    suffixes=(".jsonl", ".ndjson"),
    is_likely=_is_object,
    is_uniform=False,
    split=split_lines,
)
