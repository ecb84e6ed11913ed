"""The audited table: in memory, or a file that is read in batches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from .._memory import installed_memory
from ..audit import scale
from ..data.batches import Batches
from ..data.errors import InputError
from ..data.formats import known_suffixes
from ..data.frames import to_frame
from ..data.parts import Part, find_parts
from ..data.read import read_table
from ..data.roles import Roles, find_roles
from .anonymous import without_names
from .several_labels import Reshaped, SeveralLabels, from_columns, from_lines, is_long

Source = pl.DataFrame | Batches
# A larger file is read in pieces, if it has more rows than are fitted.
_WHOLE_BYTES = 100_000_000
# Share of the memory that a file may have if all rows are needed: a table takes several times the size of its file.
_LARGEST_SHARE = 1 / 8


class Table(NamedTuple):
    """Rows and the roles of their columns."""

    source: Source
    roles: Roles
    title: str
    path: str | None = None
    notes: tuple[str, ...] = ()  # messages about how it was read
    checks: str | None = None  # the filled-in file of rows drawn at random
    no_class: Mapping[int, bool] = {}  # rows that belong to none of the classes; whether each was drawn at random
    several: SeveralLabels | None = None  # labels of several labelers; `roles.label` is then the vote

    @classmethod
    def open(
        cls,
        data: Any,
        columns: Mapping[str, Any],
        *,
        needs_all: str = "",
        by_workers: bool = False,
        format: str | None = None,
        encoding: str | None = None,
        sheet: str | None = None,
        missing_label: str | None = None,
        keep_variants: bool = False,
        anonymous: bool = False,
    ) -> Table:
        """columns : names by role, as for `find_roles`; `label` may be a list of columns, one for each labeler, and
        `verified_random` a file. needs_all : the option that needs all rows in memory, if any. by_workers : the file is
        read by the workers of a cluster. missing_label, keep_variants : for several labels. anonymous : replace the
        names of labelers by numbers"""
        knows_groups = columns.get("labeler") is not None or bool(columns.get("source"))
        source, notes = _source(data, needs_all, knows_groups, by_workers, format, encoding, sheet)
        head = source if isinstance(source, pl.DataFrame) else source.head()
        reshaped = None
        if isinstance(source, pl.DataFrame):
            if anonymous:
                source, columns = without_names(source, columns)
                head = source
            reshaped = _reshaped(source, columns, missing_label, keep_variants)
        if reshaped is not None:
            source, head = reshaped.frame, reshaped.frame.drop(reshaped.hidden)
            columns = {**columns, "label": reshaped.label, "labeler": None}
            notes += reshaped.notes
        column, checks = _column_or_file(columns.get("verified_random"), head)
        roles, found = find_roles(head, **{**columns, "verified_random": column})
        notes += [*found, *(() if reshaped is None else reshaped.about_labels)]
        title, path = (title_of(data), str(data)) if is_path(data) else ("data frame", None)
        several = None if reshaped is None else reshaped.several
        return cls(source, roles, title, path, tuple(notes), checks, several=several)

    def gather(self, columns: Sequence[str], rows: Any) -> pl.DataFrame:
        """Some columns of some rows, in the order of `rows`."""
        rows = np.asarray(rows)
        wanted, parts, start = np.sort(rows), [], 0
        for frame in self.batches():
            first, last = np.searchsorted(wanted, [start, start + frame.height])
            parts.append(frame.select(columns)[wanted[first:last] - start])
            start += frame.height
        return pl.concat(parts)[np.argsort(np.argsort(rows, kind="stable"), kind="stable")]

    def check_unchanged(self) -> None:
        """Raise an error if the file has changed since it was opened."""
        if isinstance(self.source, Batches):
            self.source.check_unchanged()

    def batches(self) -> Iterable[pl.DataFrame]:
        return [self.source] if isinstance(self.source, pl.DataFrame) else self.source


def _source(
    data: Any,
    needs_all: str,
    knows_groups: bool,
    by_workers: bool,
    format: str | None,
    encoding: str | None,
    sheet: str | None,
) -> tuple[Source, list[str]]:
    """The table, and messages about how it is read. A file that is too large is left to be read in pieces; who gave
    the labels is modeled, not only counted, if all rows fit in memory."""
    if not is_path(data):
        if by_workers:
            raise InputError("--engine dask reads files; save the data frame as Parquet, and give the path")
        return to_frame(data), []
    if by_workers and needs_all:
        raise InputError(
            f"{needs_all} needs all rows in memory, on one machine; leave it out, or audit without --engine"
        )
    parts = find_parts(data, known_suffixes())
    n_bytes, most = (0 if by_workers else _size(parts)), int(_LARGEST_SHARE * installed_memory())
    if by_workers or (not needs_all and n_bytes > (most if knows_groups else _WHOLE_BYTES)):
        batches = Batches(parts, format, encoding, sheet=sheet)
        small = None if by_workers else _if_small(batches)
        return (batches if small is None else small), list(batches.notes)
    if needs_all and n_bytes > most:
        raise InputError(f"{needs_all} needs all rows in memory, and {title_of(data)} is too large; leave it out")
    notes: list[str] = []
    return read_table(parts, format=format, encoding=encoding, sheet=sheet, tell=notes.append), notes


def _size(parts: Sequence[Part]) -> int:
    try:
        return sum(part.size() for part in parts)
    except OSError:  # reading says what is wrong
        return 0


def _if_small(batches: Batches) -> pl.DataFrame | None:
    """The whole table, if it has no more rows than are fitted."""
    frames, n_rows, n_bytes = [], 0, 0
    for frame in batches:
        frames.append(frame)
        n_rows, n_bytes = n_rows + frame.height, n_bytes + int(frame.estimated_size())
        if n_rows > scale.MOST_ROWS or n_bytes > _WHOLE_BYTES:
            return None
    return pl.concat(frames).rechunk()


def _label_columns(columns: Mapping[str, Any]) -> tuple[str, ...]:
    label = columns.get("label")
    return (label,) if isinstance(label, str) else tuple(label or ())


def _reshaped(
    frame: pl.DataFrame, columns: Mapping[str, Any], missing_label: str | None, keep_variants: bool
) -> Reshaped | None:
    """The table with one label per row, if it has several."""
    labels = _label_columns(columns)
    id, labeler = columns.get("id"), columns.get("labeler")
    if len(labels) > 1:
        if labeler is not None:
            raise InputError("--labeler goes with one label column; with several, each of them is a labeler")
        return from_columns(frame, labels, missing_label, keep_variants)
    if not labels or id is None or labeler is None or not is_long(frame, id, labeler):
        return None
    return from_lines(frame, id, labeler, labels[0], missing_label, keep_variants)


def is_path(data: Any) -> bool:
    """Whether the table is in one file or several."""
    if isinstance(data, list | tuple):
        return bool(data) and all(isinstance(path, str | Path) for path in data)
    return isinstance(data, str | Path)


def _column_or_file(name: str | Path | None, head: pl.DataFrame) -> tuple[str | None, str | None]:
    """The column or file with the rows checked at random."""
    if name is None or str(name) in head.columns:
        return (None if name is None else str(name)), None
    if not Path(name).is_file():
        raise InputError(
            f"--verified-random: there is no column {str(name)!r} and no such file; name a column, or the file that "
            "--sample wrote"
        )
    return None, str(name)


def title_of(data: Any) -> str:
    if isinstance(data, list | tuple):
        return f"{len(data)} files"
    return "standard input" if str(data) == "-" else Path(str(data)).name
