"""The noise channel: (K, K), channel[i, j] = P(observed j | true i), so that rows sum to 1."""

from __future__ import annotations

import numpy as np

from .inputs import Array, Rows


def confusion(proba: Array, rows: Rows) -> Array:
    """The channel, taking the most probable class of each row, or its verified label, as the true one.

    Each class gets one extra right label and one spread over all labels, so that a class that is never predicted also
    has a row, and no logarithm is infinite.
    """
    n_classes = proba.shape[1]
    believed = np.where(rows.verified >= 0, rows.verified, proba.argmax(axis=1))
    counts = np.eye(n_classes) + 1.0 / n_classes
    np.add.at(counts, (believed, rows.observed), 1.0)
    return _rows_to_one(counts)


def posterior(proba: Array, channel: Array, rows: Rows) -> tuple[Array, Array]:
    """E-step: P(true | x, observed) (n, K), and log P(observed | x) (n,)."""
    joint = proba * channel.T[rows.observed] * rows.possible
    evidence = joint.sum(axis=1)
    return joint / evidence[:, None], np.asarray(np.log(evidence))


def estimate(belief: Array, rows: Rows) -> Array:
    """M-step: how often each label was given to each class, weighted by P(true | x, observed).

    One label spread over all is added to each class: a probability of zero could never increase again.
    """
    n_classes = belief.shape[1]
    counts = np.full((n_classes, n_classes), 1.0 / n_classes)
    np.add.at(counts.T, rows.observed, belief)
    return _rows_to_one(counts)


def _rows_to_one(counts: Array) -> Array:
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))
