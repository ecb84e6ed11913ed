"""Takes into account who gave the labels: each label is scored with the matrix of its labeler, out of fold. If rows
have one label each, this must explain the labels significantly better than one matrix for all; otherwise the audit is
unchanged.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ..data.cells import as_text
from ..data.errors import InputError
from ..dataset.tree import Array
from ..estimators.labeler_fit import MOST_LABELERS
from ..robust.labeler_model import GivenLabels, LabelerModel, Matrices
from .judged import Judged, Labelers
from .labeler_intervals import RateDraws, error_rates
from .row_evidence import RowEvidence, judged_with
from .table import Table
from .view_options import check_in_memory

if TYPE_CHECKING:
    from .table_fit import FitOptions


def check_labelers(table: Table, options: FitOptions) -> None:
    if table.several is not None:
        check_in_memory("several labels of a row", options)
    if table.roles.labeler is not None:
        check_in_memory("--labeler", options)
        _names_and_codes(table, table.roles.labeler)  # report a wrong column before the fit


def join_labelers(judged: Judged, table: Table) -> tuple[Judged, tuple[str, ...]]:
    """The fit with the labelers taken into account, and messages about it."""
    if table.several is None and table.roles.labeler is None:
        return judged, ()
    if judged.training is None:
        return judged, ("there are too few rows to compare labelers, so the column was left out",)
    return _join_several(judged, table) if table.several is not None else _join_one(judged, table)


def labelers_of_rows(table: Table) -> Array:
    """(n,) codes in the order of the names; the number of names where unknown."""
    assert table.roles.labeler is not None
    return _names_and_codes(table, table.roles.labeler)[1]


def _join_one(judged: Judged, table: Table) -> tuple[Judged, tuple[str, ...]]:
    """For rows with one label each."""
    assert table.roles.labeler is not None
    column = table.roles.labeler
    names, code = _names_and_codes(table, column)
    assert judged.observed is not None
    labeled = np.flatnonzero(judged.observed < len(judged.classes))
    model = _model_of(judged, GivenLabels(labeled, judged.observed[labeled], code[labeled], len(names)))
    found = model.solved()
    if not model.differ(found):
        told = _described(column, names, model, model.as_started(), judged)
        note = f"labelers: {column!r} ({len(names)}; their mistakes do not differ beyond chance)"
        return replace(judged, labelers=told), (note,)
    words = tuple(f"labeled by {name}" for name in names)
    who = np.full(judged.n_rows, len(names))
    who[labeled] = code[labeled]
    evidence = RowEvidence(model.added_evidence(found, judged.observed, found.mislabel), who, words)
    told = _described(column, names, model, found, judged)
    note = f"labelers: {column!r} ({len(names)}, each with its own mislabeling matrix)"
    return replace(judged_with(judged, evidence, found.mislabel), labelers=told), (note,)


def _join_several(judged: Judged, table: Table) -> tuple[Judged, tuple[str, ...]]:
    """The fit used the majority label; here each label counts separately."""
    several = table.several
    assert several is not None
    code = {str(name): k for k, name in enumerate(judged.classes.tolist())}
    labels = np.array([code[label] for label in several.label.tolist()])
    model = _model_of(judged, GivenLabels(several.row, labels, several.labeler, len(several.names)))
    found = model.solved()
    differ = model.differ(found)
    if not differ:
        found = model.pooled()
    n_labels = np.bincount(several.row, minlength=judged.n_rows)
    words = ("", "its one label", *(f"its {n} labels" for n in range(2, int(n_labels.max()) + 1)))
    of_vote = judged.fitted.calibration.mislabel[0]
    assert judged.observed is not None
    added = model.added_evidence(found, judged.observed, of_vote)
    evidence = RowEvidence(added, np.where(n_labels, n_labels, len(words)), words)
    told = _described(several.title, several.names, model, found, judged)
    alike = "" if differ else "; their mistakes do not differ beyond chance"
    note = f"labelers: {several.title} ({len(several.names)}, {len(several.row):,} labels{alike})"
    return replace(judged_with(judged, evidence, of_vote), labelers=told), (note,)


def _model_of(judged: Judged, given: GivenLabels) -> LabelerModel:
    assert judged.training is not None
    structure = judged.training.robust_fit.problem.structure
    return LabelerModel.of(judged.data, judged.fitted, structure, given, judged.verified)


def _described(column: str, names: tuple[str, ...], model: LabelerModel, found: Matrices, judged: Judged) -> Labelers:
    assert judged.training is not None
    assert judged.observed is not None
    given = model.given
    known = np.flatnonzero(given.labeler < len(names))
    labeler, wrong = given.labeler[known], 1.0 - found.true[given.row[known], given.label[known]]
    n_rows = np.bincount(labeler, minlength=len(names))
    n_wrong = np.bincount(labeler, weights=wrong, minlength=len(names))
    rates = error_rates(model, found, judged.observed, judged.training.robust_fit.problem.seed)
    rate = rates.mean if isinstance(rates, RateDraws) else n_wrong / np.maximum(n_rows, 1)
    return Labelers(
        column, names, n_rows, rate, rates,
        model.counts(found.true)[:-1], found.of_labelers[:-1], bool(np.isfinite(found.strength)),
    )  # fmt: skip


def _names_and_codes(table: Table, column: str) -> tuple[tuple[str, ...], Array]:
    """Names of the labelers, and the code of every row; len(names) where missing."""
    assert isinstance(table.source, pl.DataFrame)
    given = as_text(table.source[column]).str.strip_chars().replace("", None)
    names = given.drop_nulls().unique().sort()
    if not len(names):
        raise InputError(f"--labeler: the column {column!r} is empty in every row")
    if len(names) > max(2, MOST_LABELERS * len(given)):
        raise InputError(
            f"--labeler: the column {column!r} has {len(names):,} distinct values in {len(given):,} rows, and looks "
            "like an identifier; name the column that says who labeled each row"
        )
    code = given.cast(pl.Enum(names)).to_physical().cast(pl.Int64).fill_null(len(names)).to_numpy()
    return tuple(names.to_list()), np.asarray(code)
