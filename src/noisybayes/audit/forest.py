"""A forest of extremely randomized trees as plain arrays, which can be stored and read without running code."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .columns import MANY_ROWS

Array = NDArray[Any]

# A row is out of the bag of a third of the trees: a hundred vote on it. As many are kept for new rows.
_TREES = 300
# A leaf of one row repeats its label, right or wrong.
_LEAST_ROWS = 3


class Forest(NamedTuple):
    """Nodes of all trees, one after the other. At a leaf `left` is -1."""

    roots: Array  # (T,)
    left: Array  # (N,)
    right: Array
    column: Array
    threshold: Array
    shares: Array  # (N, K) of the classes among the rows of a node

    def __call__(self, X: Array) -> Array:
        """(K, n) log of the mean share of each class."""
        X = X.astype(np.float32)  # as scikit-learn's trees compare
        every, total = np.arange(len(X)), np.zeros((len(X), self.shares.shape[1]))
        for root in self.roots:
            node = np.full(len(X), root)
            inner = every
            while len(inner):
                inner = inner[self.left[node[inner]] >= 0]
                at = node[inner]
                goes_left = X[inner, self.column[at]] <= self.threshold[at]
                node[inner] = np.where(goes_left, self.left[at], self.right[at])
            total += self.shares[node]
        return log_shares(total / len(self.roots), len(self.roots))


def log_shares(shares: Array, n_trees: int) -> Array:
    """(K, n), as if there were one more, uninformative tree: agreement of all trees is not a probability of 1."""
    return np.asarray(np.log((n_trees * shares + 1.0 / shares.shape[1]) / (n_trees + 1)).T)


def _draws(weight: Array) -> int:
    """Rows drawn for a tree; given as a share, scikit-learn warns of tables with a few rows."""
    share = min(1.0, MANY_ROWS / max(len(weight), 1))
    return max(min(int(share * weight.sum()), len(weight)), 1)


class Grown(NamedTuple):
    """A forest, and the votes on each of its rows by the trees that did not see it."""

    out_of_bag: Array  # (K, n) log shares
    model: Any  # of scikit-learn
    n_classes: int

    @classmethod
    def fit(cls, X: Array, label: Array, weight: Array, n_classes: int, seed: int) -> Grown:
        """Rows of weight 0 are scored, not learned from."""
        from sklearn.ensemble import ExtraTreesClassifier

        there, shares = np.flatnonzero(weight > 0), np.full((len(X), n_classes), 1.0 / n_classes)
        if not len(there):
            return cls(log_shares(shares, 1), None, n_classes)
        model = ExtraTreesClassifier(
            _TREES, min_samples_leaf=_LEAST_ROWS, random_state=seed, n_jobs=-1,
            bootstrap=True, oob_score=len(there) > 1, max_samples=_draws(weight[there]),
        )  # fmt: skip
        with warnings.catch_warnings():  # in a table of a few rows, every tree may have seen a row
            warnings.filterwarnings("ignore", "Some inputs do not have OOB scores")
            model.fit(X[there], label[there], sample_weight=weight[there])
        if len(there) > 1:
            votes = np.nan_to_num(model.oob_decision_function_, nan=1.0 / n_classes)
            shares[there] = 0.0
            shares[np.ix_(there, model.classes_)] = votes
        found = log_shares(shares, _TREES // 3)
        grown = cls(found, model, n_classes)
        unlabeled = np.flatnonzero(weight <= 0)
        if len(unlabeled):
            found[:, unlabeled] = grown.forest()(X[unlabeled])
        return grown

    def forest(self) -> Forest:
        """Its first trees, for new rows."""
        if self.model is None:  # one leaf that knows nothing
            leaf, none = np.zeros(1, dtype=np.int32), np.full(1, -1, dtype=np.int32)
            equal = np.full((1, self.n_classes), 1.0 / self.n_classes, dtype=np.float32)
            return Forest(leaf, none, none, leaf, np.zeros(1), equal)
        trees = [each.tree_ for each in self.model.estimators_[: _TREES // 3]]
        roots = np.cumsum([0, *(tree.node_count for tree in trees[:-1])])
        shares = np.zeros((sum(tree.node_count for tree in trees), self.n_classes), dtype=np.float32)
        counts = np.concatenate([tree.value[:, 0] for tree in trees])
        shares[:, self.model.classes_] = counts / counts.sum(axis=1, keepdims=True)

        def joined(name: str) -> Array:
            return np.concatenate([getattr(tree, name) for tree in trees])

        shift = np.repeat(roots, [tree.node_count for tree in trees])
        left, right = (
            np.where(joined(name) < 0, -1, joined(name) + shift) for name in ("children_left", "children_right")
        )
        return Forest(
            roots, left.astype(np.int32), right.astype(np.int32), joined("feature").astype(np.int32),
            joined("threshold").astype(np.float64), shares,
        )  # fmt: skip
