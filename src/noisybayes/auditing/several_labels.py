"""Tables with several labels per row: one column per labeler, or one line per row and labeler.

The fit needs one label per row: the vote of the labelers, weighted by how well each agrees with the others (the model
of labelers without any columns). The labels of each labeler are used later (`labelers`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from ..data.cells import as_text
from ..data.errors import InputError
from ..data.label_variants import label_variants
from ..data.roles import check_columns, label_texts
from ..dataset.tree import Array
from ..model.mislabel import Full, constant_rate
from ..robust.labeled_rows import GivenLabels, LabeledRows
from ..robust.labeler_model import LabelerModel

#: Name of the column with the vote of the labelers.
VOTE = "vote"
# Labels are mostly right: the overall matrix starts here.
_START_DIAGONAL = 0.8
# Maximum number of columns listed by name.
_MOST_SHOWN = 5


class SeveralLabels(NamedTuple):
    row: Array  # (m,) positions in the table
    labeler: Array  # (m,) codes
    label: Array  # (m,) text
    names: tuple[str, ...]  # names of the labelers
    title: str  # description of the label columns
    first_lines: Array | None = None  # (n,) positions of the lines that the columns of each row are from, if not all


class Reshaped(NamedTuple):
    frame: pl.DataFrame  # one line per row, with the vote as its label
    label: str  # the column of the vote
    several: SeveralLabels
    notes: tuple[str, ...]
    hidden: tuple[str, ...] = ()  # columns that must not become features


def from_columns(
    frame: pl.DataFrame, columns: Sequence[str], missing_label: str | None, keep_variants: bool
) -> Reshaped:
    """Each column has the labels of one labeler; cells may be empty."""
    if len(set(columns)) < len(columns):
        raise InputError("--label: a column is named twice; name one column for each labeler")
    check_columns(frame, {"label": list(columns)})
    texts = [label_texts(frame[name], missing_label) for name in columns]
    rows = [np.flatnonzero(text.is_not_null()) for text in texts]
    row, labeler = np.concatenate(rows), np.repeat(np.arange(len(columns)), [len(each) for each in rows])
    label = pl.concat([text.drop_nulls().rename("label") for text in texts])
    shaped = _voted(frame, row, labeler, label, tuple(columns), _title(columns), VOTE, keep_variants)
    return shaped._replace(hidden=tuple(columns))


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
    code = there["labeler"].cast(pl.Enum(names)).to_physical().cast(pl.Int64).to_numpy()
    first_lines = (rows["line"].cast(pl.Int64) - 1).to_numpy()
    items = frame[first_lines].drop(labeler)
    title = f"{label!r} by {labeler!r}"
    shaped = _voted(
        items, there["row"].cast(pl.Int64).to_numpy(), code, there["label"], tuple(names.to_list()), title, label,
        keep_variants,
    )  # fmt: skip
    note = f"{frame.height:,} lines are {items.height:,} rows with several labels, identified by {id!r}"
    several = shaped.several._replace(first_lines=first_lines)
    return shaped._replace(several=several, notes=(note, *shaped.notes))


def _refuse_doubles(long: pl.DataFrame, id: str) -> None:
    doubles = long.filter(pl.struct("id", "labeler").is_duplicated())
    if doubles.height:
        first = doubles.row(0, named=True)
        raise InputError(
            f"line {first['line']}: the labeler {first['labeler']!r} labeled {id} {first['id']!r} more than once; keep "
            "one of the lines"
        )


def _voted(
    frame: pl.DataFrame, row: Array, labeler: Array, label: pl.Series, names: tuple[str, ...], title: str, column: str,
    keep_variants: bool,
) -> Reshaped:  # fmt: skip
    """column : that of the vote; a column of the table with this name is replaced if it had the labels"""
    variants = label_variants(Counter(label.to_list()), keep_variants)
    note = variants.note()
    label = variants.applied(label)
    several = SeveralLabels(row, labeler, np.array(label.to_list(), dtype=object), names, title)
    while column == VOTE and column in frame.columns:
        column += "_"
    frame = frame.with_columns(pl.Series(column, vote(several, frame.height), dtype=pl.String))
    return Reshaped(frame, column, several, () if note is None else (note,))


def vote(several: SeveralLabels, n_rows: int) -> list[str | None]:
    """The most probable label of every row given only its labels; None if it has none."""
    classes, code = np.unique(several.label.astype(str), return_inverse=True)
    shares = np.bincount(code, minlength=len(classes)) / max(len(code), 1)
    given = GivenLabels(several.row, code, several.labeler, len(several.names))
    rows = LabeledRows(np.tile(np.log(shares), (n_rows, 1)), given, np.zeros(n_rows, dtype=int))
    model = LabelerModel.of_rows(rows, constant_rate(len(classes), _START_DIAGONAL), Full())
    n_labels = np.bincount(several.row, minlength=n_rows)
    # rows with one label say nothing about labelers
    found = model.solved() if (n_labels > 1).any() else model.as_started()
    true, _ = rows.expected(found.of_labelers)
    best = classes[true.argmax(axis=1)].tolist()
    return [label if n else None for label, n in zip(best, n_labels.tolist(), strict=True)]
