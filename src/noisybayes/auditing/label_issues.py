"""Finds wrong labels from labels and probabilities alone, for users who already have a model.

The shapes are those of cleanlab. The probabilities are read as an audit reads vectors: by the mislabeling matrix and
plainly, pooled.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..audit.columns import Array, log_probabilities
from ..audit.pool import Voice, pooled
from ..audit.readings import blocks, matrix_reading, plain_reading
from ..audit.rows import SUSPECT
from ..audit.scores import Learned, Learning
from ..model.matrix import Full
from .given_inputs import check_probabilities


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
        True where the label is more probably wrong than right.
    """
    p_wrong = _p_wrong(labels, pred_probs)
    if not ranked:
        return np.asarray(p_wrong > SUSPECT)
    chosen = np.flatnonzero(p_wrong > SUSPECT)
    return np.asarray(chosen[np.argsort(-p_wrong[chosen], kind="stable")])


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
    return np.asarray(1.0 - _p_wrong(labels, pred_probs))


def _p_wrong(labels: ArrayLike, pred_probs: ArrayLike) -> Array:
    codes, proba = _checked(labels, pred_probs)
    n, K = proba.shape
    if K == 1 or not n:
        return np.zeros(n)
    # sorted by class, then by content: the order of the rows changes nothing
    order = np.lexsort((*proba.T, codes))
    rows = Learning(codes[order], np.full(n, -1), np.ones(n), np.array([0, n]), K, 0)
    learned = Learned(log_probabilities(proba[order]).values.T[None], (), tuple)
    readings = matrix_reading(learned.values, rows, Full(0.0)), plain_reading(learned.values, rows)
    p_wrong, voices = np.empty(n), [Voice(learned, reading) for reading in readings]
    for part in blocks(n, K):
        label = rows.observed[part]
        p_wrong[order[part]] = 1.0 - pooled(voices, part, label)[label, np.arange(len(label))]
    return np.clip(p_wrong, 0.0, 1.0)


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
