"""Rows to check at random: drawing them, and reading the results.

The first rows of a sample are a sample too, and a larger sample with the same seed begins with the smaller one: after
50 checks, you can check the next 50. Rows that were chosen by their P(wrong) never count as drawn at random.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from ..audit.columns import Array, hashed
from ..audit.scale import DRAW_SEED
from ..data.errors import InputError
from ..data.read import read_table
from ..data.roles import check_columns, label_texts
from ..data.source_levels import cell_texts
from .table import Table
from .table_features import EncodedLabels

if TYPE_CHECKING:
    from .result import Audit

#: True label of a row that belongs to none of the classes, so that its label is wrong (unless a class has this name).
NO_CLASS = "no_class"
#: Columns of a sample: the row of the table, and the label to fill in.
ROW, TRUE_LABEL = "row", "true_label"
#: The column by which rows were drawn, if not all had the same chance.
DRAWN_BY = "drawn_by"
_RESERVED = (ROW, "id", "given", TRUE_LABEL, DRAWN_BY)


class RandomChecks(NamedTuple):
    """Rows that were drawn at random and checked, with their true labels."""

    rows: Array  # (m,) positions, all with a label
    label: Array  # (m,) codes
    strata: Array | None = None  # (n,) codes of all rows, if equally many were drawn of each; None: of all at once


class NoClass(NamedTuple):
    """Rows that belong to none of the classes: their labels are wrong, and the model is not trained on them."""

    rows: Array  # (q,) positions
    given: Array  # (q,) codes of their given labels; -1 if that class has no rows left
    drawn: Array  # (q,) bool: drawn at random


def draw(observed: Array, n_classes: int, size: int, seed: int, by: Array | None = None) -> Array:
    """Positions of `size` rows with a label, in random order (or all, if there are fewer). by : (n,) codes: a row of
    each in turn, until there are enough"""
    labeled = np.flatnonzero(observed < n_classes)
    drawn = labeled[np.argsort(hashed(seed ^ DRAW_SEED, labeled), kind="stable")]
    if by is not None:
        order = np.argsort(by[drawn], kind="stable")
        _, first, count = np.unique(by[drawn[order]], return_index=True, return_counts=True)
        turn = np.empty(len(drawn), dtype=np.intp)
        turn[order] = np.arange(len(drawn)) - np.repeat(first, count)
        drawn = drawn[np.argsort(turn, kind="stable")]
    return np.asarray(drawn[:size])


def sample_frame(audit: Audit, size: int, by: str | None = None) -> pl.DataFrame:
    """Rows drawn at random, with an empty column for the true labels; known ones are already filled in. by : draw
    equally from each value of this column, which is then in the sample, so that the checks can be weighted"""
    from .streamed import StreamedTable
    from .summary import cells_of

    judged, table = audit.findings.judged, audit.findings.rows
    assert judged.observed is not None
    if isinstance(table, StreamedTable):
        if by is not None:
            raise InputError("--sample-by needs all rows in memory, and the table is too large; leave it out")
        drawn = table.drawn(size)
        rows, observed = drawn.row, drawn.results.observed
        verified = np.where(drawn.results.verified, drawn.results.corrected, -1)
    else:
        codes = None if by is None else column_codes(audit.source, by)
        rows = draw(judged.observed, len(judged.classes), size, audit.run.seed, codes)
        observed = judged.observed[rows]
        verified = np.full(len(rows), -1) if judged.verified is None else judged.verified[rows]
    cells, ids = cells_of(audit, rows)
    names = [str(label) for label in judged.classes.tolist()]
    columns: dict[str, Any] = {
        ROW: rows + 1,
        **({} if all(name is None for name in ids) else {"id": ids}),
        "given": [names[code] for code in observed],
        **({} if by is None else {DRAWN_BY: [by] * len(rows)}),
        TRUE_LABEL: pl.Series([names[code] if code >= 0 else None for code in verified], dtype=pl.String),
    }
    extra_columns = [name for name in (cells[0] if cells else {}) if name not in _RESERVED]
    return pl.DataFrame({**columns, **{name: [each[name] for each in cells] for name in extra_columns}})


def random_checks(
    table: Table, labels: EncodedLabels, missing_label: str | None
) -> tuple[EncodedLabels, RandomChecks | None, NoClass | None, list[str]]:
    """The labels with the random checks among the verified ones, the checks, the rows that belong to none of the
    classes (their labels count as missing), and messages about them."""
    where = repr(table.roles.verified_random) if table.checks is None else table.checks
    is_requested = table.roles.verified_random is not None or table.checks is not None
    checked, none = _checked(table, labels, missing_label, where) if is_requested else ({}, [])
    none = [*table.no_class, *none]
    drawn = [row for row in none if table.no_class.get(row, True)]
    messages = [f"no true label is filled in in {where}, so there are no rows checked at random"]
    messages = messages if is_requested and not checked and not drawn else []
    labels = _verified(labels, checked, table.roles.verified, where)
    labels, no_class = _without_class(labels, none, drawn)
    rows = np.array([row for row in checked if labels.observed[row] < len(labels.classes)], dtype=int)
    checks = None
    if labels.verified is not None and len(rows):
        checks = RandomChecks(rows, labels.verified[rows], _strata(table))
    return labels, checks, no_class, messages


def _checked(
    table: Table, labels: EncodedLabels, missing_label: str | None, where: str
) -> tuple[dict[int, int], list[int]]:
    """The codes of true labels by row, and the rows that belong to none of the classes."""
    read = _of_column(table, missing_label) if table.checks is None else _of_file(table, labels, missing_label)
    code_of = {str(label): code for code, label in enumerate(labels.classes.tolist())}
    checked: dict[int, int] = {}
    none: list[int] = []
    for row, label in read:
        if row in table.no_class:
            continue
        if label in code_of:
            checked[row] = code_of[label]
        elif label == NO_CLASS:
            none.append(row)
        else:
            raise InputError(
                f"row {row + 1}: the true label {label!r} in {where} is not one of the labels "
                f"({', '.join(map(repr, list(code_of)[:12]))}); correct it, leave it empty, or write {NO_CLASS} if "
                "none of them applies"
            )
    return checked, none


def _verified(labels: EncodedLabels, checked: Mapping[int, int], column: str | None, where: str) -> EncodedLabels:
    """The labels with the checked rows among the verified ones."""
    if not checked:
        return labels
    at, code = np.array(list(checked)), np.array(list(checked.values()))
    verified = np.full(len(labels.observed), -1, dtype=np.int32) if labels.verified is None else labels.verified.copy()
    other = np.flatnonzero((verified[at] >= 0) & (verified[at] != code))
    if len(other):
        row = int(at[other[0]])
        raise InputError(
            f"row {row + 1} was checked twice with two results: {str(labels.classes[verified[row]])!r} in the column "
            f"{column!r} and {str(labels.classes[code[other[0]]])!r} in {where}; correct one of them"
        )
    verified[at] = code
    return labels._replace(verified=verified)


def _without_class(
    labels: EncodedLabels, none: Collection[int], drawn: Collection[int]
) -> tuple[EncodedLabels, NoClass | None]:
    """none : rows that belong to none of the classes; those without a label are ignored"""
    n_classes = len(labels.classes)
    rows = np.array([row for row in none if labels.observed[row] < n_classes], dtype=int)
    if not len(rows):
        return labels, None
    at_random = np.array([row in set(drawn) for row in rows.tolist()])
    no_class = NoClass(rows, labels.observed[rows], at_random)
    observed, verified = labels.observed.copy(), labels.verified
    observed[rows] = n_classes
    if verified is not None:
        verified = verified.copy()
        verified[rows] = -1
    labels, code_of = _without_empty_classes(labels._replace(observed=observed, verified=verified))
    return labels, no_class._replace(given=code_of[no_class.given])


def _without_empty_classes(labels: EncodedLabels) -> tuple[EncodedLabels, Array]:
    """The labels, and (K + 1,) new codes by old code; -1 for a class without rows."""
    codes = [labels.observed] if labels.verified is None else [labels.observed, labels.verified[labels.verified >= 0]]
    is_used = np.isin(np.arange(len(labels.classes) + 1), np.concatenate(codes))
    is_used[-1] = True  # no label
    code_of = np.where(is_used, np.cumsum(is_used) - 1, -1).astype(labels.observed.dtype)
    verified = labels.verified
    if verified is not None:
        verified = np.where(verified >= 0, code_of[verified], -1).astype(verified.dtype)
    return EncodedLabels(labels.classes[is_used[:-1]], code_of[labels.observed], verified), code_of


def _of_column(table: Table, missing_label: str | None) -> Iterator[tuple[int, str]]:
    start, column = 0, str(table.roles.verified_random)
    for frame in table.batches():
        texts = label_texts(frame[column], missing_label)
        for row, label in enumerate(texts.to_list(), start):
            if label is not None:
                yield row, label
        start += frame.height


def _of_file(table: Table, labels: EncodedLabels, missing_label: str | None) -> Iterator[tuple[int, str]]:
    assert table.checks is not None
    frame, n_rows = read_table(table.checks), len(labels.observed)
    if ROW not in frame.columns or TRUE_LABEL not in frame.columns:
        raise InputError(
            f"{table.checks} has no columns {ROW!r} and {TRUE_LABEL!r}; fill in the file that --sample wrote"
        )
    given = label_texts(frame["given"], None).to_list() if "given" in frame.columns else [None] * frame.height
    numbers = frame[ROW].cast(pl.Int64, strict=False).to_list()
    texts = label_texts(frame[TRUE_LABEL], missing_label).to_list()
    for number, label_then, label in zip(numbers, given, texts, strict=True):
        if number is None or not 1 <= number <= n_rows:
            raise InputError(f"{table.checks}: there is no row {number} in a table of {n_rows} rows")
        code = labels.observed[number - 1]
        label_now = str(labels.classes[code]) if code < len(labels.classes) else None
        if label_then is not None and label_then != label_now:
            raise InputError(
                f"{table.checks}: row {number} had the label {label_then!r} when it was drawn and has {label_now!r} "
                "now; is this the sample of another table?"
            )
        if label is not None:
            yield number - 1, label


def column_codes(table: Table | None, column: str) -> Array:
    """(n,) codes of the values of a column of a table in memory."""
    if table is None or not isinstance(table.source, pl.DataFrame):
        raise InputError("--sample-by needs a table in memory; leave it out")
    check_columns(table.source, {"sample-by": [column]})
    cells = cell_texts(table.source[column]).fill_null("")
    return np.asarray(np.unique(cells.to_numpy(), return_inverse=True)[1])


def _strata(table: Table) -> Array | None:
    """The codes by which the checked rows were drawn; None if every row had the same chance."""
    if table.checks is None:
        return None
    frame = read_table(table.checks)
    names = frame[DRAWN_BY].drop_nulls().unique().to_list() if DRAWN_BY in frame.columns else []
    return column_codes(table, names[0]) if names else None


def is_filled_in(path: Path) -> bool:
    """Whether a sample has been filled in, at least partly."""
    try:
        frame = read_table(path)
    except (InputError, OSError):
        return False
    return TRUE_LABEL in frame.columns and bool(label_texts(frame[TRUE_LABEL], None).drop_nulls().len())
