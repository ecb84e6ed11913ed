"""A mislabeling matrix for each labeler, and P(true | x, label, labeler) of the rows of a robust fit."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...dataset import Dataset, Rows
from ...dataset.tree import Array
from ..fit import RobustFit
from ..label_weights import ByNumber, Reweighted, RowTerms, WithAdded
from ..labeled_rows import OneLabel, ToLabeledRows, held_here
from ..labeler_model import LabelerModel, LabelerTerms
from ..recalibration import recalibration_of
from ..training_posterior import TrainingPosterior, posterior_of_rows
from .labels import as_labels, is_missing

#: Attributes that a fit has only if labelers or sources were given.
OF_LABELERS = ("labelers_", "mislabel_by_labeler_", "labelers_differ_", "sources_")
# With more labelers than this share of the rows, the column is an identifier.
MOST_LABELERS = 0.5


class LabelerFit(NamedTuple):
    matrices: Array  # (G, K, K) P(label | true)
    differ: bool  # beyond chance
    fitted: Reweighted  # scores combined with the labelers; unchanged if labelers do not differ
    posterior: TrainingPosterior | None  # None: unchanged, since labelers do not differ


def labeler_codes(labeler: Any, n_rows: int) -> tuple[Array, Array]:
    """Names, sorted, and the code of every row."""
    values = as_labels(labeler, "labeler", n_rows)
    missing = np.flatnonzero(is_missing(values, np.nan))
    if len(missing):
        raise ValueError(
            f"labeler contains NaN or None, first in row {missing[0]}; name every labeler, or use one name for all "
            "rows whose labeler is unknown"
        )
    if values.dtype.kind == "O":
        values = values.astype(str)
    names, codes = np.unique(values, return_inverse=True)
    if len(names) > max(2, MOST_LABELERS * n_rows):
        raise ValueError(
            f"labeler has {len(names):,} distinct values in {n_rows:,} rows and looks like an identifier; give the "
            "labeler of each row"
        )
    return names, codes


def check_supported(what: str, in_memory: bool, by_em: bool, weighted: bool) -> None:
    """Raise if a fit cannot distinguish labelers, or sources. what : labeler or source"""
    if by_em:
        raise ValueError(
            f'{what}= needs method="crossfit", two classes and at least 10 rows: EM has one matrix for all; leave '
            f"{what}= out"
        )
    if not in_memory:
        raise ValueError(f"{what}= needs the rows in memory; leave it out, or load the shards")
    if weighted:
        raise ValueError(f"{what}= cannot be combined with sample_weight=; repeat rows, or leave one of them out")


def fit_labelers(data: Dataset, found: RobustFit, code: Array, n_labelers: int, keep: Any) -> LabelerFit:
    """data : in its folds; code : (n,) labelers; keep : the precision of the posteriors (n, K)"""
    fitted = found.last.next_weights
    data = data.with_groups(code[:, None])
    assert data.folds is not None
    n_classes = len(fitted.calibration.mislabel[0])
    rows = held_here(data, ToLabeledRows(fitted, OneLabel(0, n_labelers, n_classes)))
    model = LabelerModel(rows, n_labelers, data.folds.n_folds, fitted.calibration.mislabel[0], found.problem.structure)
    matrices = model.solved()
    if not model.differ(matrices):
        return LabelerFit(model.as_started().of_labelers[:-1], False, fitted, None)
    (added,) = data.collect(partial(_as_columns, terms=LabelerTerms.of(model, matrices, 0)))
    calibration = fitted.calibration._replace(mislabel=matrices.mislabel[None])
    judged = Reweighted(WithAdded(fitted.scorer, ByNumber(added)), calibration)
    posterior = posterior_of_rows(data, judged, None, recalibration_of(data, judged), keep)
    return LabelerFit(matrices.of_labelers[:-1], True, judged, posterior)


def _as_columns(rows: Rows, terms: RowTerms) -> tuple[Array]:
    return (terms(rows),)


def label_likelihoods(labeler: Any, names: Array, matrices: Array, of_all: Array, observed: Array) -> Array:
    """(n, K) P(label | true) by the matrix of who labeled each row, or that of all where the name is new; 1 where there
    is no label. observed : (n,) codes"""
    given = as_labels(labeler, "labeler", len(observed)).astype(names.dtype if names.dtype.kind in "iuf" else str)
    code = np.minimum(np.searchsorted(names, given), len(names) - 1)
    who = np.where(names[code] == given, code, len(names))
    there = np.flatnonzero(observed < len(of_all))
    likelihood = np.ones((len(observed), len(of_all)))
    likelihood[there] = np.concatenate([matrices, of_all[None]])[who[there], observed[there]]
    return likelihood
