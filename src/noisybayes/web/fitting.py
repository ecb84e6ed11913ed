"""Fits an imported table with the verdicts on it, and prepares the results for the pages."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from ..auditing.pipeline import AuditOptions, audited
from ..auditing.random_checks import draw
from ..auditing.result import Audit
from ..auditing.several_labels import SeveralLabels
from ..auditing.summary import describe, summarise
from ..auditing.table import Table
from ..auditing.table_fit import FitOptions
from ..data.cells import as_text
from ..data.frames import new_names
from ..data.roles import Roles, labels_of
from ..report.highlights import pieces
from ..report.suspect_rows import OPEN_CELLS, rank_of, short_number
from .column_roles import checked_rows
from .store import Finding

#: Minimum length of the review queue, even if there are fewer suspects.
LEAST_QUEUE = 500
TEXT_LIMIT = 5_000
#: A wider table shows the columns with the most evidence.
CELLS_SHOWN = 200
#: Size of the random sample.
SAMPLE = 200
_VERDICT, _CHECKED = "verdict", "checked_at_random"

Progress = Callable[[str], None]


class Fit(NamedTuple):
    overview: dict[str, Any]
    findings: list[Finding]
    corrected: dict[int, str]  # labels that differ from the given ones, by position


def fit_table(
    frame: pl.DataFrame,
    roles: Roles,
    name: str,
    verdicts: Mapping[int, str | None],
    no_class: Collection[int],
    progress: Progress,
    seed: int = 0,
    several: SeveralLabels | None = None,
) -> Fit:
    """Fit with the verdicts.

    verdicts : label by row, used as verified labels instead of the table's column. None: the reviewer gave no label.
    no_class : rows that belong to none of the classes: their labels are wrong, and the model is not trained on them
    several : the labels of each labeler, if rows have several; the given label is then the majority
    """
    drawn = random_rows(frame, roles, seed)
    checked = set(checked_rows(drawn, verdicts, no_class))
    known = {position: label for position, label in verdicts.items() if label is not None}
    none = {position: position in checked for position in no_class}
    table = Table(*_with_verdicts(frame, roles, known, checked), name, no_class=none, several=several)
    options = FitOptions(seed=seed, scratch=Path(tempfile.gettempdir()))
    with audited(table, options, AuditOptions(), progress=progress) as audit:
        progress("writing")
        overview = summarise(audit)
        del overview["suspects"]
        findings = _findings(audit, [row for row in drawn if row not in set(no_class)])
        return Fit({**overview, "sample": drawn}, findings, _corrected(audit, as_text(frame[roles.label]), known))


def random_rows(frame: pl.DataFrame, roles: Roles, seed: int = 0) -> list[int]:
    """Positions of rows with a label in random order, the same in every fit."""
    missing = np.array([label is None for label in labels_of(frame, roles).tolist()])
    return [int(position) for position in draw(missing.astype(int), 1, SAMPLE, seed)]


def _with_verdicts(
    frame: pl.DataFrame, roles: Roles, verdicts: Mapping[int, str], checked: Collection[int] = ()
) -> tuple[pl.DataFrame, Roles]:
    """checked : positions of verdicts on rows that were drawn at random"""
    if not verdicts:
        return frame, roles
    known = [None] * frame.height if roles.verified is None else as_text(frame[roles.verified]).to_list()
    for position, label in verdicts.items():
        known[position] = label
    column, at_random = new_names([_VERDICT, _CHECKED], frame.columns)
    roles = roles._replace(verified=column)
    columns = [pl.Series(column, known, dtype=pl.String)]
    if checked and roles.verified_random is None:
        random = [label if position in checked else None for position, label in enumerate(known)]
        columns.append(pl.Series(at_random, random, dtype=pl.String))
        roles = roles._replace(verified_random=at_random)
    return frame.with_columns(columns), roles


def _findings(audit: Audit, drawn: Sequence[int]) -> list[Finding]:
    """The suspects, the next most suspicious rows, rows to check at random, and verdicts to recheck."""
    rows = audit.findings.rows
    suspects = rows.most_suspicious(rows.n_suspects)
    further = rows.further(max(LEAST_QUEUE - len(suspects), 0))
    again = [*drawn, *audit.findings.contradicted.rows.tolist()]
    listed = {*suspects.tolist(), *further.tolist()}
    others = np.array([row for row in dict.fromkeys(again) if row not in listed], dtype=int)
    return [
        *(_finding(row, suspect=True) for row in describe(audit, suspects)),
        *(_finding(row, suspect=False) for row in describe(audit, further)),
        *(_finding(row, suspect=False) for row in describe(audit, others)),
    ]


def _corrected(audit: Audit, given: pl.Series, verdicts: Collection[int]) -> dict[int, str]:
    """As in the file `corrected` of the command; verdicts are kept apart, since they can be undone."""
    labels = audit.findings.rows.frame["corrected"].to_list()
    pairs = enumerate(zip(labels, given.to_list(), strict=True))
    return {row: label for row, (label, before) in pairs if label != before and row not in verdicts}


def cell_rank(cell: Mapping[str, Any]) -> tuple[int, int]:
    return rank_of(cell["pieces"])


def _finding(row: Mapping[str, Any], suspect: bool) -> Finding:
    evidence = sorted(row["evidence"], key=lambda item: -abs(item["weight"]))
    cells = [
        {"column": column, "pieces": pieces(short_number(str(value)), column, evidence, TEXT_LIMIT)}
        for column, value in row["cells"].items()
        if value is not None
    ]
    n_cells, is_wide = len(cells), len(cells) > OPEN_CELLS
    cells = sorted(cells, key=cell_rank)[:CELLS_SHOWN] if is_wide else cells
    shown = {
        "cells": cells,
        "n_columns": n_cells,
        "n_open": min(max(sum(cell_rank(cell)[0] < 2 for cell in cells), 1), OPEN_CELLS) if is_wide else len(cells),
        "evidence": [{"feature": item["feature"], "weight": item["weight"]} for item in evidence],
        **{name: row[name] for name in ("rest", "label_weight", "log_odds")},
    }
    return Finding(
        position=row["row"] - 1, row_id=row["id"], given=row["given"], suggested=row["suggested"],
        p_wrong=row["p_wrong"], p_suggested=row["p_suggested"], suspect=suspect, shown=shown,
    )  # fmt: skip
