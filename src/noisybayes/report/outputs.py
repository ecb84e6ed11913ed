"""Writes the files of an audit, all at once."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from .._files import recover, whole_folder, why_not_writable
from .._threads import in_threads
from ..audit.rows import COLUMNS, OWN
from ..auditing.random_checks import is_filled_in, sample_frame
from ..auditing.result import Audit
from ..auditing.row_frames import consensus_without_ids
from ..auditing.streamed import StreamedTable
from ..data.errors import InputError
from ..data.read import write_batches, write_table
from .extra_columns import with_columns
from .html import render_html
from .saved import save_model
from .tool_exports import cleanlab_export, label_studio_config, label_studio_tasks

TO_CHECK = "to_check.csv"
#: Files that an audit writes; a folder with any other files is not touched.
NAMES = (
    "report.html", "audit.json", "suspects.csv", "suspects.parquet", "suspects.xlsx", "corrected.csv",
    "corrected.parquet", "corrected.xlsx", "model", "label_studio.json", "label_studio.xml", "cleanlab.json", TO_CHECK,
    "consensus.csv", "consensus.parquet", "consensus.xlsx",
)  # fmt: skip
# Python renders the page while libraries write the tables and the model.
_WRITERS = 2


def write_audit(
    audit: Audit,
    folder: Path,
    format: str = "csv",
    exports: tuple[str, ...] = (),
    sample: int | None = None,
    sample_by: str | None = None,
    *,
    raw_cells: bool = False,
) -> Path:
    """Write everything to a temporary folder, then replace `folder`. sample : rows drawn at random to check

    Unless `raw_cells`, cells of CSV files are escaped against spreadsheet formulas.
    """
    checks = None if audit.source is None else audit.source.checks
    check_folder(folder, checks)
    filled_in = None if checks is None or sample is not None else Path(checks).read_bytes()
    neutral = not raw_cells
    with whole_folder(folder) as staging:
        _write(audit, staging, format, exports, neutral)
        if sample is not None:
            write_table(sample_frame(audit, sample, sample_by), staging / TO_CHECK, "csv", neutral=neutral)
        elif filled_in is not None and Path(checks or "").resolve() == (folder / TO_CHECK).resolve():
            (staging / TO_CHECK).write_bytes(filled_in)
    return folder


def check_folder(folder: Path, checks: str | None = None) -> None:
    """Refuse to replace anything but an earlier audit, or a filled-in sample unless it is `checks`."""
    recover(folder)
    reason = why_not_writable(folder)
    if reason is not None:  # finding out after the fit would be too late
        raise InputError(f"{folder} cannot be written ({reason}); choose another folder with --out")
    if not folder.exists():
        return
    if not folder.is_dir():
        raise InputError(f"{folder} is a file; choose a folder with --out")
    if folder.resolve() == Path.cwd():
        raise InputError("the current folder cannot be replaced by an audit; choose another one with --out")
    others = sorted(path.name for path in folder.iterdir() if path.name not in NAMES)
    if others:
        raise InputError(f"{folder} contains other files ({', '.join(others[:3])}); choose a new folder with --out")
    sample = folder / TO_CHECK
    if sample.exists() and (checks is None or Path(checks).resolve() != sample.resolve()) and is_filled_in(sample):
        raise InputError(
            f"{sample} has been filled in and would be lost; use it with --verified-random {sample}, or move it"
        )


def _write(audit: Audit, folder: Path, format: str, exports: tuple[str, ...], neutral: bool) -> None:
    summary = audit.summary()

    def write_model() -> None:
        if audit.recipe is not None and audit.recipe.parts and audit.roles is not None:
            save_model(folder / "model", audit._fitted, audit.recipe, audit.roles)

    writers: list[Callable[[], Any]] = [
        lambda: (folder / "report.html").write_text(render_html(summary), encoding="utf-8"),
        lambda: _write_all_rows(audit, folder, format, neutral),
        write_model,
        lambda: (folder / "audit.json").write_text(_lines(summary), encoding="utf-8"),
        lambda: write_table(suspects_frame(summary), folder / f"suspects.{format}", format, neutral=neutral),
        *(partial(EXPORTERS[name], audit, summary, folder) for name in exports),
    ]
    for _ in in_threads(lambda write: write(), writers, _WRITERS):
        pass


def _lines(summary: dict[str, Any]) -> str:
    """JSON with a line for each entry and each record of a list (Python's own indentation is very slow)."""
    entries = []
    for name, value in summary.items():
        records = isinstance(value, list) and value and isinstance(value[0], dict)
        listed = ",\n  ".join(map(_json, value)) if records else ""
        entries.append(f"{_json(name)}: " + (f"[\n  {listed}\n ]" if records else _json(value)))
    return "{\n " + ",\n ".join(entries) + "\n}\n"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def suspects_frame(summary: dict[str, Any]) -> pl.DataFrame:
    """One row per suspect, with the words or columns that most support the suggestion."""
    names = ("row", "id", *(name for name in COLUMNS if name not in ("suspect", "verified")), "because")
    rows = [
        {
            **{name: suspect[name] for name in names},
            **{name: value for name, value in suspect["cells"].items() if name not in names},
        }
        for suspect in summary["suspects"]
    ]
    if rows:
        return pl.DataFrame(rows, infer_schema_length=None)
    return pl.DataFrame(schema=dict.fromkeys(names, pl.String))


def corrected(audit: Audit) -> Iterator[pl.DataFrame]:
    """The input with the audit's results for every row, batch by batch."""
    rows, start = audit.findings.rows, 0
    if isinstance(rows, StreamedTable):
        yield from map(pl.read_parquet, rows.parts)
        return
    results = rows.frame.drop(OWN)
    by_matrix = audit.findings.judged.p_wrong
    if not np.array_equal(by_matrix, rows.results.p_wrong):  # the labels do not support the matrix
        results = results.with_columns(p_wrong_by_matrix=by_matrix)
    given = rows.frame.select("given")
    for frame in [given] if audit.source is None else audit.source.batches():
        yield with_columns(frame, results.slice(start, frame.height).to_dict())
        start += frame.height


def _write_all_rows(audit: Audit, folder: Path, format: str, neutral: bool) -> None:
    """One table after the other, since only one pass can read a file at a time."""
    _write_corrected(audit, folder, format, neutral)
    _write_consensus(audit, folder, format, neutral)


def _write_corrected(audit: Audit, folder: Path, format: str, neutral: bool) -> None:
    rows = audit.findings.rows
    if isinstance(rows, StreamedTable) and format == "parquet":
        parts = folder / "corrected.parquet"
        parts.mkdir()
        for part in rows.parts:
            _copy(part, parts / part.name)
    else:
        write_batches(corrected(audit), folder / f"corrected.{format}", format, neutral=neutral)


def _copy(source: Path, target: Path) -> None:
    try:
        target.hardlink_to(source)
    except OSError:  # on another disk, or on one that has no links
        shutil.copyfile(source, target)


def _write_consensus(audit: Audit, folder: Path, format: str, neutral: bool) -> None:
    """The columns for a table with several labels per row."""
    if audit.source is None or audit.source.several is None:
        return
    write_batches(_consensus(audit), folder / f"consensus.{format}", format, neutral=neutral)


def _consensus(audit: Audit) -> Iterator[pl.DataFrame]:
    """The number and name of each row, and its most probable label, batch by batch."""
    columns, start = consensus_without_ids(audit), 0
    assert columns is not None
    assert audit.source is not None
    found, column = columns.to_polars(), audit.source.roles.id
    for frame in audit.source.batches():
        names = {} if column is None else {"id": frame[column]}
        numbers = {"row": np.arange(start + 1, start + frame.height + 1)}
        yield pl.DataFrame({**numbers, **names, **found.slice(start, frame.height).to_dict()})
        start += frame.height


def _label_studio(audit: Audit, summary: dict[str, Any], folder: Path) -> None:
    tasks = label_studio_tasks(summary)
    (folder / "label_studio.json").write_text(json.dumps(tasks, ensure_ascii=False, indent=1), encoding="utf-8")
    (folder / "label_studio.xml").write_text(label_studio_config(summary["classes"]), encoding="utf-8")


def _cleanlab(audit: Audit, summary: dict[str, Any], folder: Path) -> None:
    frame = audit.findings.rows.frame
    content = cleanlab_export(
        audit.matrix,
        [row["true"] for row in summary["by_class"]],
        frame["p_wrong"].fill_null(0.0).to_list(),  # a missing label cannot be wrong
        frame["suspect"].to_list(),
        given=np.array(frame["given"].cast(pl.String).to_list(), dtype=object),
        suggested=frame["suggested"].cast(pl.String).to_list(),
        classes=summary["classes"],
    )
    (folder / "cleanlab.json").write_text(json.dumps(content), encoding="utf-8")


#: Options of --export.
EXPORTERS = {"label-studio": _label_studio, "cleanlab": _cleanlab}
