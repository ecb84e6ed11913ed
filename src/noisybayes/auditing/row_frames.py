"""The results for rows and classes as tables for users, with columns of the audited table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..audit.columns import Array
from .columns import Columns
from .result import Audit
from .row_table import RowTable

_GROUP_COLUMNS = (
    "column", "kind", "group", "rows", "rate", "checked", "rate_low", "rate_high", "difference", "low", "high",
    "given", "should_be", "agreement", "note",
)  # fmt: skip


def suspect_columns(audit: Audit) -> Columns:
    """The results for each suspect, with its label and text columns from the table."""
    suspects = audit.findings.rows.suspects
    if audit.source is None:
        return suspects
    roles = audit.source.roles
    names = list(dict.fromkeys(name for name in (roles.label, *roles.text) if name not in suspects.values))
    cells = audit.gather(names, suspects.rows)
    return replace(suspects, values={**suspects.values, **{name: cells[name].to_list() for name in names}})


def health_columns(audit: Audit) -> Columns:
    """By label: rows that have it, the estimated share of wrong ones with its interval, suspects, and the label that
    most of the wrong ones should have. Most wrong labels first."""
    by_class, pairs = audit.findings.class_columns.values, audit.findings.pair_columns.values
    should_be: dict[Any, Any] = {}
    for given, true in zip(pairs["given"].tolist(), pairs["true"].tolist(), strict=True):
        should_be.setdefault(given, true)  # pairs with the most rows come first
    order = np.argsort(-by_class["wrong"], kind="stable")
    labels = by_class["label"][order]
    return Columns(
        {
            "label": labels,
            "rows": by_class["given"][order].round().astype(int),
            **{name: by_class[name][order] for name in ("wrong", "low", "high", "suspects") if name in by_class},
            "should_be": [should_be.get(label) for label in labels.tolist()],
        },
        index="label",
    )


def group_columns(audit: Audit) -> Columns | None:
    """By labeler, source and second opinion: labels, estimated share of wrong ones, how much more or less than of all
    others with an interval, and the most confused pair. None if nobody knows who gave the labels."""
    groups = audit.summary()["groups"]
    if not groups:
        return None
    pairs = [one["confuses"] or {} for one in groups]
    records = [
        {**one, "given": pair.get("given"), "should_be": pair.get("true")}
        for one, pair in zip(groups, pairs, strict=True)
    ]
    return Columns.of_records(records, _GROUP_COLUMNS)


def consensus_columns(audit: Audit) -> Columns | None:
    """For rows with several labels, the most probable label given all of them and the columns. Rows with the lowest
    probability benefit most from one more label."""
    found = consensus_without_ids(audit)
    column = None if audit.source is None else audit.source.roles.id
    if found is None or column is None:
        return found
    ids = audit.gather([column], np.arange(audit.findings.rows.n_rows))[column]
    return replace(found, values={"id": ids.to_list(), **found.values})


def consensus_without_ids(audit: Audit) -> Columns | None:
    """The same, without the names of the rows, which would have to be read from a file."""
    several = None if audit.source is None else audit.source.several
    if several is None:
        return None
    rows = audit.findings.rows
    assert isinstance(rows, RowTable)
    p_vote, p_suggested = 1.0 - rows.results.p_wrong, rows.results.p_suggested
    # the suggestion for a suspect is not its vote, even if the vote is more probable
    keeps_vote = rows.results.suspect & (p_vote >= p_suggested)
    best = np.where(keeps_vote, rows.results.observed, rows.results.suggested)
    value_of = values_of(audit.findings.classes, several.values)
    n_labels, agreement = several.share_agreeing(value_of[best])
    return Columns(
        {
            "consensus": audit.findings.classes[best],
            "probability": np.where(keeps_vote, p_vote, p_suggested),
            "n_labels": n_labels,
            "agreement": agreement,
        }
    )


def values_of(classes: Array, values: Sequence[str]) -> Array:
    """(K,) the position of each class among the labels that occur."""
    return np.array([values.index(str(name)) for name in classes.tolist()])


#: The tables of an audit by the names of its attributes.
TABLES: dict[str, Callable[[Audit], Columns | None]] = {
    "table": lambda audit: audit.findings.rows.table,
    "suspects": suspect_columns,
    "health": health_columns,
    "groups": group_columns,
    "consensus": consensus_columns,
    "by_class": lambda audit: audit.findings.class_columns,
    "confused_pairs": lambda audit: audit.findings.pair_columns,
    "contradictions": lambda audit: audit.findings.contradicted.columns,
}


def positions_of(rows: Any, index: Any) -> Array:
    """Positions of rows in the index; without an index, `rows` are positions."""
    rows = list(rows)
    if index is None or not rows:
        return np.asarray(rows, dtype=np.intp)
    if not index.is_unique:
        raise ValueError("the index of the audited data frame has duplicates; call reset_index() first")
    positions = index.get_indexer(rows)
    if (positions < 0).any():
        raise KeyError(f"{rows[int(np.argmin(positions))]!r} is not in the index of the audited data frame")
    return np.asarray(positions, dtype=np.intp)
