"""The audited table: in memory, or a file that is read in batches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from ..data.batches import Batches
from ..data.errors import InputError
from ..data.frames import to_frame
from ..data.read import read_table
from ..data.roles import Roles, find_roles
from .anonymous import without_names
from .several_labels import Reshaped, SeveralLabels, from_columns, from_lines, is_long

Source = pl.DataFrame | Batches


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
        in_batches: bool = False,
        format: str | None = None,
        encoding: str | None = None,
        sheet: str | None = None,
        missing_label: str | None = None,
        keep_variants: bool = False,
        anonymous: bool = False,
    ) -> Table:
        """columns : names by role, as for `find_roles`; `label` may be a list of columns, one for each labeler, and
        `verified_random` a file. in_batches : do not read a file into memory. missing_label, keep_variants : for
        several labels. anonymous : replace the names of labelers by numbers"""
        notes: list[str] = []
        source: Source
        if not is_path(data):
            source, title, path = to_frame(data), "data frame", None
        else:
            title, path = title_of(data), str(data)
            if in_batches:
                source = Batches(data, format, encoding, sheet=sheet)
                notes += source.notes
            else:
                source = read_table(data, format=format, encoding=encoding, sheet=sheet, tell=notes.append)
        if anonymous and isinstance(source, pl.DataFrame):
            source, columns = without_names(source, columns)
        reshaped = _reshaped(source, columns, missing_label, keep_variants)
        several, hidden = None, []
        if reshaped is not None:
            source, several, hidden = reshaped.frame, reshaped.several, list(reshaped.hidden)
            columns = {**columns, "label": reshaped.label, "labeler": None}
            notes += reshaped.notes
        head = source if isinstance(source, pl.DataFrame) else source.head()
        head = head.drop(hidden)
        column, checks = _column_or_file(columns.get("verified_random"), head)
        roles, role_notes = find_roles(head, **{**columns, "verified_random": column})
        return cls(source, roles, title, path, (*notes, *role_notes), checks, several=several)

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


def _label_columns(columns: Mapping[str, Any]) -> tuple[str, ...]:
    label = columns.get("label")
    return (label,) if isinstance(label, str) else tuple(label or ())


def _reshaped(
    source: Source, columns: Mapping[str, Any], missing_label: str | None, keep_variants: bool
) -> Reshaped | None:
    """The table with one label per row, if it has several."""
    labels = _label_columns(columns)
    id, labeler = columns.get("id"), columns.get("labeler")
    if not isinstance(source, pl.DataFrame):
        if len(labels) > 1:
            raise InputError(
                "several label columns need all rows in memory, on one machine; audit without --memory and --engine"
            )
        return None
    if len(labels) > 1:
        if labeler is not None:
            raise InputError("--labeler goes with one label column; with several, each of them is a labeler")
        return from_columns(source, labels, missing_label, keep_variants)
    if not labels or id is None or labeler is None or not is_long(source, id, labeler):
        return None
    return from_lines(source, id, labeler, labels[0], missing_label, keep_variants)


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
