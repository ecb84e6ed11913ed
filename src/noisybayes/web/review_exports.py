"""Exports: the table with corrected labels, and the log of verdicts."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl
from starlette.responses import Response, StreamingResponse

from ..data.cells import as_text
from ..data.read import write_table
from ..data.spreadsheets import neutral_text
from ..report.extra_columns import with_columns
from .column_roles import as_roles
from .limited_process import run_limited, table_on_disk
from .store import Store, Verdict
from .uploads import MOST_SECONDS

if TYPE_CHECKING:
    from .desk import Desk

CSV = "text/csv; charset=utf-8"
_PIECE = 1 << 16
LOG_COLUMNS = (
    "verdict", "row", "reviewer", "action", "given", "suggested", "p_wrong", "label", "created", "undone",
    "note",
)  # fmt: skip


class Correction(NamedTuple):
    """The corrected label of a row and where it comes from."""

    position: int
    label: str | None  # None: none of the classes
    by: str  # reviewed, corrected or given; unsure and no_class are verdicts without a label
    p_wrong: float | None
    note: str = ""


_AS_GIVEN = ("given", "unsure")


def corrections(store: Store, table_id: int) -> list[Correction]:
    """The reviewer's label if there is one, else the one that the fit corrects without review, else the given one."""
    p_wrong = {finding.position: finding.p_wrong for finding in store.findings(table_id)}
    found = {position: Correction(position, None, "given", p) for position, p in p_wrong.items()}
    for position, label in store.corrected(table_id).items():
        found[position] = Correction(position, label, "corrected", p_wrong.get(position))
    for position, verdict in store.verdicts(table_id).items():
        by = verdict.action if verdict.label is None else "reviewed"
        found[position] = Correction(position, verdict.label, by, p_wrong.get(position), verdict.note)
    return list(found.values())


def write_corrected(frame: pl.DataFrame, label: str, corrected: Iterable[Correction], target: Path, raw: bool) -> None:
    """The imported table and the corrected labels. Unless `raw`, cells are escaped against spreadsheet formulas."""
    labels = as_text(frame[label]).to_list()
    source = ["given"] * frame.height
    p_wrong: list[float | None] = [None] * frame.height
    notes: list[str | None] = [None] * frame.height
    for one in corrected:
        source[one.position], p_wrong[one.position], notes[one.position] = one.by, one.p_wrong, one.note or None
        if one.by not in _AS_GIVEN:
            labels[one.position] = one.label
    added: dict[str, Any] = {
        "corrected": labels,
        "corrected_by": source,
        "p_wrong": p_wrong,
        "note": pl.Series(notes, dtype=pl.String),
    }
    frame = with_columns(frame, added)
    write_table(frame, target, "csv", neutral=not raw)


@contextmanager
def corrected_csv(desk: Desk, table_id: int, raw: bool) -> Iterator[Path]:
    """The file, written by a separate process and deleted at the end."""
    store = desk.store
    roles = store.table(table_id).roles
    as_roles(roles)
    with table_on_disk(store.content(table_id)) as path:
        stored, target = path.with_name("corrections.json"), path.with_name("corrected.csv")
        stored.write_text(json.dumps(corrections(store, table_id)), encoding="utf-8")
        arguments = {"table": str(path), "target": str(target), "roles": roles, "corrections": str(stored), "raw": raw}
        run_limited("export", arguments, desk.settings.most_memory, MOST_SECONDS)
        yield target


def corrected_response(desk: Desk, table_id: int, raw: bool, headers: dict[str, str] | None = None) -> Response:
    """Stream the file, so that the server never holds the whole table."""
    with ExitStack() as stack:
        file = stack.enter_context(stack.enter_context(corrected_csv(desk, table_id, raw)).open("rb"))
        keep = stack.pop_all()

    def pieces() -> Iterator[bytes]:
        with keep:
            while piece := file.read(_PIECE):
                yield piece

    return StreamingResponse(pieces(), media_type=CSV, headers=headers)


def log_csv(store: Store, table_id: int, raw: bool = False) -> bytes:
    """Every verdict, including undone ones, oldest first. Unless `raw`, cells are escaped against formulas."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(LOG_COLUMNS)
    keep = str if raw else neutral_text
    writer.writerows(
        [keep(cell) if isinstance(cell, str) else cell for cell in _log_row(verdict)] for verdict in store.log(table_id)
    )
    return written.getvalue().encode()


def _log_row(verdict: Verdict) -> tuple[Any, ...]:
    undone = "" if verdict.undone is None else verdict.undone.isoformat(timespec="seconds")
    return (
        verdict.id, verdict.position + 1, verdict.reviewer, verdict.action, verdict.given, verdict.suggested,
        verdict.p_wrong, verdict.label, verdict.created.isoformat(timespec="seconds"), undone,
        verdict.note,
    )  # fmt: skip
