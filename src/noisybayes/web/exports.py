"""What leaves the desk: the table with its corrected labels, and the log of the verdicts."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
from starlette.responses import Response, StreamingResponse

from ..data.cells import as_text
from ..data.read import write_table
from ..data.spreadsheets import neutral_text
from ..report.extra_columns import with_columns
from .column_roles import as_roles
from .limited import run_limited, table_on_disk
from .store import Store, Verdict
from .uploads import MOST_SECONDS

if TYPE_CHECKING:
    from .desk import Desk

CSV = "text/csv; charset=utf-8"
_PIECE = 1 << 16
LOG_COLUMNS = (
    "verdict", "row", "reviewer", "action", "given", "suggested", "p_wrong", "label", "created", "undone",
)  # fmt: skip


def corrections(store: Store, table_id: int) -> list[tuple[int, str, str, float | None]]:
    """Position, label to use, whose it is and P(wrong), of the rows of which there is something to say.

    The label is the reviewer's, else the suggested one of a suspect; empty: as given.
    """
    said: dict[int, tuple[str, str, float | None]] = {}
    for finding in store.findings(table_id):
        label, source = (finding.suggested, "suggested") if finding.suspect else ("", "given")
        said[finding.position] = (label, source, finding.p_wrong)
    for position, verdict in store.verdicts(table_id).items():
        said[position] = (verdict.label, "reviewed", said[position][2] if position in said else None)
    return [(position, *what) for position, what in said.items()]


def write_corrected(
    frame: pl.DataFrame, label: str, said: list[tuple[int, str, str, float | None]], made: Path, raw: bool
) -> None:
    """The table as it came, and beside it the label to use. Unless `raw`, spreadsheets find no formulas in it."""
    labels = as_text(frame[label]).to_list()
    source = ["given"] * frame.height
    p_wrong: list[float | None] = [None] * frame.height
    for position, corrected, by, probability in said:
        source[position], p_wrong[position] = by, probability
        if by != "given":
            labels[position] = corrected
    frame = with_columns(frame, {"corrected_label": labels, "corrected_by": source, "p_wrong": p_wrong})
    write_table(frame, made, "csv", neutral=not raw)


@contextmanager
def corrected_csv(desk: Desk, table_id: int, raw: bool) -> Iterator[Path]:
    """The file, for as long as it is needed; made in a process of its own."""
    store = desk.store
    roles = as_roles(store.table(table_id).roles)
    with table_on_disk(store.content(table_id)) as path:
        said, made = path.with_name("corrections.json"), path.with_name("corrected.csv")
        said.write_text(json.dumps(corrections(store, table_id)), encoding="utf-8")
        arguments = {"table": str(path), "made": str(made), "label": roles.label, "corrections": str(said), "raw": raw}
        run_limited("export", arguments, desk.settings.most_memory, MOST_SECONDS)
        yield made


def corrected_response(desk: Desk, table_id: int, raw: bool, headers: dict[str, str] | None = None) -> Response:
    """Sent piece by piece: the server never holds the table."""
    with ExitStack() as stack:
        file = stack.enter_context(stack.enter_context(corrected_csv(desk, table_id, raw)).open("rb"))
        keep = stack.pop_all()

    def pieces() -> Iterator[bytes]:
        with keep:
            while piece := file.read(_PIECE):
                yield piece

    return StreamingResponse(pieces(), media_type=CSV, headers=headers)


def log_csv(store: Store, table_id: int, raw: bool = False) -> bytes:
    """Every verdict, those taken back too, oldest first. Unless `raw`, spreadsheets find no formulas in it."""
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
    )  # fmt: skip
