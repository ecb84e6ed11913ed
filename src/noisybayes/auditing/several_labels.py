"""Tables with several labels per row: one column per labeler, or one line per row and labeler.

The fit needs one label per row: the vote of the labelers (`label_vote`). The labels of each labeler are used later
(`labelers`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy import sparse

from ..data.cells import as_text
from ..data.errors import InputError
from ..data.roles import check_columns, label_texts
from ..dataset.tree import Array
from ..text.coded_columns import positions
from .label_vote import CountedLabels, LabelCoder, counted_labels, fitted_vote, named

#: Name of the column with the vote of the labelers.
VOTE = "vote"
# Maximum number of columns listed by name.
_MOST_SHOWN = 5


class SeveralLabels(NamedTuple):
    """The labels of each row, as codes: labeler * V + value, where V is the number of values (`row_codes`)."""

    names: tuple[str, ...]  # names of the labelers
    title: str  # description of the label columns
    columns: tuple[str, ...] = ()  # the label column of each labeler; none if each label has a line
    values: tuple[str, ...] = ()  # the V labels that occur, sorted; none before the table has been read
    codes: Any = None  # (n, C) or CSR: the labels of every row; None if rows stay on a cluster
    coder: LabelCoder | None = None  # computes them from the label columns
    first_lines: Array | None = None  # (n,) positions of the lines that the columns of each row are from, if not all


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
    check_label_columns(frame, columns)
    counted, codes = counted_labels([frame], columns, missing_label, keep_variants)
    counted.check()
    several = label_columns(columns)._replace(values=counted.coder.values, codes=codes, coder=counted.coder)
    about = counted.coder.variants.notes()
    return Reshaped(*_voted(frame, several, counted.counts), several, about_labels=about, hidden=several.columns)


def first_rows_voted(
    frame: pl.DataFrame, columns: Sequence[str], missing_label: str | None, keep_variants: bool
) -> Reshaped:
    """The first rows of a file read in batches, to guess the roles of its columns: they may have no labels, and their
    votes are not those of the whole table."""
    check_label_columns(frame, columns)
    counted, codes = counted_labels([frame], columns, missing_label, keep_variants)
    several = label_columns(columns)
    if not len(counted.counts):
        name = vote_column(frame.columns)
        return Reshaped(frame.with_columns(pl.lit(None, pl.String).alias(name)), name, several, hidden=several.columns)
    known = several._replace(values=counted.coder.values, codes=codes)
    return Reshaped(*_voted(frame, known, counted.counts), several, hidden=several.columns)


def check_label_columns(frame: pl.DataFrame, columns: Sequence[str]) -> None:
    if len(set(columns)) < len(columns):
        raise InputError("--label: a column is named twice; name one column for each labeler")
    check_columns(frame, {"label": list(columns)})


def label_columns(columns: Sequence[str]) -> SeveralLabels:
    """Before any labels are read."""
    return SeveralLabels(tuple(columns), _title(columns), tuple(columns))


def vote_column(columns: Sequence[str]) -> str:
    """A new name for the vote."""
    name = VOTE
    while name in columns:
        name += "_"
    return name


def _voted(
    frame: pl.DataFrame, several: SeveralLabels, counts: Array, column: str | None = None
) -> tuple[pl.DataFrame, str]:
    """The table with the vote as a column, and its name. column : replaced by the vote; None: a new one"""
    assert several.codes is not None
    model = fitted_vote(several.codes, counts, len(several.names))
    name = vote_column(frame.columns) if column is None else column
    return frame.with_columns(named(several.values, model(several.codes)).alias(name)), name


def _title(columns: Sequence[str]) -> str:
    return ", ".join(map(repr, columns)) if len(columns) <= _MOST_SHOWN else f"{len(columns)} label columns"


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
    rows = long.group_by("id", maintain_order=True).agg(pl.col("line").first())
    position = long.join(rows.with_row_index("row").select("id", "row"), on="id", how="left", maintain_order="left")
    there = position.filter(pl.col("label").is_not_null())
    names = there["labeler"].unique().sort()
    if not len(names):
        raise InputError(f"the label column {label!r} is empty in every line; choose another one with --label")
    labeler_code = positions(there["labeler"], names)
    first_lines = (rows["line"].cast(pl.Int64) - 1).to_numpy()
    items = frame[first_lines].drop(labeler)
    total = there["label"].alias("value").value_counts(name="count")
    counted = CountedLabels.of(total, (label,), missing_label, keep_variants)
    values, variants = counted.coder.values, counted.coder.variants
    value = positions(variants.applied(there["label"]), pl.Series(values, dtype=pl.String))
    codes = _side_by_side(there["row"].cast(pl.Int64).to_numpy(), labeler_code * len(values) + value, items.height)
    title = f"{label!r} by {labeler!r}"
    several = SeveralLabels(tuple(names.to_list()), title, values=values, codes=codes, first_lines=first_lines)
    voted, _ = _voted(items, several, counted.counts, label)
    note = f"{frame.height:,} lines are {items.height:,} rows with several labels, identified by {id!r}"
    return Reshaped(voted, label, several, (note,), variants.notes())


def _side_by_side(row: Array, code: Array, n_rows: int) -> Any:
    """CSR: the codes (m,) of each row, in their order, with 1 added: everybody may have labeled the same few rows.

    row : (m,) positions
    """
    n_codes = np.bincount(row, minlength=n_rows)
    order, starts = np.argsort(row, kind="stable"), np.append(0, np.cumsum(n_codes))
    place = np.arange(len(row)) - np.repeat(starts[:-1], n_codes)
    return sparse.csr_array((code[order].astype(np.int32) + 1, place, starts), shape=(n_rows, int(n_codes.max())))


def _refuse_doubles(long: pl.DataFrame, id: str) -> None:
    doubles = long.filter(pl.struct("id", "labeler").is_duplicated())
    if doubles.height:
        first = doubles.row(0, named=True)
        raise InputError(
            f"line {first['line']}: the labeler {first['labeler']!r} labeled {id} {first['id']!r} more than once; keep "
            "one of the lines"
        )
