"""A table read in batches, as often as needed: the same cells as `read_table`, but never all of them at once.

Partitions are pieces of a table that another process can read independently: small descriptions that can be pickled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from .cells import as_text
from .decoding import check_encoding, detect_encoding
from .errors import InputError
from .formats import Format, Piece, find_format, known_suffixes
from .parts import Content, Part, Source, find_parts, opened

ROWS = 100_000
_BYTES = 1 << 24  # of a batch: with long texts, a batch has fewer rows
_BYTES_OF_HEAD = 1 << 26
_BYTES_OF_PARTITION = 1 << 26


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
    """

    reader: PartReader
    where: Any
    schema: CommonSchema
    n_rows: int | None
    size: int

    def __iter__(self) -> Iterator[pl.DataFrame]:
        self._check(self.reader.part.size() == self.size)
        n_rows = 0
        for _, frame in self.reader.frames(self.where):
            n_rows += frame.height
            if frame.height:
                yield unified(frame, self.schema)
        self._check(self.n_rows is None or n_rows == self.n_rows)

    def read(self) -> pl.DataFrame:
        frames: list[pl.DataFrame] = [pl.DataFrame(schema=self.schema.schema), *self]
        return pl.concat(frames).rechunk()

    def count_rows(self) -> int:
        """From the description, or by reading."""
        return self.n_rows if self.n_rows is not None else sum(frame.height for frame in self)

    def _check(self, is_same: bool) -> None:
        if not is_same:
            raise changed(self.reader.part.name)


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


Cut = Callable[[Sequence[PartReader], int], Iterable[list[Piece]]]


def cut_all(readers: Sequence[PartReader], size: int) -> Iterable[list[Piece]]:
    return (reader.pieces(size) for reader in readers)


class Batches:
    """An iterable: each iteration is one pass over the table, and the next one reads it again.

    Parameters
    ----------
    source : a file, a folder of parts, a pattern such as ``parts/*.csv``, a URL that fsspec reads, or a list of these
    format, encoding, sheet : as in `read_table`
    rows : per batch, unless they take more than 16 MB

    Attributes
    ----------
    name : name of the source for messages
    path : path of the first part, if it is a local file
    parts : the files, in the order of their rows
    notes : sentences about how they are read, such as a detected encoding
    n_rows : number of rows, known after the first pass, for Parquet files from the start; None until then
    n_bytes, bytes_read, rows_read : progress of a pass
    """

    def __init__(
        self,
        source: Source,
        format: str | None = None,
        encoding: str | None = None,
        rows: int = ROWS,
        *,
        sheet: str | None = None,
    ) -> None:
        if rows < 1:
            raise ValueError(f"a batch must have at least 1 row, got {rows}")
        if encoding is not None:
            check_encoding(encoding)
        self.format, self.encoding, self.rows = format, encoding, rows
        self.parts = find_parts(source, known_suffixes())
        self._readers, self.notes = readers_of(self.parts, format, encoding, sheet)
        self.name = self.parts[0].name if len(self.parts) == 1 else f"each of the {len(self.parts)} files"
        self.path = self.parts[0].path or Path(self.name)
        self._versions = self.versions()
        self._sizes = [part.size() for part in self.parts]
        self.n_bytes = sum(self._sizes)
        self.bytes_read = self.rows_read = 0
        known = [reader.n_rows() for reader in self._readers]
        self.n_rows = None if None in known else sum(n for n in known if n is not None)
        self._schema: CommonSchema | None = None
        self._pieces: dict[int, list[list[Piece]]] = {}

    def __iter__(self) -> Iterator[pl.DataFrame]:
        self.check_unchanged()
        self.bytes_read = self.rows_read = 0
        for frame in of_size(self._frames(self.schema), self.rows):
            self.check_unchanged()
            if frame.height:
                yield frame
        self.check_unchanged()
        if not self.rows_read:
            raise no_rows(self.name, self.columns)
        self.n_rows, self.bytes_read = self.rows_read, self.n_bytes

    @property
    def schema(self) -> CommonSchema:
        """Schema of all parts. For JSON it is known only after the last value, so the first use reads it all."""
        if self._schema is None:
            self._schema = schema_of(self._readers)
        return self._schema

    @property
    def columns(self) -> list[str]:
        return list(self.schema.schema)

    def head(self, n_rows: int = 50_000) -> pl.DataFrame:
        """The first rows, to inspect the columns; fewer if they are very long."""
        frames, n_read, size = [], 0, 0
        for frame in self:
            frames.append(frame)
            n_read, size = n_read + frame.height, size + int(frame.estimated_size())
            if n_read >= n_rows or size >= _BYTES_OF_HEAD:
                break
        return pl.concat(frames).head(n_rows).rechunk()

    def partitions(self, size: int = _BYTES_OF_PARTITION, cut: Cut = cut_all) -> list[Partition]:
        """Descriptions of all rows in order, for workers that read them independently.

        A Parquet file is divided by rows, a CSV or JSON lines file at row boundaries (which takes a pass over it), into
        ranges of about `size` bytes. A part that is compressed, behind a URL, or in an encoding such as UTF-16 is one
        partition, whose rows are not counted in advance.

        cut : (readers, size) -> the pieces of each part; may run in another process
        """
        self.check_unchanged()
        if size not in self._pieces:
            self._pieces[size] = list(cut(self._readers, size))
        partitions = [
            Partition(reader, piece.where, self.schema, piece.n_rows, n_bytes)
            for reader, n_bytes, pieces in zip(self._readers, self._sizes, self._pieces[size], strict=True)
            for piece in pieces
        ]
        self.check_unchanged()
        filled = [partition for partition in partitions if partition.n_rows != 0]
        if not filled:
            raise no_rows(self.name, self.columns)
        return filled

    def versions(self) -> list[tuple[object, ...]]:
        """Fingerprint of all parts: equal as long as no file has changed."""
        return [(part.name, *part.version()) for part in self.parts]

    def _frames(self, schema: CommonSchema) -> Iterator[pl.DataFrame]:
        n_before = 0
        for reader, size in zip(self._readers, self._sizes, strict=True):
            for content, frame in reader.frames():
                self.bytes_read, self.rows_read = n_before + content.bytes_read, self.rows_read + frame.height
                yield unified(frame, schema)
            n_before += size

    def check_unchanged(self) -> None:
        """Raise if a file has changed since reading started."""
        for part, version in zip(self.parts, self._versions, strict=True):
            try:
                is_same = (part.name, *part.version()) == version
            except OSError:
                is_same = False
            if not is_same:
                raise changed(part.name)


def schema_of(readers: Sequence[PartReader]) -> CommonSchema:
    """Columns and types of all parts. Tables must have the same columns; JSON objects may lack some."""
    schemas: list[pl.Schema] = []
    first: tuple[str, set[str]] | None = None
    for reader in readers:
        distinct = list(dict.fromkeys(tuple(schema.items()) for schema in reader.schemas()))
        schemas += [pl.Schema(columns) for columns in distinct]
        if reader.format.is_uniform:
            columns = {column for column, _ in distinct[0]}
            first = first or (reader.part.name, columns)
            _check_columns(reader.part.name, columns, *first)
    return common_schema(schemas)


def no_rows(name: str, columns: list[str]) -> InputError:
    names = (" ".join(column.split()) for column in columns)  # a name may contain line breaks, a sentence may not
    header = f" but the header ({', '.join(names)})" if columns else ""
    return InputError(f"{name} has no rows{header}; give a table with rows")


def _check_columns(name: str, columns: set[str], other: str, expected: set[str]) -> None:
    for has, lacks, difference in ((other, name, expected - columns), (name, other, columns - expected)):
        if difference:
            raise InputError(
                f"{lacks} has no column {min(difference)!r}, but {has} has one; give all parts the same columns"
            )


def of_size(frames: Iterable[pl.DataFrame], rows: int = ROWS) -> Iterator[pl.DataFrame]:
    """The same rows in batches of `rows`, or fewer if they are long."""
    waiting: list[pl.DataFrame] = []
    for frame in frames:
        waiting.append(frame)
        while (n_waiting := sum(part.height for part in waiting)) >= rows:
            whole = pl.concat(waiting)
            yield whole.head(rows).rechunk()
            waiting = [whole.slice(rows)]
        if n_waiting and sum(part.estimated_size() for part in waiting) >= _BYTES:
            yield pl.concat(waiting).rechunk()
            waiting = []
    if waiting:
        yield pl.concat(waiting).rechunk()


class CommonSchema(NamedTuple):
    """The columns of all frames together."""

    schema: pl.Schema
    mixed: frozenset[str]  # columns with incompatible types, which become text


def common_schema(schemas: Iterable[pl.Schema]) -> CommonSchema:
    distinct = [pl.Schema(columns) for columns in dict.fromkeys(tuple(schema.items()) for schema in schemas)]
    types: dict[str, set[pl.DataType]] = {}
    for schema in distinct:
        for column, dtype in schema.items():
            types.setdefault(column, set()).add(dtype)
    mixed = frozenset(column for column, dtypes in types.items() if len(dtypes) > 1 and not _have_common_type(dtypes))
    texts = dict.fromkeys(mixed, pl.String())
    empty = [pl.DataFrame(schema={**schema, **{c: texts[c] for c in schema if c in mixed}}) for schema in distinct]
    return CommonSchema(pl.concat(empty, how="diagonal_relaxed").schema if empty else pl.Schema(), mixed)


def unified(frame: pl.DataFrame, common: CommonSchema) -> pl.DataFrame:
    """A frame with the columns and types of all frames."""
    if frame.schema == common.schema and list(frame.schema) == list(common.schema):
        return frame
    frame = frame.with_columns([as_text(column) for column in frame if column.name in common.mixed])
    return pl.concat([pl.DataFrame(schema=common.schema), frame], how="diagonal_relaxed")


def _have_common_type(types: set[pl.DataType]) -> bool:
    known = types - {pl.Null()}
    return len(known) < 2 or all(dtype.is_numeric() for dtype in known)
