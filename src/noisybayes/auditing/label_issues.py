"""Finds wrong labels from labels and probabilities alone, for users who already have a model.

The shapes are those of cleanlab, the posterior is that of this package: probabilities are calibrated on the labels
jointly with a mislabeling matrix, and P(wrong) comes from the log pool of an audit with several views.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..audit.columns import LEAST_PROBABILITY
from ..dataset.folds import hashed
from ..dataset.tree import Array
from ..model.mislabel import Full
from ..robust.calibration import Labels, centred, posterior
from ..robust.calibration_solver import Target, fit_calibration
from ..robust.constants import DEFAULT
from ..robust.log_pool import LogPool
from .given_inputs import check_probabilities
from .row_results import SUSPECT

# Rows for the calibration: enough for its K x K parameters.
_MAX_ROWS = 20_000


def find_label_issues(labels: ArrayLike, pred_probs: ArrayLike, *, ranked: bool = False) -> Array:
    """Which labels are probably wrong.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        Given labels: 0 to K - 1, or names whose sorted order is that of the columns.
    pred_probs : array-like of shape (n_samples, n_classes)
        Out-of-sample probabilities of any model.
    ranked : bool, default False
        Return positions of the suspects, most suspicious first, instead of a mask.

    Returns
    -------
    array of shape (n_samples,), bool, or array of int
        True where another label has a probability above 40 %.
    """
    scores = _score_labels(labels, pred_probs)
    suspect = scores.p_other > SUSPECT
    if not ranked:
        return np.asarray(suspect)
    chosen = np.flatnonzero(suspect)
    return np.asarray(chosen[np.argsort(-scores.p_wrong[chosen], kind="stable")])


def label_quality_scores(labels: ArrayLike, pred_probs: ArrayLike) -> Array:
    """The probability that each label is right.

    Parameters
    ----------
    labels, pred_probs : array-like
        As in `find_label_issues`.

    Returns
    -------
    array of shape (n_samples,)
        1 - P(wrong): low where the label is probably wrong.
    """
    return np.asarray(1.0 - _score_labels(labels, pred_probs).p_wrong)


class _LabelScores(NamedTuple):
    p_wrong: Array  # (n,)
    p_other: Array  # (n,) probability of the most probable other label


def _score_labels(labels: ArrayLike, pred_probs: ArrayLike) -> _LabelScores:
    codes, proba = _checked(labels, pred_probs)
    n, K = proba.shape
    if K == 1 or not n:
        return _LabelScores(np.zeros(n), np.zeros(n))
    scores = centred(np.log(np.maximum(proba, LEAST_PROBABILITY))[None, :, None])
    given = Labels(codes, None, np.ones((n, 1)))
    sample = np.argsort(hashed(0, np.arange(n)), kind="stable")[:_MAX_ROWS]
    target = Target(scores[:, sample], given.take(sample), Full(0.0), np.array([0.5 / n]), DEFAULT)
    calibration = fit_calibration(target, np.zeros((1, K)))
    post = posterior(calibration, scores, given)
    true, prior = post.true[:, 0], post.prior[:, 0]
    true = LogPool.fit(true, prior, codes, np.ones(n))(true, prior, codes)
    every = np.arange(n)
    p_wrong = np.clip(1.0 - true[every, codes], 0.0, 1.0)
    true[every, codes] = -1.0
    return _LabelScores(p_wrong, true.max(axis=1))


def _checked(labels: ArrayLike, pred_probs: ArrayLike) -> tuple[Array, Array]:
    given: Any = np.asarray(labels)
    if given.ndim != 1:
        raise ValueError(f"labels must have one dimension, got the shape {given.shape}")
    width = np.shape(pred_probs)[-1] if np.ndim(pred_probs) == 2 else -1
    if given.dtype.kind in "iub" and (not len(given) or (given.min() >= 0 and given.max() < width)):
        codes, names = given.astype(np.intp), [str(code) for code in range(width)]
    else:
        if any(value is None or value != value for value in given.tolist()):
            raise ValueError("labels contain missing values; leave these rows out, of pred_probs as well")
        classes, codes = np.unique(given, return_inverse=True)
        names = [str(name) for name in classes.tolist()]
    return codes, check_probabilities(pred_probs, len(given), names)
