"""Simulated labelers of several kinds, and the labels they give."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator

from noisybayes.data.simulate import Array

#: The kinds of labelers in `make_labelers`, in turn.
KINDS = ("good", "careless", "biased", "swaps", "spammer")


def make_labelers(n_labelers: int, n_classes: int, rng: Generator) -> Array:
    """(G, K, K) P(label | true label) of labelers: good ones, careless ones, some who favour one class, some who swap
    two classes half of the time, and some who label at random."""
    return np.stack([_matrix(KINDS[g % len(KINDS)], n_classes, rng) for g in range(n_labelers)])


def _matrix(kind: str, K: int, rng: Generator) -> Array:
    even, right = np.full((K, K), 1.0 / K), np.eye(K)
    if kind == "good":
        return np.asarray(0.92 * right + 0.08 * even)
    if kind == "careless":
        return np.asarray(0.6 * right + 0.4 * even)
    if kind == "biased":
        favourite = np.zeros((K, K))
        favourite[rng.integers(K)] = 1.0
        return np.asarray(0.55 * right + 0.45 * favourite)
    if kind == "swaps":
        one, other = rng.choice(K, 2, replace=False)
        swapped = right.copy()
        swapped[:, [one, other]] = 0.5
        swapped[np.setdiff1d(np.arange(K), [one, other])[:, None], [one, other]] = 0.0
        return np.asarray(0.9 * swapped + 0.1 * even)
    return even


def labels_of(matrices: Array, who: Array, true: Array, rng: Generator) -> Array:
    """(n,) codes: the label of each row by one labeler. who, true : (n,) codes"""
    cumulative = matrices.cumsum(axis=1)[who, :, true]
    return np.minimum((rng.random(len(who))[:, None] > cumulative).sum(axis=1), matrices.shape[1] - 1)


def label_by(matrices: Any, true: Array, n_labels: int, rng: Generator) -> Array:
    """(n, G) codes, -1 where a labeler did not label the row; every row is labeled by `n_labels` of them.

    Parameters
    ----------
    matrices : (G, K, K) P(label | true label)
    true : (n,) codes
    """
    matrices = np.asarray(matrices)
    G, K, _ = matrices.shape
    given = np.full((len(true), G), -1)
    who = rng.permuted(np.tile(np.arange(G), (len(true), 1)), axis=1)[:, :n_labels]
    cumulative = matrices.cumsum(axis=1)[who, :, true[:, None]]  # (n, n_labels, K)
    label = np.minimum((rng.random(who.shape)[:, :, None] > cumulative).sum(axis=2), K - 1)
    given[np.arange(len(true))[:, None], who] = label
    return given
