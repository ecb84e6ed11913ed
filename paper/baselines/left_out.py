"""Out-of-fold scores of each row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone

from .inputs import Array

#: (fitted classifier, rows) -> (m, columns in the order of its classes); the largest is its prediction
Score = Callable[[Any, Any], Array]


def folds(labels: Array, n_folds: int, rng: np.random.Generator) -> Array:
    """(n,) the fold of each row; each label is distributed evenly over the folds."""
    order = np.lexsort((rng.random(len(labels)), labels))
    fold = np.empty(len(labels), dtype=np.intp)
    fold[order] = np.arange(len(labels)) % n_folds
    return fold


def scores(model: Any, score: Score, X: Any, labels: Array, n_classes: int, fold: Array) -> tuple[Array, int]:
    """(n, K), -inf for a class that occurs in no other fold; and the number of parameters of the largest fit.

    If all rows are in one fold, they are scored by the classifier fitted to them.
    """
    found = np.full((len(labels), n_classes), -np.inf)
    n_numbers = 0
    for number in range(int(fold.max()) + 1):
        rows = np.flatnonzero(fold == number)
        others = np.flatnonzero(fold != number) if len(rows) < len(labels) else rows
        present = np.unique(labels[others])
        if len(present) == 1:  # some classifiers refuse to learn a single class
            found[rows, present[0]] = 0.0
            continue
        fitted = clone(model).fit(X[others], labels[others])
        found[np.ix_(rows, fitted.classes_)] = score(fitted, X[rows])
        n_numbers = max(n_numbers, fitted_numbers(fitted))
    return found, n_numbers


def by_prediction(fitted: Any, X: Any) -> Array:
    """1 for the predicted class and 0 for the others."""
    return np.asarray(fitted.predict(X)[:, None] == fitted.classes_, dtype=np.float64)


def by_distance(fitted: Any, X: Any) -> Array:
    """Scores of a linear machine; with two classes its single score is split in half."""
    distance = fitted.decision_function(X)
    return np.column_stack([-distance / 2, distance / 2]) if distance.ndim == 1 else np.asarray(distance)


def by_joint_probability(fitted: Any, X: Any) -> Array:
    """log P(x, class) of naive Bayes: unlike P(class | x), it does not saturate at one with many features."""
    return np.asarray(fitted.predict_joint_log_proba(X))


def margin(found: Array, labels: Array) -> Array:
    """(n,) the best other score minus that of the label: above zero where the prediction differs from it."""
    rows = np.arange(len(labels))
    others = found.copy()
    others[rows, labels] = -np.inf
    # a class without a score ranks below all others by no more than their range, so the margin stays finite
    finite = np.isfinite(found)
    floor = found[finite].min() - np.ptp(found[finite]) - 1.0
    return np.asarray(np.maximum(others.max(axis=1), floor) - np.maximum(found[rows, labels], floor))


def fitted_numbers(fitted: Any) -> int:
    """Free parameters of a fitted classifier: naive Bayes K - 1 + K d, a linear one its coefficients, a tree its nodes.

    Others have none: nearest neighbours keep the rows.
    """
    if hasattr(fitted, "feature_log_prob_"):
        return int(fitted.feature_log_prob_.size + len(fitted.classes_) - 1)
    if hasattr(fitted, "coef_"):
        return int(np.size(fitted.coef_) + np.size(fitted.intercept_))
    return int(fitted.tree_.node_count) if hasattr(fitted, "tree_") else 0
