"""The columns that say who or what gave a label, as codes: labelers, sources, several labels, a second opinion."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from .._shares import percent
from ..audit.columns import Array
from ..audit.groups import Column, Labels
from ..audit.pool import FOLDS_OF_FEW
from ..data.cells import positions
from ..data.errors import InputError
from ..data.roles import label_texts
from ..data.source_levels import cell_texts, source_levels
from .table import Table
from .table_features import EncodedLabels

# With more labelers than this share of the rows, the column is an identifier.
_MOST_LABELERS = 0.5
# A column with more distinct values is not an opinion on a few classes.
_MOST_VALUES = 1_000
# An opinion that repeats more of the labels may be derived from them.
_TOO_GOOD = 0.98


class GroupedLabels(NamedTuple):
    labels: tuple[Labels, ...] = ()  # by group, then the second opinion; none: by nobody in particular
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    fold_by: Array | None = None  # (n,) codes of rows that stay in one fold


def grouped_labels(table: Table, encoded: EncodedLabels, missing_label: str | None) -> GroupedLabels:
    assert isinstance(table.source, pl.DataFrame)
    roles, frame, K = table.roles, table.source, len(encoded.classes)
    columns = [] if roles.labeler is None else [_labelers(frame[roles.labeler], roles.labeler)]
    columns += [
        Column(name, "source", found.names, found.code, found.is_ordered)
        for name, found in ((name, source_levels(frame, name)) for name in roles.source)
    ]
    notes = [
        f"the {one.kind} {one.name!r} was left out: it is {one.levels[0]!r} in every row"
        for one in columns
        if len(one.levels) < 2
    ]
    columns = [one for one in columns if len(one.levels) > 1]
    fold_by = None if roles.fold_by is None else _fold_codes(cell_texts(frame[roles.fold_by]), roles.fold_by)
    if not columns and table.several is None and roles.second_opinion is None:
        return GroupedLabels(notes=tuple(notes), fold_by=fold_by)
    if table.several is None:
        row = np.flatnonzero(encoded.observed < K)
        labels = Labels(row, encoded.observed[row].astype(np.intp), K, tuple(columns)).at(row)
    else:
        labels = _of_several(table, encoded, columns)
    known = [f"{one.kind}: {one.name!r} ({len(one.levels)} groups)" for one in labels.columns]
    if roles.second_opinion is None:
        return GroupedLabels((labels,), (*notes, *known), fold_by=fold_by)
    opinion, agreement = _opinion(
        label_texts(frame[roles.second_opinion], missing_label), encoded, roles.second_opinion
    )
    warnings: tuple[str, ...] = ()
    if agreement >= _TOO_GOOD:
        warnings = (
            f"The second opinion {roles.second_opinion!r} repeats {percent(agreement)} of the labels. If it was "
            "derived from them, or they from it, it repeats their mistakes and hides them. Use an opinion that is "
            "independent of the labels.",
        )
    known.append(f"second opinion: {roles.second_opinion!r} (repeats {percent(agreement)} of the labels)")
    return GroupedLabels((labels, opinion), (*notes, *known), warnings, fold_by)


def _labelers(cells: pl.Series, name: str) -> Column:
    texts = cell_texts(cells)
    names = texts.drop_nulls().unique().sort()
    if not len(names):
        raise InputError(f"--labeler: the column {name!r} is empty in every row")
    if len(names) > max(2, _MOST_LABELERS * len(texts)):
        raise InputError(
            f"--labeler: the column {name!r} has {len(names):,} distinct values in {len(texts):,} rows, and looks like "
            "an identifier; name the column that says who labeled each row"
        )
    code = positions(texts, names)
    return Column(name, "labeler", tuple(names.to_list()), np.where(code < 0, len(names), code).astype(np.intp))


def _fold_codes(cells: pl.Series, name: str) -> Array:
    """Rows without a value are on their own."""
    values = cells.drop_nulls().unique().sort()
    if len(values) + cells.null_count() < FOLDS_OF_FEW:
        raise InputError(
            f"--fold-by: the column {name!r} has {len(values)} distinct values, but rows are dealt into folds by them, "
            f"which needs at least {FOLDS_OF_FEW}; name a column such as a thread, an author or a document"
        )
    code = positions(cells, values).astype(np.intp)
    alone = np.flatnonzero(code < 0)
    code[alone] = len(values) + np.arange(len(alone))
    return code


def _of_several(table: Table, encoded: EncodedLabels, columns: list[Column]) -> Labels:
    """A label that no row was voted to have is not a class, and is left out, as are rows of none of the classes."""
    several, K = table.several, len(encoded.classes)
    assert several is not None
    code = {str(name): k for k, name in enumerate(encoded.classes.tolist())}
    value = np.array([code.get(name, K) for name in several.values])[several.value]
    chosen = np.flatnonzero((value < K) & (encoded.observed[several.row] < K))
    who = several.labels.columns[0]
    row = several.row[chosen]
    by = (who._replace(code=who.code[chosen]), *(one._replace(code=one.code[row]) for one in columns))
    return Labels(row, value[chosen].astype(np.intp), K, by)


def _opinion(texts: pl.Series, encoded: EncodedLabels, column: str) -> tuple[Labels, float]:
    """The opinion, and the share of the labels that it repeats; a copy of all of them is refused."""
    names = [str(name) for name in encoded.classes.tolist()]
    alike = {name.casefold(): name for name in reversed(names)}
    said = [text if text is None or text in names else alike.get(text.casefold(), text) for text in texts.to_list()]
    others = sorted({text for text in said if text is not None} - set(names))
    if not any(text is not None for text in said):
        raise InputError(f"--second-opinion: the column {column!r} is empty in every row")
    if len(others) > max(_MOST_VALUES, len(said) // 2) or (len(others) > 20 and 2 * len(others) > len(said)):
        raise InputError(
            f"--second-opinion: the column {column!r} has {len(others)} distinct values that are not labels, and looks "
            "like a text or an identifier"
        )
    code_of = {name: code for code, name in enumerate((*names, *others))}
    row = np.array([row for row, text in enumerate(said) if text is not None])
    value = np.array([code_of[said[at] or ""] for at in row.tolist()])
    both = np.flatnonzero(encoded.observed[row] < len(names))
    if not len(both):
        raise InputError(f"--second-opinion: no row has both a label and an opinion in the column {column!r}")
    agreement = float((encoded.observed[row[both]] == value[both]).mean())
    if agreement == 1.0:
        raise InputError(
            f"--second-opinion: the column {column!r} repeats the label in every row; a copy is not an independent "
            "opinion, so leave it out"
        )
    return Labels(row, value, len(code_of), name=column), agreement
