"""A file read in batches, as often as needed: the same cells as `read_table` gives, but never all of them at once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import polars as pl

from .csv_rows import csv_frames
from .errors import InputError
from .json_lines import Columns, common_columns, json_frames, unified
from .read import PARQUET_ERRORS, no_parquet, no_rows, read_table, recognised
from .source import STANDARD_INPUT, Lines, check_encoding, open_file, opened

_ROWS = 100_000
_BYTES = 1 << 24  # of a batch: long texts come in fewer rows
_BYTES_OF_HEAD = 1 << 26
_MAGIC = b"PAR1"


class Batches:
    """Iterate over it for one pass over the file; the next iteration reads it anew.

    Parameters
    ----------
    format, encoding : as in `read_table`
    rows : of a batch, unless they take more than 16 MB

    While a pass goes on, `bytes_read` (of `n_bytes`) and `rows_read` tell how far it is. `n_rows` is known after the
    first pass, and of a Parquet file at once.
    """

    def __init__(self, path: str | Path, format: str | None = None, encoding: str = "utf-8", rows: int = _ROWS) -> None:
        if rows < 1:
            raise ValueError(f"a batch must have at least 1 row, got {rows}")
        if str(path) == STANDARD_INPUT:
            raise InputError("standard input cannot be read twice; save it as a file and name that")
        self.path, self.format, self.encoding, self.rows = Path(path), format, encoding, rows
        check_encoding(encoding)
        with open_file(self.path) as file:
            if not self.path.is_file():
                raise InputError(f"{path} cannot be read twice; save what comes from it as a file and name that")
            self._is_parquet = file.read(len(_MAGIC)) == _MAGIC and format in (None, "parquet")
        self._version = self._stat()
        self.n_bytes = self._version[0]
        self.bytes_read = self.rows_read = 0
        self.n_rows = self._n_parquet_rows() if self._is_parquet else None
        self._columns: Columns | None = None  # of JSON lines

    def __iter__(self) -> Iterator[pl.DataFrame]:
        self._check_unchanged()
        self.bytes_read = self.rows_read = 0
        columns: list[str] = []
        for frame in _of_size(self._frames(), self.rows):
            self._check_unchanged()
            columns = frame.columns
            if frame.height:
                yield frame
        self._check_unchanged()
        if not self.rows_read:
            raise no_rows(str(self.path), columns)
        self.n_rows, self.bytes_read = self.rows_read, self.n_bytes

    def head(self, n_rows: int = 50_000) -> pl.DataFrame:
        """The first rows, to see what the columns are; fewer if they are very long."""
        frames, found, size = [], 0, 0
        for frame in self:
            frames.append(frame)
            found, size = found + frame.height, size + int(frame.estimated_size())
            if found >= n_rows or size >= _BYTES_OF_HEAD:
                break
        return pl.concat(frames).head(n_rows).rechunk()

    @property
    def estimated_rows(self) -> int:
        """Of the whole file, from how far the pass is; exact if it is known."""
        if self.n_rows is not None:
            return self.n_rows
        return round(self.rows_read * self.n_bytes / max(self.bytes_read, 1))

    def _frames(self) -> Iterator[pl.DataFrame]:
        if self._is_parquet:
            yield from self._parquet_frames()
            return
        with open_file(self.path) as file, opened(file) as (name, chunks):
            kind, separator, chunks = recognised(name, chunks, self.format, self.encoding)
            if kind == "parquet":  # compressed as a whole, so it cannot be read in parts
                frames: Iterable[pl.DataFrame] = [read_table(self.path, format=kind)]
            elif kind == "jsonl":
                columns = self._json_columns()
                frames = (unified(frame, columns) for frame in json_frames(name, Lines(name, chunks, self.encoding)))
            else:
                frames = csv_frames(name, Lines(name, chunks, self.encoding), separator)
            for frame in frames:
                self.bytes_read, self.rows_read = file.tell(), self.rows_read + frame.height
                yield frame

    def _json_columns(self) -> Columns:
        """The type of a column is known only after its last value."""
        if self._columns is None:
            with opened(self.path) as (name, chunks):
                self._columns = common_columns(json_frames(name, Lines(name, chunks, self.encoding)))
        return self._columns

    def _n_parquet_rows(self) -> int:
        try:
            return int(pl.scan_parquet(self.path, glob=False).select(pl.len()).collect().item())
        except PARQUET_ERRORS as error:
            raise no_parquet(str(self.path), error) from None

    def _parquet_frames(self) -> Iterator[pl.DataFrame]:
        n_rows = self._n_parquet_rows()
        table = pl.scan_parquet(self.path, glob=False)
        for start in range(0, n_rows, self.rows):
            wanted = min(self.rows, n_rows - start)
            where = f"{self.path}: the rows {start + 1} to {start + wanted} of the Parquet file cannot be read"
            try:
                frame = table.slice(start, wanted).collect()
            except PARQUET_ERRORS as error:
                reason = str(error).partition("\n")[0]
                raise InputError(f"{where} ({reason}); write it again") from None
            if frame.height != wanted:
                raise InputError(f"{where} (there are {frame.height} only); write it again")
            self.rows_read += frame.height
            self.bytes_read = self.n_bytes * self.rows_read // n_rows
            yield frame
        if not n_rows:
            yield table.collect()

    def _stat(self) -> tuple[int, int, int]:
        found = os.stat(self.path)
        return found.st_size, found.st_mtime_ns, found.st_ino

    def _check_unchanged(self) -> None:
        try:
            is_same = self._stat() == self._version
        except OSError:
            is_same = False
        if not is_same:
            raise InputError(f"{self.path} was changed while it was read; leave it as it is and start again")


def _of_size(frames: Iterable[pl.DataFrame], rows: int) -> Iterator[pl.DataFrame]:
    """The same rows in batches of `rows`, or of fewer where they are long."""
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
