"""What leaves the desk: the table with its corrected labels, and the log of the verdicts."""

from __future__ import annotations

import csv
import io
from typing import Any

import polars as pl

from ..data.cells import as_text
from ..report.extra_columns import with_columns
from .fitting import read_content
from .jobs import as_roles
from .store import Store, Verdict

LOG_COLUMNS = (
    "verdict", "row", "reviewer", "action", "given", "suggested", "p_wrong", "label", "created", "undone",
)  # fmt: skip


def corrected_csv(store: Store, table_id: int) -> bytes:
    """The table as it came, and beside it the label to use: the reviewer's, else the suggested one of a suspect."""
    table = store.table(table_id)
    frame = read_content(store.content(table_id))
    labels = as_text(frame[as_roles(table.roles).label]).to_list()
    source = ["given"] * frame.height
    p_wrong: list[float | None] = [None] * frame.height
    for finding in store.findings(table_id):
        p_wrong[finding.position] = finding.p_wrong
        if finding.suspect:
            labels[finding.position], source[finding.position] = finding.suggested, "suggested"
    for position, verdict in store.verdicts(table_id).items():
        labels[position], source[position] = verdict.label, "reviewed"
    frame = with_columns(frame, {"corrected_label": labels, "corrected_by": source, "p_wrong": p_wrong})
    odd = [column for column in frame if column.dtype.is_nested() or column.dtype in (pl.Object, pl.Binary)]
    return frame.with_columns([as_text(column) for column in odd]).write_csv().encode()


def log_csv(store: Store, table_id: int) -> bytes:
    """Every verdict, those taken back too, oldest first."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(LOG_COLUMNS)
    writer.writerows(_log_row(verdict) for verdict in store.log(table_id))
    return written.getvalue().encode()


def _log_row(verdict: Verdict) -> tuple[Any, ...]:
    undone = "" if verdict.undone is None else verdict.undone.isoformat(timespec="seconds")
    return (
        verdict.id, verdict.position + 1, verdict.reviewer, verdict.action, verdict.given, verdict.suggested,
        verdict.p_wrong, verdict.label, verdict.created.isoformat(timespec="seconds"), undone,
    )  # fmt: skip
