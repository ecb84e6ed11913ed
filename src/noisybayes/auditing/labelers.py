"""Takes into account who gave the labels: each label is scored with the matrix of its labeler, out of fold. If rows
have one label each, this must explain the labels significantly better than one matrix for all; otherwise the audit is
unchanged.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..dataset import Rows
from ..dataset.tree import Array
from ..robust.labeled_rows import CodedLabels, OneLabel, OverRows, ToLabeledRows, held_here, row_codes
from ..robust.labeler_model import LabelerModel, LabelerTerms, Matrices, SeveralTerms
from ..robust.prior_factor import Rescaled
from .agreement import agreement_of_rows
from .judged import Judged, Labelers
from .labeler_intervals import RateDraws, error_rates
from .option_checks import check_method
from .row_evidence import RowEvidence, judged_with, with_prior_factor
from .several_labels import SeveralLabels
from .table import Table

if TYPE_CHECKING:
    from .table_fit import FitOptions


# Labelers are the first column of the groups.
_COLUMN = 0


def check_labelers(table: Table, options: FitOptions) -> None:
    if table.several is not None:
        check_method("several labels of a row", options)
    if table.roles.labeler is not None:
        check_method("--labeler", options)


def join_labelers(judged: Judged, table: Table, folder: Path | None = None) -> tuple[Judged, tuple[str, ...]]:
    """The fit with the labelers taken into account, and messages about it. folder : for rows on disk"""
    if table.several is None and table.roles.labeler is None:
        return judged, ()
    if table.several is not None:
        sums = judged.data.map_sum(partial(agreement_of_rows, n_values=len(table.several.values)))
        judged = replace(judged, agreement=sums)
    if judged.training is None:
        return judged, ("there are too few rows to compare labelers, so the column was left out",)
    return (_join_one if table.several is None else _join_several)(judged, table, folder)


def _join_one(judged: Judged, table: Table, folder: Path | None) -> tuple[Judged, tuple[str, ...]]:
    """For rows with one label each."""
    assert judged.groups is not None
    names, column = judged.groups.labelers, table.roles.labeler
    assert names is not None
    assert column is not None
    to_labeled = ToLabeledRows(judged.fitted, OneLabel(_COLUMN, len(names), len(judged.classes)))
    with nullcontext(held_here(judged.data, to_labeled)) as over_rows:
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


def _join_several(judged: Judged, table: Table, folder: Path | None) -> tuple[Judged, tuple[str, ...]]:
    """The fit used the vote; here each label counts separately."""
    several = table.several
    assert several is not None
    assert judged.agreement is not None
    n_labels = int(judged.agreement.n_labels)
    labels, of_vote = _labels_of(several, judged), judged.fitted.calibration.mislabel[0]
    with nullcontext(held_here(judged.data, ToLabeledRows(judged.fitted, labels))) as over_rows:
        factor = _model_of(judged, over_rows, len(several.names)).prior_factor()
        model = _model_of(judged, Rescaled(over_rows, factor), len(several.names))
        matrices = model.solved()
        differ = model.differ(matrices)
        terms = SeveralTerms.of(model, matrices, of_vote, labels)
        labelers = _described(several.title, several.names, model, matrices, judged)
    most = len(several.names)
    words = ("", "its one label", *(f"its {n} labels" for n in range(2, most + 1)))
    alike = "" if differ else "; their mistakes do not differ beyond chance"
    note = f"labelers: {several.title} ({most}, {n_labels:,} labels{alike})"
    judged = with_prior_factor(judged, factor)
    joined = judged_with(judged, RowEvidence(terms, NumberOfLabels(len(words)), words), of_vote)
    return replace(joined, labelers=labelers), (note,)


def _labels_of(several: SeveralLabels, judged: Judged) -> CodedLabels:
    """A label that no row was voted to have is not a class, and is left out."""
    code = {str(name): k for k, name in enumerate(judged.classes.tolist())}
    class_of = np.array([code.get(value, len(code)) for value in several.values])
    return CodedLabels(class_of, len(several.names), len(code))


@dataclass(frozen=True)
class NumberOfLabels:
    """(n,) the number of labels of each row; `none` if it has none."""

    none: int

    def __call__(self, rows: Rows) -> Array:
        n_labels = np.bincount(row_codes(rows.groups)[0], minlength=rows.n_rows)
        return np.where(n_labels > 0, n_labels, self.none)


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
        column, names, n_rows, rate, rates, counts, matrices.of_labelers[:-1], matrices.strengths is not None
    )
