"""Where EM begins: naive Bayes on the observed labels, or random mixtures of those classes near the marginals."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..dataset import Dataset, Rows
from ..dataset.tree import Array, tree_map
from .em import Stats, statistics
from .families import Family

# How far a random start strays from the marginals towards the observed classes. Far starts fail: hundreds of random
# likelihood ratios would drown the labels.
JITTER = 0.1


def label_statistics(rows: Rows, family: Family, n_classes: int, dtype: np.dtype[Any]) -> Stats:
    """The sums of naive Bayes on the labels as given (verified ones where known); rows without a label do not count."""
    label = rows.observed if rows.verified is None else np.where(rows.verified >= 0, rows.verified, rows.observed)
    one_hot = np.zeros((rows.n_rows, 1, n_classes), dtype=dtype)
    labeled = np.flatnonzero(label < n_classes)
    one_hot[labeled, 0, label[labeled]] = 1.0 if rows.weight is None else rows.weight[labeled]
    return statistics(rows, one_hot, family)


def statistics_of_labels(data: Dataset, family: Family, n_classes: int) -> Stats:
    stats: Stats = data.map_sum(partial(label_statistics, family=family, n_classes=n_classes, dtype=data.dtype))
    return stats


def random_statistics(labels: Stats, n_init: int, rng: np.random.Generator) -> Stats:
    """Soft labels that depend on the observed label alone: near the class shares, with a little preference at random.

    They are mixtures of the sums by label, so that any number of starts costs no further pass over the rows and
    does not depend on the order of the rows.
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
