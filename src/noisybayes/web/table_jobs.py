"""Jobs on uploaded tables, for `limited_process`. They take paths and plain data, and return plain data."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl

from ..data.cells import as_text
from ..data.column_guess import may_be_labels
from ..data.errors import InputError
from ..data.read import read_table, write_table
from .column_roles import LABEL_COLUMNS, as_roles, choose_roles, with_vote

MOST_ROWS = 1_000_000
_SAMPLES = 3
_LONGEST_SAMPLE = 300
_PREVIEW_ROWS = 5
_LONGEST_CELL = 81  # one character more than the page shows, to show that it was cut off
ReportStage = Callable[[str], None]


def read_file(report_stage: ReportStage, source: str, target: str, encoding: str) -> dict[str, Any]:
    """Convert any format to Parquet."""
    frame = read_table(source, encoding=encoding or None)
    if frame.height > MOST_ROWS:
        raise InputError(f"the table has {frame.height:,} rows; the review desk takes at most {MOST_ROWS:,}")
    write_table(frame, target, "parquet")
    return {"n_rows": frame.height, "columns": frame.columns, "preview": _preview(frame)}


def guess(report_stage: ReportStage, table: str, label: str) -> dict[str, Any] | None:
    """The roles of the other columns if this one holds the labels."""
    return _guessed(pl.read_parquet(table), {"label": label})


def choose(report_stage: ReportStage, table: str, chosen: Mapping[str, Any]) -> dict[str, Any]:
    roles, labels = choose_roles(pl.read_parquet(table), chosen)
    return {"roles": roles, "labels": labels}


def fit(
    report_stage: ReportStage, table: str, target: str, roles: dict[str, Any], name: str,
    verdicts: Mapping[str, str | None], no_class: Collection[int] = (),
) -> None:  # fmt: skip
    """Write the overview, the findings and the corrected labels to the file `target`."""
    from .fitting import fit_table

    by_row = {int(position): label for position, label in verdicts.items()}
    frame, several = pl.read_parquet(table), None
    if roles.get(LABEL_COLUMNS):
        frame, _, several, *_ = with_vote(frame, roles[LABEL_COLUMNS])
    fitted = fit_table(frame, as_roles(roles), name, by_row, no_class, report_stage, several=several)
    result = fitted._asdict() | {"findings": [one._asdict() for one in fitted.findings]}
    Path(target).write_text(json.dumps(result), encoding="utf-8")


def export(
    report_stage: ReportStage, table: str, target: str, roles: dict[str, Any], corrections: str, raw: bool
) -> None:
    """Write a CSV with the original cells and the corrected labels; `corrections` is a file."""
    from .review_exports import Correction, write_corrected

    corrected = [Correction(*one) for one in json.loads(Path(corrections).read_bytes())]
    frame = pl.read_parquet(table)
    if roles.get(LABEL_COLUMNS):
        frame = with_vote(frame, roles[LABEL_COLUMNS]).frame
    write_corrected(frame, as_roles(roles).label, corrected, Path(target), raw)


JOBS: dict[str, Callable[..., Any]] = {
    "read_file": read_file, "guess": guess, "choose": choose, "fit": fit, "export": export,
}  # fmt: skip


def _preview(frame: pl.DataFrame) -> dict[str, Any]:
    guessed = _guessed(frame, {})
    if guessed is None:  # no column has a name like a label: start with the last one that could be the label
        likely = next((name for name in reversed(frame.columns) if may_be_labels(frame[name])), None)
        guessed = None if likely is None else _guessed(frame, {"label": likely})
    samples = {
        name: [cell[:_LONGEST_SAMPLE] for cell in as_text(frame[name].drop_nulls().head(20 * _SAMPLES)).drop_nulls()]
        for name in frame.columns
    }
    rows = [[None if cell is None else cell[:_LONGEST_CELL] for cell in row] for row in _first_rows(frame)]
    return {"guessed": guessed, "samples": {name: cells[:_SAMPLES] for name, cells in samples.items()}, "rows": rows}


def _guessed(frame: pl.DataFrame, chosen: Mapping[str, Any]) -> dict[str, Any] | None:
    try:
        return choose_roles(frame, chosen)[0]
    except InputError:
        return None


def _first_rows(frame: pl.DataFrame) -> list[tuple[str | None, ...]]:
    head = frame.head(_PREVIEW_ROWS)
    return list(zip(*(as_text(head[name]).to_list() for name in head.columns), strict=True))


def import_libraries(job: str) -> None:
    """Import what a job needs."""
    if job in _MODULES:
        import_module(f".{_MODULES[job]}", __package__)


_MODULES = {"fit": "fitting", "export": "review_exports"}
