"""The stored rows: one per data set, seed and method, appended as soon as it is computed."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import NamedTuple

from noisybayes._files import whole_file

from ..result_files import Row, parse_rows

MEASURES = (
    "average_precision", "auroc", "f1_flagged", "f1_review", "precision_at_errors", "corrected_accuracy",
    "given_accuracy", "test_accuracy", "calibration_error", "noise_rate_estimated", "noise_rate_true",
    "flagged_share", "review_share", "n_parameters", "average_precision_within", "label_order", "seconds", "peak_mb",
)  # fmt: skip
#: One number per given label, in one cell.
BY_LABEL = ("wrong_by_label", "p_wrong_by_label")
COLUMNS = (
    "dataset", "seed", "method", "kind", "n_train", "n_test", "n_features", "n_classes", *MEASURES, *BY_LABEL,
    "warnings", "error", "at_once", "machine",
)  # fmt: skip
#: Columns that earlier versions did not write, and the value used for their rows.
_ADDED = {
    **dict.fromkeys(("n_parameters", "average_precision_within", "label_order"), float("nan")),
    **dict.fromkeys(BY_LABEL, ""),
    "at_once": 1,
}


class Job(NamedTuple):
    dataset: str
    seed: int
    method: str


def job_of(row: Row) -> Job:
    return Job(str(row["dataset"]), int(row["seed"]), str(row["method"]))


def load(path: Path) -> list[Row]:
    """The stored rows; none if there is no file."""
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    # an incomplete last line was cut off when the run was stopped; its job is repeated
    rows = parse_rows(text[: text.rfind("\n") + 1].splitlines())
    if rows and {*rows[0], *_ADDED} != set(COLUMNS):
        raise ValueError(
            f"{path} has different columns from those that this version writes; move it away and run again"
        )
    return [{**_ADDED, **row} for row in rows]


def append(path: Path, row: Row) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        rewrite(path, [])
    with path.open("a", newline="", encoding="utf-8") as file:
        file.write(_line([row[column] for column in COLUMNS]))


def rewrite(path: Path, rows: Collection[Row]) -> None:
    """Replace the file with these rows."""
    lines = [_line(COLUMNS), *(_line([row[column] for column in COLUMNS]) for row in rows)]
    with whole_file(path) as target:
        target.write_text("".join(lines), encoding="utf-8", newline="")


def _line(cells: Iterable[object]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow([f"{c:.6g}" if isinstance(c, float) else c for c in cells])
    return text.getvalue()
