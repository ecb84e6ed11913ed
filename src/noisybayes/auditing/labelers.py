"""Takes into account who gave the labels: each label is scored with the matrix of its labeler, out of fold. If rows
have one label each, this must explain the labels significantly better than one matrix for all; otherwise the audit is
unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..dataset import Rows
from ..dataset.tree import Array
from ..robust.label_weights import ByNumber
from ..robust.labeled_rows import GivenLabels, InMemory, LabeledRows, OverRows, ToLabeledRows, log_prior_of
from ..robust.labeler_model import LabelerModel, LabelerTerms, Matrices, terms_of_several
from .judged import Judged, Labelers
from .labeled_storage import labeled_rows
from .labeler_intervals import RateDraws, error_rates
from .row_evidence import RowEvidence, judged_with
from .several_labels import SeveralLabels
from .table import Table
from .view_options import check_in_memory, check_method

if TYPE_CHECKING:
    from .table_fit import FitOptions


# Labelers are the first column of the groups.
_COLUMN = 0


def check_labelers(table: Table, options: FitOptions) -> None:
    if table.several is not None:
        check_in_memory("several labels of a row", options)
    if table.roles.labeler is not None:
        check_method("--labeler", options)


def join_labelers(judged: Judged, table: Table, folder: Path | None = None) -> tuple[Judged, tuple[str, ...]]:
    """The fit with the labelers taken into account, and messages about it. folder : for rows on disk"""
    if table.several is None and table.roles.labeler is None:
        return judged, ()
    if judged.training is None:
        return judged, ("there are too few rows to compare labelers, so the column was left out",)
    return _join_several(judged, table) if table.several is not None else _join_one(judged, table, folder)


def _join_one(judged: Judged, table: Table, folder: Path | None) -> tuple[Judged, tuple[str, ...]]:
    """For rows with one label each."""
    assert judged.groups is not None
    names, column = judged.groups.labelers, table.roles.labeler
    assert names is not None
    assert column is not None
    to_labeled = ToLabeledRows(judged.fitted, _COLUMN, len(names))
    with labeled_rows(judged.data, to_labeled, folder) as over_rows:
        model = _model_of(judged, over_rows, len(names))
        matrices = model.solved()
        if not model.differ(matrices):
            labelers = _described(column, names, model, model.as_started(), judged)
            note = f"labelers: {column!r} ({len(names)}; their mistakes do not differ beyond chance)"
            return replace(judged, labelers=labelers), (note,)
        terms = LabelerTerms.of(model, matrices, _COLUMN)
        labelers = _described(column, names, model, matrices, judged)
    words = tuple(f"labeled by {name}" for name in names)
    evidence = RowEvidence(terms, LabelerOfRow(_COLUMN, len(names), len(judged.classes)), words)
    note = f"labelers: {column!r} ({len(names)}, each with its own mislabeling matrix)"
    return replace(judged_with(judged, evidence, matrices.mislabel), labelers=labelers), (note,)


@dataclass(frozen=True)
class LabelerOfRow:
    """(n,) the code of who labeled each row; the number of labelers where unknown or without a label."""

    column: int
    n_labelers: int
    n_classes: int

    def __call__(self, rows: Rows) -> Array:
        return np.where(rows.observed < self.n_classes, rows.groups[:, self.column], self.n_labelers)


def _join_several(judged: Judged, table: Table) -> tuple[Judged, tuple[str, ...]]:
    """The fit used the majority label; here each label counts separately."""
    several = table.several
    assert several is not None
    rows = _rows_of_several(judged, several)
    model = _model_of(judged, InMemory([rows]), len(several.names))
    matrices = model.solved()
    differ = model.differ(matrices)
    if not differ:
        matrices = model.pooled()
    n_labels = np.bincount(several.row, minlength=judged.n_rows)
    words = ("", "its one label", *(f"its {n} labels" for n in range(2, int(n_labels.max()) + 1)))
    of_vote = judged.fitted.calibration.mislabel[0]
    added = terms_of_several(model, rows, matrices, of_vote)
    evidence = RowEvidence(ByNumber(added), ByNumber(np.where(n_labels, n_labels, len(words))), words)
    labelers = _described(several.title, several.names, model, matrices, judged)
    alike = "" if differ else "; their mistakes do not differ beyond chance"
    note = f"labelers: {several.title} ({len(several.names)}, {len(several.row):,} labels{alike})"
    return replace(judged_with(judged, evidence, of_vote), labelers=labelers), (note,)


def _rows_of_several(judged: Judged, several: SeveralLabels) -> LabeledRows:
    assert judged.data.folds is not None
    code = {str(name): k for k, name in enumerate(judged.classes.tolist())}
    labels = np.array([code[label] for label in several.label.tolist()])
    return LabeledRows(
        log_prior_of(judged.data, judged.fitted),
        GivenLabels(several.row, labels, several.labeler, len(several.names)),
        judged.data.folds.of(np.arange(judged.n_rows)), judged.verified, judged.observed,
    )  # fmt: skip


def _model_of(judged: Judged, over_rows: OverRows, n_labelers: int) -> LabelerModel:
    assert judged.training is not None
    assert judged.data.folds is not None
    return LabelerModel(
        over_rows, n_labelers, judged.data.folds.n_folds, judged.fitted.calibration.mislabel[0],
        judged.training.robust_fit.problem.structure,
    )  # fmt: skip


def _described(
    column: str, names: tuple[str, ...], model: LabelerModel, matrices: Matrices, judged: Judged
) -> Labelers:
    assert judged.training is not None
    counts = matrices.counts[:-1]
    n_rows = np.rint(counts.sum(axis=(1, 2))).astype(int)  # the expected labels of a row sum to 1
    n_right = np.trace(counts, axis1=1, axis2=2)
    rates = error_rates(model, matrices, judged.training.robust_fit.problem.seed)
    rate = rates.mean if isinstance(rates, RateDraws) else (n_rows - n_right) / np.maximum(n_rows, 1)
    return Labelers(
        column, names, n_rows, rate, rates, counts, matrices.of_labelers[:-1], bool(np.isfinite(matrices.strength))
    )
