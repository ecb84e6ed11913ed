"""Logistic regression on the columns: uses combinations of columns, and explains them by weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..dataset.tree import Array
from .base import LEAST_PROBABILITY, ViewRows, ViewScores, cross_fitted
from .dense_features import standardised

# Maximum number of solver steps.
_MOST_STEPS = 200
# Inverse regularisation strength, `C` of scikit-learn, for rows whose mean squared length is 1.
_STRENGTHS = (1.0, 4.0, 16.0, 64.0)
# Rows whose weights are looked up together, so that arrays for many words stay small.
_AT_ONCE = 500


def scores(rows: ViewRows) -> ViewScores:
    return linear_scores(rows, standardised(rows))


def linear_scores(rows: ViewRows, X: Any) -> ViewScores:
    """X : (n, p) input of the regression"""
    weights: dict[int, Array] = {}
    strengths = np.array(_STRENGTHS) / _mean_square(X, rows.weight)

    def fit(train: Array, label: Array, weight: Array | None) -> Any:
        model = _fitted(X[train], label, weight, _best_strength(X[train], label, weight, rows.fold[train], strengths))

        def predict(test: Array) -> tuple[Array, Array]:
            weights[int(rows.fold[test[0]])] = _by_class(model, rows.n_classes)
            return model.classes_, model.predict_proba(X[test])

        return predict

    values = cross_fitted(rows, fit)

    def terms(numbers: Array, component: Array, other: Array) -> Any:
        parts = []
        for start in range(0, len(numbers), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            fold = rows.fold[numbers[part]].tolist()
            difference = [
                weights[f][one] - weights[f][two] if f in weights else np.zeros(X.shape[1])
                for f, one, two in zip(fold, component[part].tolist(), other[part].tolist(), strict=True)
            ]
            parts.append(sparse.csr_array(X[numbers[part]]).multiply(np.array(difference)))
        return sparse.csr_array(sparse.vstack(parts, format="csr"))

    return ViewScores(values, terms)


def _mean_square(X: Any, weight: Array) -> float:
    """Mean squared length of the rows, by weight; 1 if all are zero."""
    squares = np.asarray((X.multiply(X) if sparse.issparse(X) else X * X).sum(axis=1)).ravel()
    return float(weight @ squares / max(weight.sum(), 1e-300)) or 1.0


def _best_strength(X: Any, label: Array, weight: Array | None, fold: Array, strengths: Array) -> float:
    """By the likelihood of the labels of one more held-out fold: the choice for a fold must not depend on its labels.
    From the strongest regularisation, until the likelihood decreases."""
    left_out = fold == fold.max()
    learn, test = np.flatnonzero(~left_out), np.flatnonzero(left_out)
    if not len(learn) or label[learn].min() == label[learn].max():
        return float(strengths[0])
    best, highest = strengths[0], -np.inf
    for strength in strengths:
        model = _fitted(X[learn], label[learn], None if weight is None else weight[learn], strength)
        proba = np.full((len(test), max(label.max(), model.classes_.max()) + 1), LEAST_PROBABILITY)
        proba[:, model.classes_] = np.maximum(model.predict_proba(X[test]), LEAST_PROBABILITY)
        each = np.log(proba[np.arange(len(test)), label[test]])
        height = float(each.sum() if weight is None else weight[test] @ each)
        if height <= highest:
            break
        best, highest = strength, height
    return float(best)


def _fitted(X: Any, label: Array, weight: Array | None, strength: float) -> Any:
    import warnings

    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    with warnings.catch_warnings():
        # scores near the optimum are good enough: the calibration sets their scale
        warnings.simplefilter("ignore", ConvergenceWarning)
        return LogisticRegression(C=strength, max_iter=_MOST_STEPS).fit(X, label, sample_weight=weight)


def _by_class(model: Any, n_classes: int) -> Array:
    """(K, p) weights of each class; two classes share one row of weights."""
    weights = np.zeros((n_classes, model.coef_.shape[1]))
    if len(model.coef_) == 1:
        weights[model.classes_[1]] = model.coef_[0]
    else:
        weights[model.classes_] = model.coef_
    return weights
