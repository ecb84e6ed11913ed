"""Pieces of a table that another process can read independently: small descriptions that can be pickled."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from .common_schema import CommonSchema, unified
from .content import Content, opened
from .encoding_detection import detect_encoding
from .errors import InputError
from .formats import Format, Piece, find_format
from .parts import Part

#: Changes a frame after it is read, row by row.
Step = Callable[[pl.DataFrame], pl.DataFrame]


@dataclass(frozen=True)
class PartReader:
    """One part, and how it is read."""

    part: Part
    format: Format
    encoding: str
    sheet: str | None

    @classmethod
    def of(cls, part: Part, format: str | None, encoding: str | None, sheet: str | None) -> PartReader:
        """Format and encoding are detected if they are None."""
        with opened(part, encoding or "utf-8", sheet) as content:
            if encoding is None:
                content.encoding = detect_encoding(content.chunks())
            form = find_format(content, format)
            if sheet is not None and not form.has_sheets:
                raise InputError(f"--sheet is for Excel files, but {part.name} is {form.title}; leave it out")
            return cls(part, form, content.encoding, sheet)

    def frames(self, where: Any = None) -> Iterator[tuple[Content, pl.DataFrame]]:
        """Frames as they are in the file, each with the content, which knows how much of it was read."""
        with opened(self.part, self.encoding, self.sheet) as content:
            for frame in self.format.frames(content, where):
                yield content, frame

    def schemas(self) -> Iterator[pl.Schema]:
        """Schema of all frames; one is enough if they are uniform."""
        for _, frame in self.frames():
            yield frame.schema
            if self.format.is_uniform:
                return

    def n_rows(self) -> int | None:
        if self.format.n_rows is None:
            return None
        with opened(self.part, self.encoding, self.sheet) as content:
            return self.format.n_rows(content)

    def pieces(self, size: int) -> list[Piece]:
        whole = Piece(None, self.n_rows())
        if self.format.split is None:
            return [whole]
        with opened(self.part, self.encoding, self.sheet) as content:
            pieces = self.format.split(content, size)
        return [whole] if pieces is None else pieces


@dataclass(frozen=True)
class Partition:
    """Some rows of a table: iterate over it for frames, as often as needed, in any process with access to the file.

    Parameters
    ----------
    reader : the part that the rows are in
    where : a range of it; None for all of it
    schema : of the whole table, so that frames of all partitions are alike
    n_rows : None if they have not been counted yet; `count_rows` counts them
    size : of the part in bytes when the partition was created
    steps : change each frame after it is read
    """

    reader: PartReader
    where: Any
    schema: CommonSchema
    n_rows: int | None
    size: int
    steps: tuple[Step, ...] = ()

    def __iter__(self) -> Iterator[pl.DataFrame]:
        self._check(self.reader.part.size() == self.size)
        n_rows = 0
        for _, frame in self.reader.frames(self.where):
            n_rows += frame.height
            if frame.height:
                yield changed_by(self.steps, unified(frame, self.schema))
        self._check(self.n_rows is None or n_rows == self.n_rows)

    def read(self) -> pl.DataFrame:
        frames: list[pl.DataFrame] = [changed_by(self.steps, pl.DataFrame(schema=self.schema.schema)), *self]
        return pl.concat(frames).rechunk()

    def count_rows(self) -> int:
        """From the description, or by reading."""
        return self.n_rows if self.n_rows is not None else sum(frame.height for frame in self)

    def _check(self, is_same: bool) -> None:
        if not is_same:
            raise changed(self.reader.part.name)


def changed_by(steps: Sequence[Step], frame: pl.DataFrame) -> pl.DataFrame:
    for step in steps:
        frame = step(frame)
    return frame


def readers_of(
    parts: Sequence[Part], format: str | None, encoding: str | None, sheet: str | None
) -> tuple[list[PartReader], list[str]]:
    """How each part is read, and a sentence about what was detected and may be wrong."""
    readers = [PartReader.of(part, format, encoding, sheet) for part in parts]
    detected = sorted({reader.encoding for reader in readers if reader.format.is_text} - {"utf-8"})
    if encoding is not None or not detected:
        return readers, []
    return readers, [f"encoding: {', '.join(detected)} (detected; --encoding names another one)"]


def changed(name: str) -> InputError:
    return InputError(f"{name} was changed while it was being read; leave it unchanged and start again")
