"""What a format of input files must say of itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import polars as pl

from ..content import Content


class Head(NamedTuple):
    """The beginning of a part, by which its format is recognised."""

    content: bytes
    text: str  # decoded, without byte order mark and leading blanks

    @property
    def first_line(self) -> str:
        return self.text.partition("\n")[0]


class Piece(NamedTuple):
    """A range of the rows of a part."""

    where: Any  # what `frames` needs to read this range alone; can be pickled
    n_rows: int | None  # None if they were not counted


def _never(head: Head) -> bool:
    return False


@dataclass(frozen=True)
class Format:
    """How one kind of file becomes frames.

    Parameters
    ----------
    title : in messages
    frames : (content, where) to the rows, in frames of any size; `where` is None, or comes from `split`. A frame
        without rows tells the columns of a table that has none
    suffixes : endings of file names
    is_surely : the content proves the format, whatever the name of the file
    is_likely : of content whose name says nothing; the first format of `FORMATS` that says so is taken
    is_text : it is in some encoding
    has_sheets : a sheet may be named
    is_uniform : every frame has the columns and the types of the first one. If not, a first pass finds them out
    split : (content, size) to ranges of about `size` bytes that can be read on their own, or None if this content
        must be read as a whole; by default every part is
    n_rows : their number, where it is known without reading them
    """

    title: str
    frames: Callable[[Content, Any], Iterator[pl.DataFrame]]
    suffixes: tuple[str, ...] = ()
    is_surely: Callable[[Head], bool] = _never
    is_likely: Callable[[Head], bool] = _never
    is_text: bool = True
    has_sheets: bool = False
    is_uniform: bool = True
    split: Callable[[Content, int], list[Piece] | None] | None = None
    n_rows: Callable[[Content], int | None] | None = None
