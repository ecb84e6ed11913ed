"""The posteriors of the training rows of a robust fit, in one pass over them."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..dataset import Dataset, Rows
from ..dataset.dataset import in_row_order
from ..dataset.tree import Array, Pieces
from .calibration import Labels, all_label_counts
from .fit import RobustFit
from .label_weights import Reweighted
from .recalibration import Recalibration, adjust, pin_verified, recalibration_of


class RowPosteriors(NamedTuple):
    """The most probable classes of every row."""

    p_given: Array  # (n,) P(given label | x, label); 1 where there is none
    best: Array  # (n,) the most probable class
    p_best: Array  # (n,)
    other: Array  # (n,) the most probable class besides the given one
    p_other: Array  # (n,)


class TrainingPosterior(NamedTuple):
    joint: Array  # (K + 1, K) weight of the rows by observed label (the last: none) and true label
    noise_rate: float
    drift: float  # expected share of wrong labels, minus the share that scores of the given labels fail to predict
    log_likelihood: float  # mean, of the observed labels given the features
    recalibration: Recalibration
    rows: RowPosteriors | None  # None where rows stay on a cluster
    true: Array | None  # (n, K) P(true | x, label), if requested
    own_joint: Array  # (K + 1, K) like `joint`, but verified rows count only for themselves

    @property
    def explained(self) -> float:
        """Share of the entropy of the labels that is explained by the features."""
        share = self.joint[:-1].sum(axis=1)
        share = share[share > 0] / share.sum()
        return 1.0 + self.log_likelihood / max(-float(share @ np.log(share)), 1e-300)


class _Sums(NamedTuple):
    joint: Array  # (K + 1, K)
    own_joint: Array  # (K + 1, K)
    labeled: Array  # (4,) of the rows with a label: expected weight of wrong labels, without verdicts; weight of the
    # labels that the scores of the given labels mispredict; log-likelihood; weight
    rows: Pieces


def training_posterior(data: Dataset, robust_fit: RobustFit, dtype: Any = None) -> TrainingPosterior:
    """dtype : precision of the posteriors (n, K) of all rows, if they are to be returned too"""
    fitted = robust_fit.last.next_weights
    # in round 0 both are the same scores
    as_given = robust_fit.as_given if robust_fit.rounds != 0 else None
    return posterior_of_rows(data, fitted, as_given, recalibration_of(data, fitted), dtype)


def posterior_of_rows(
    data: Dataset, fitted: Reweighted, as_given: Reweighted | None, recalibration: Recalibration, dtype: Any = None
) -> TrainingPosterior:
    """as_given : scores of the labels as given, if they are others than those of `fitted`"""
    fn = partial(
        _block_sums,
        fitted=fitted,
        as_given=as_given,
        recalibration=recalibration,
        dtype=dtype,
        of_rows=not data.is_remote,
    )
    sums: _Sums = data.map_sum(fn)
    columns = [] if data.is_remote else in_row_order(sums.rows.items, data.n_rows)
    true = None if dtype is None else columns.pop()
    expected_wrong, mispredicted, log_likelihood, weight = sums.labeled.tolist()
    counts, weight = sums.joint[:-1], max(weight, 1e-300)
    return TrainingPosterior(
        sums.joint,
        float(1.0 - np.trace(counts) / max(counts.sum(), 1e-300)),
        (expected_wrong - mispredicted) / weight,
        log_likelihood / weight,
        recalibration,
        RowPosteriors(*columns) if columns else None,
        true,
        sums.own_joint,
    )


def _block_sums(
    rows: Rows, fitted: Reweighted, as_given: Reweighted | None, recalibration: Recalibration, dtype: Any, of_rows: bool
) -> _Sums:
    labels, post = Labels.of(rows), fitted.unverified(rows)
    reported, prior = fitted.reported(post, rows.observed), post.prior[:, 0]
    true = pin_verified(adjust(reported, rows.observed, recalibration), rows.verified)
    if as_given is not None:
        prior = as_given.calibration.log_joint(as_given.scorer.scores(rows))[:, 0]
    K, weight = true.shape[1], labels.weight[:, 0]
    labeled_rows = np.flatnonzero(rows.observed < K)
    label, weight = rows.observed[labeled_rows], weight[labeled_rows]
    expected_wrong = (1.0 - reported[labeled_rows, label]) @ weight
    mispredicted = (prior[labeled_rows].argmax(axis=1) != label) @ weight
    log_likelihood = post.log_likelihood[labeled_rows, 0] @ weight
    labeled = np.array([expected_wrong, mispredicted, log_likelihood, weight.sum()], dtype=np.float64)
    joint = all_label_counts(true[:, None], labels)[0]
    own_joint = all_label_counts(pin_verified(reported, rows.verified)[:, None], labels)[0]
    if not of_rows:
        return _Sums(joint, own_joint, labeled, Pieces([]))
    values = [*row_posteriors(true, rows.observed), *([] if dtype is None else [true.astype(dtype, copy=False)])]
    return _Sums(joint, own_joint, labeled, Pieces([(rows.number, values)]))


def row_posteriors(true: Array, observed: Array) -> RowPosteriors:
    """Of posteriors (n, K)."""
    n, K = true.shape
    every, labeled = np.arange(n), np.flatnonzero(observed < K)
    p_given = np.ones(n, dtype=true.dtype)
    p_given[labeled] = true[labeled, observed[labeled]]
    best = true.argmax(axis=1)
    others = true.copy()
    others[labeled, observed[labeled]] = -1.0
    other = others.argmax(axis=1) if K > 1 else best
    small = np.min_scalar_type(K)
    return RowPosteriors(p_given, best.astype(small), true[every, best], other.astype(small), true[every, other])
