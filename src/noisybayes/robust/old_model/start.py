"""Where EM starts: naive Bayes on the observed labels, random mixtures of those classes near the marginals, or the
paper's random parameters."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...dataset import Dataset, Rows
from ...dataset.tree import Array, take_components, tree_map
from .em import Model, Params, Stats, statistics
from .families import Family
from .mislabel import Fixed

# How far a random start moves from the marginals towards the observed classes. Distant starts fail: hundreds of random
# likelihood ratios would overwhelm the labels.
JITTER = 0.1
# The paper starts from classes of equal size, "random" feature probabilities, and a random matrix with a diagonal above
# one half. It does not say how the probabilities are drawn: name of the start -> interval.
PAPER_INTERVALS = {"paper": (0.0, 1.0), "paper-near-half": (0.4, 0.6)}
_MIN_DIAGONAL = 0.5


def _block_label_statistics(rows: Rows, family: Family, n_classes: int, dtype: np.dtype[Any]) -> Stats:
    """The sums of naive Bayes on the given labels (verified ones if known); rows without a label do not count."""
    label = rows.observed if rows.verified is None else np.where(rows.verified >= 0, rows.verified, rows.observed)
    one_hot = np.zeros((rows.n_rows, 1, n_classes), dtype=dtype)
    labeled = np.flatnonzero(label < n_classes)
    one_hot[labeled, 0, label[labeled]] = 1.0 if rows.weight is None else rows.weight[labeled]
    return statistics(rows, one_hot, family)


def statistics_of_labels(data: Dataset, family: Family, n_classes: int) -> Stats:
    stats: Stats = data.map_sum(partial(_block_label_statistics, family=family, n_classes=n_classes, dtype=data.dtype))
    return stats


def random_statistics(labels: Stats, n_init: int, rng: np.random.Generator) -> Stats:
    """Soft labels that depend only on the observed label: near the class shares, with a small random preference.

    They are mixtures of the sums by label, so any number of starts needs no further pass over the rows and does not
    depend on their order.
    """
    weight = labels.class_weight[0]
    K = len(weight)
    preference = np.empty((K, n_init, K))  # (l, r, k)
    # drawn in the order of the class sizes, so that the names of the classes do not matter
    order = np.argsort(weight, kind="stable")
    preference[np.ix_(order, np.arange(n_init), order)] = rng.dirichlet(np.ones(K), size=(K, n_init))
    soft = (1.0 - JITTER) * weight / weight.sum() + JITTER * preference

    def mix(leaf: Array) -> Array:
        return np.asarray(np.tensordot(soft.reshape(K, -1), leaf, axes=(0, 0)))

    features = tree_map(mix, labels.features)
    joint = np.einsum("yl,lrk->ryk", labels.joint[0], soft)
    return Stats(joint, features, np.zeros(n_init))


def paper_params(model: Model, labels: Stats, start: str, n_init: int, rng: np.random.Generator) -> Params:
    """The paper's start, `n_init` times. Known class shares or a known matrix are kept."""
    weight = labels.class_weight[0]
    K = len(weight)
    # drawn in the order of the class sizes, so that the names of the classes do not matter
    rank = np.argsort(np.argsort(weight, kind="stable"))
    features = model.family.random_params(labels.features, n_init * K, *PAPER_INTERVALS[start], rng)
    components = (np.arange(n_init)[:, None] * K + rank).reshape(-1)
    if isinstance(model.structure, Fixed):
        mislabel = np.broadcast_to(model.structure.start(K), (n_init, K, K))
    else:
        mislabel = np.stack([random_matrix(K, rng)[np.ix_(rank, rank)] for _ in range(n_init)])
    prior = np.full(K, 1 / K) if model.class_prior is None else model.class_prior
    return Params(np.broadcast_to(prior, (n_init, K)), mislabel, take_components(features, components))


def random_matrix(n_classes: int, rng: np.random.Generator) -> Array:
    """(K, K): the diagonal uniform above one half, the rest of a column in proportion to uniform random numbers."""
    if n_classes == 1:
        return np.ones((1, 1))
    matrix = rng.uniform(size=(n_classes, n_classes))
    np.fill_diagonal(matrix, 0.0)
    right = rng.uniform(_MIN_DIAGONAL, 1.0, n_classes)
    return np.asarray(matrix / matrix.sum(axis=0) * (1.0 - right) + np.diag(right))
