"""The description of an input format."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import polars as pl

from ..parts import Content


class Head(NamedTuple):
    """The beginning of a part, used to detect its format."""

    content: bytes
    text: str  # decoded, without byte order mark and leading whitespace

    @property
    def first_line(self) -> str:
        return self.text.partition("\n")[0]


class Piece(NamedTuple):
    """A range of the rows of a part."""

    where: Any  # what `frames` needs to read only this range; can be pickled
    n_rows: int | None  # None if they were not counted


def _never(head: Head) -> bool:
    return False


@dataclass(frozen=True)
class Format:
    """How one kind of file becomes frames.

    Parameters
    ----------
    title : for messages
    frames : (content, where) -> the rows, in frames of any size; `where` is None or comes from `split`. A frame
        without rows gives the columns of an empty table
    suffixes : of file names
    is_certain : the content proves the format, whatever the name of the file
    is_likely : for content whose name says nothing; the first likely format in `FORMATS` is used
    is_text : whether the content has an encoding
    has_sheets : whether a sheet can be selected
    is_uniform : every frame has the columns and types of the first one. If not, a first pass determines them
    split : (content, size) -> ranges of about `size` bytes that can be read independently, or None if this content
        must be read as a whole, which is the default
    n_rows : their number, if known without reading them
    """

    title: str
    frames: Callable[[Content, Any], Iterator[pl.DataFrame]]
    suffixes: tuple[str, ...] = ()
    is_certain: Callable[[Head], bool] = _never
    is_likely: Callable[[Head], bool] = _never
    is_text: bool = True
    has_sheets: bool = False
    is_uniform: bool = True
    split: Callable[[Content, int], list[Piece] | None] | None = None
    n_rows: Callable[[Content], int | None] | None = None
