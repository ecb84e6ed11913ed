"""From an imported table and the verdicts on it to what the pages show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import polars as pl

from ..auditing.pipeline import AuditOptions, FitOptions, audit_table
from ..auditing.result import Audit
from ..auditing.summary import describe, summarise
from ..auditing.table import Table
from ..data.cells import as_text
from ..data.errors import InputError
from ..data.label_variants import label_variants
from ..data.roles import Roles, find_roles, labels_of
from ..report.marks import pieces
from .store import Finding

#: Stages of a fit, and the share of the time that has passed when each begins.
STAGES = {
    "reading": 0.0, "making features": 0.05, "fitting": 0.15, "judging the rows": 0.55, "finding intervals": 0.6,
    "estimating the cost": 0.85, "writing": 0.95,
}  # fmt: skip
#: So many rows can be reviewed even where fewer look wrong.
LEAST_QUEUE = 500
TEXT_LIMIT = 5_000
CELLS_SHOWN = 24
_VERDICT = "verdict"

Progress = Callable[[str], None]


class Fit(NamedTuple):
    overview: dict[str, Any]
    findings: list[Finding]


def as_roles(stored: dict[str, object] | None) -> Roles:
    if stored is None:
        raise InputError("the columns of this table were not chosen yet; choose them on the Import page")
    # a store of an earlier version does not name them all
    known = {name: stored[name] for name in Roles._fields if name in stored}
    return Roles(**{name: tuple(value) if isinstance(value, list) else value for name, value in known.items()})  # type: ignore[arg-type]


def choose_roles(frame: pl.DataFrame, chosen: Mapping[str, Any]) -> tuple[Roles, list[str]]:
    """The roles of the columns, guessed where not chosen, and the labels that occur."""
    roles, _ = find_roles(frame, **chosen)
    counts = Counter(label for label in labels_of(frame, roles).tolist() if label is not None)
    return roles, sorted(label_variants(counts).merged(counts))


def fit_table(
    frame: pl.DataFrame, roles: Roles, name: str, verdicts: Mapping[int, str], progress: Progress, seed: int = 0
) -> Fit:
    """Verdicts (label by row) count as verified labels, before those of the table's own column."""
    table = Table(*_with_verdicts(frame, roles, verdicts), name)
    found = audit_table(table, FitOptions(seed=seed), AuditOptions(), progress)
    progress("writing")
    overview = summarise(found)
    del overview["suspects"]
    return Fit(overview, _findings(found))


def _with_verdicts(frame: pl.DataFrame, roles: Roles, verdicts: Mapping[int, str]) -> tuple[pl.DataFrame, Roles]:
    if not verdicts:
        return frame, roles
    known = [None] * frame.height if roles.verified is None else as_text(frame[roles.verified]).to_list()
    for position, label in verdicts.items():
        known[position] = label
    column = _VERDICT
    while column in frame.columns:
        column += "_"
    return frame.with_columns(pl.Series(column, known, dtype=pl.String)), roles._replace(verified=column)


def _findings(found: Audit) -> list[Finding]:
    """The suspects, and the next most suspicious rows after them."""
    table = found.table[found.table["given"].notna()]
    ranked = table.sort_values("p_wrong", ascending=False, kind="stable")
    least = max(LEAST_QUEUE, int(getattr(found.model, "review_count_", 0)))
    further = ranked[~ranked["suspect"]].head(max(least - int(table["suspect"].sum()), 0))
    suspects = ranked[ranked["suspect"]]
    return [
        *(_finding(row, suspect=True) for row in describe(found, suspects.index.to_numpy())),
        *(_finding(row, suspect=False) for row in describe(found, further.index.to_numpy())),
    ]


def _finding(row: Mapping[str, Any], suspect: bool) -> Finding:
    evidence = sorted(row["evidence"], key=lambda item: -abs(item["weight"]))
    cells = [
        {"column": column, "pieces": pieces(str(value), column, evidence, TEXT_LIMIT)}
        for column, value in row["cells"].items()
        if value is not None
    ]
    shown = {
        "cells": cells[:CELLS_SHOWN],
        "evidence": [{"feature": item["feature"], "weight": item["weight"]} for item in evidence],
        **{name: row[name] for name in ("rest", "label_weight", "log_odds")},
    }
    return Finding(
        position=row["row"] - 1, row_id=row["id"], given=row["given"], suggested=row["suggested"],
        p_wrong=row["p_wrong"], p_suggested=row["p_suggested"], suspect=suspect, shown=shown,
    )  # fmt: skip
