"""A forest of extremely randomized trees as plain arrays, which can be stored and read without running code."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# More trees hardly change the vote.
TREES = 100
# A leaf of one row repeats its label, right or wrong.
_LEAST_ROWS = 3
# With fewer rows, threads cost more than they save; the trees are the same with any number of them.
_MANY_ROWS = 2_000


class Forest(NamedTuple):
    """Nodes of all trees, one after the other. At a leaf `left` is -1."""

    roots: Array  # (T,)
    left: Array  # (N,)
    right: Array
    column: Array
    threshold: Array
    shares: Array  # (N, K) of the classes among the rows of a node

    @classmethod
    def fit(cls, X: Array, label: Array, weight: Array, n_classes: int, seed: int) -> Forest:
        from sklearn.ensemble import ExtraTreesClassifier

        if not len(X):  # one leaf that knows nothing
            leaf, none = np.zeros(1, dtype=np.int32), np.full(1, -1, dtype=np.int32)
            return cls(leaf, none, none, leaf, np.zeros(1), np.full((1, n_classes), 1.0 / n_classes, dtype=np.float32))
        n_jobs = -1 if len(X) >= _MANY_ROWS else None
        model = ExtraTreesClassifier(TREES, min_samples_leaf=_LEAST_ROWS, random_state=seed, n_jobs=n_jobs)
        trees = [each.tree_ for each in model.fit(X, label, sample_weight=weight).estimators_]
        roots = np.cumsum([0, *(tree.node_count for tree in trees[:-1])])
        shares = np.zeros((sum(tree.node_count for tree in trees), n_classes), dtype=np.float32)
        counts = np.concatenate([tree.value[:, 0] for tree in trees])
        shares[:, model.classes_] = counts / counts.sum(axis=1, keepdims=True)

        def joined(name: str, shift: bool) -> Array:
            parts = (getattr(tree, name) + (root if shift else 0) for tree, root in zip(trees, roots, strict=True))
            return np.concatenate(list(parts))

        left, right = joined("children_left", True), joined("children_right", True)
        left[joined("children_left", False) < 0] = -1
        threshold = joined("threshold", False).astype(np.float64)
        return cls(roots, left.astype(np.int32), right.astype(np.int32), joined("feature", False).astype(np.int32),
                   threshold, shares)  # fmt: skip

    def __call__(self, X: Array) -> Array:
        """(K, n) log of the mean share of each class, as if there were one more, uninformative tree: the agreement of
        all trees is not a probability of 1."""
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
        return np.log((total + 1.0 / total.shape[1]) / (len(self.roots) + 1)).T
