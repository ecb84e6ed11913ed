"""A forest of randomised trees on the columns: captures interactions and curved class boundaries."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dataset.tree import Array
from .base import ViewRows, ViewScores, cross_fitted
from .dense_features import standardised

# More trees hardly change the vote.
_TREES = 100
# Minimum rows per leaf: a leaf of one row repeats its label, right or wrong.
_LEAST_ROWS = 3
# With fewer rows, threads cost more than they save. The trees are the same with any number of them.
_MANY_ROWS = 2_000


def scores(rows: ViewRows) -> ViewScores:
    X = standardised(rows)

    def fit(train: Array, label: Array, weight: Array | None) -> Any:
        from sklearn.ensemble import ExtraTreesClassifier

        n_jobs = -1 if len(train) >= _MANY_ROWS else None
        forest = ExtraTreesClassifier(_TREES, min_samples_leaf=_LEAST_ROWS, random_state=rows.seed, n_jobs=n_jobs)
        forest.fit(X[train], label, sample_weight=weight)
        return lambda test: (forest.classes_, _smoothed(forest.predict_proba(X[test])))

    return ViewScores(cross_fitted(rows, fit))


def _smoothed(proba: Array) -> Array:
    """As if there were one more, uninformative tree: agreement of all trees is not a probability of 1."""
    return np.asarray((_TREES * proba + 1.0 / proba.shape[1]) / (_TREES + 1))
