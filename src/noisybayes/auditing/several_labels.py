"""Tables with several labels per row: one column per labeler, or one line per row and labeler.

The label that is audited is the vote of the labelers: the most probable one given the labels only, each weighted by how
well its labeler agrees with the others. The audit then takes every label into account (`audit.groups`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from ..audit.columns import Array
from ..audit.groups import Column, Labels, vote
from ..data.cells import as_text, positions
from ..data.errors import InputError
from ..data.label_variants import label_variants
from ..data.roles import check_columns, check_number_of_labels, label_texts

#: Name of the column with the vote of the labelers.
VOTE = "vote"


class SeveralLabels(NamedTuple):
    """The labels of all rows."""

    names: tuple[str, ...]  # names of the labelers
    column: str  # that names the labelers, or what is said instead
    values: tuple[str, ...]  # the labels that occur, sorted
    row: Array  # (m,) of each label, ascending
    labeler: Array  # (m,) codes
    value: Array  # (m,) codes
    n_rows: int
    first_lines: Array | None = None  # (n,) positions of the lines that the columns of each row are from, if not all

    @property
    def labels(self) -> Labels:
        """By labeler; the classes are all values."""
        return Labels(
            self.row, self.value, len(self.values), (Column(self.column, "labeler", self.names, self.labeler),)
        )

    def share_agreeing(self, value: Array) -> tuple[Array, Array]:
        """(n,) number of labels of each row, and the share of them that equal `value` (n,); nan if a row has none."""
        n_labels = np.bincount(self.row, minlength=self.n_rows)
        same = np.bincount(self.row, weights=self.value == value[self.row], minlength=self.n_rows)
        return n_labels, np.divide(same, n_labels, out=np.full(self.n_rows, np.nan), where=n_labels > 0)


class Reshaped(NamedTuple):
    frame: pl.DataFrame  # one line per row, with the vote as its label
    label: str  # the column of the vote
    several: SeveralLabels
    notes: tuple[str, ...] = ()  # messages about how lines became rows
    about_labels: tuple[str, ...] = ()  # messages about spellings of labels
    hidden: tuple[str, ...] = ()  # columns that must not become features


def from_columns(
    frame: pl.DataFrame, columns: Sequence[str], missing_label: str | None, keep_variants: bool
) -> Reshaped:
    """Each column has the labels of one labeler; cells may be empty."""
    if len(set(columns)) < len(columns):
        raise InputError("--label: a column is named twice; name one column for each labeler")
    check_columns(frame, {"label": list(columns)})
    cells = pl.concat([label_texts(frame[name], missing_label).alias("label") for name in columns])
    if cells.null_count() == len(cells):
        names = ", ".join(map(repr, columns))
        raise InputError(f"the label columns {names} are empty in every row; choose others with --label")
    row, labeler = np.tile(np.arange(frame.height), len(columns)), np.repeat(np.arange(len(columns)), frame.height)
    several, notes = _coded(cells, row, labeler, tuple(columns), "label column", frame.height, keep_variants, columns)
    name = VOTE
    while name in frame.columns:
        name += "_"
    return Reshaped(_voted(frame, several, name), name, several, about_labels=notes, hidden=tuple(columns))


def is_long(frame: pl.DataFrame, id: str, labeler: str) -> bool:
    """Whether rows occur several times, once for each labeler."""
    return {id, labeler} <= set(frame.columns) and frame[id].n_unique() < frame.height


def from_lines(
    frame: pl.DataFrame, id: str, labeler: str, label: str, missing_label: str | None, keep_variants: bool
) -> Reshaped:
    """Each line has the label of one labeler; the other columns are those of the first line of a row."""
    check_columns(frame, {"label": [label]})
    long = pl.DataFrame(
        {
            "id": as_text(frame[id]),
            "labeler": as_text(frame[labeler]).str.strip_chars().replace("", None),
            "label": label_texts(frame[label], missing_label),
        }
    ).with_row_index("line", offset=1)
    for role, column in (("id", id), ("labeler", labeler)):
        lost = long.filter(pl.col(role).is_null())
        if lost.height:
            raise InputError(f"line {lost['line'][0]}: the column {column!r} is empty; fill it in, or drop the line")
    _refuse_doubles(long, id)
    rows = long.group_by("id", maintain_order=True).agg(pl.col("line").first()).with_row_index("row")
    long = long.join(rows.select("id", "row"), on="id", how="left", maintain_order="left")
    names = long.filter(pl.col("label").is_not_null())["labeler"].unique().sort()
    if not len(names):
        raise InputError(f"the label column {label!r} is empty in every line; choose another one with --label")
    first_lines = (rows["line"].cast(pl.Int64) - 1).to_numpy()
    items = frame[first_lines].drop(labeler)
    row = long["row"].cast(pl.Int64).to_numpy()
    several, notes = _coded(
        long["label"], row, positions(long["labeler"], names), tuple(names.to_list()), labeler, items.height,
        keep_variants, (label,),
    )  # fmt: skip
    note = f"{frame.height:,} lines are {items.height:,} rows with several labels, identified by {id!r}"
    several = several._replace(first_lines=first_lines)
    return Reshaped(_voted(items, several, label), label, several, (note,), notes)


def _coded(
    cells: pl.Series, row: Array, labeler: Array, names: tuple[str, ...], column: str, n_rows: int, keep_variants: bool,
    columns: Sequence[str],
) -> tuple[SeveralLabels, tuple[str, ...]]:  # fmt: skip
    """The labels in cells that are not empty, one spelling each, and messages about spellings."""
    there = np.flatnonzero(cells.is_not_null().to_numpy())
    cells, row, labeler = cells[there], row[there], labeler[there]
    counts = dict(cells.alias("value").value_counts(name="count").iter_rows())
    check_number_of_labels(len(cells), len(counts), columns)
    variants = label_variants(counts, keep_variants)
    values = tuple(sorted(variants.merged(counts)))
    value = positions(variants.applied(cells), pl.Series(values, dtype=pl.String)).astype(np.intp)
    order = np.lexsort((labeler, row))
    several = SeveralLabels(names, column, values, row[order], labeler[order].astype(np.intp), value[order], n_rows)
    return several, variants.notes()


def _voted(frame: pl.DataFrame, several: SeveralLabels, column: str) -> pl.DataFrame:
    """The table with the vote in this column."""
    found = vote(several.labels, several.n_rows)
    at = pl.Series(np.where(found < len(several.values), found, -1), dtype=pl.Int64)
    voted = pl.Series(several.values, dtype=pl.String).gather(at.set(at < 0, None))
    return frame.with_columns(voted.alias(column))


def _refuse_doubles(long: pl.DataFrame, id: str) -> None:
    doubles = long.filter(pl.struct("id", "labeler").is_duplicated())
    if doubles.height:
        first = doubles.row(0, named=True)
        raise InputError(
            f"line {first['line']}: the labeler {first['labeler']!r} labeled {id} {first['id']!r} more than once; keep "
            "one of the lines"
        )
