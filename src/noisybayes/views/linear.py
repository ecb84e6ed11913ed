"""Logistic regression on the columns: sees what depends on several columns together, and says by which weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..dataset.tree import Array
from .base import ViewRows, ViewScores, cross_fitted
from .matrices import standardised

# A bound on the steps of the solver.
_MOST_STEPS = 200
# Rows whose weights are looked up together, so that those of many words stay small.
_AT_ONCE = 500


def scores(rows: ViewRows) -> ViewScores:
    return linear_scores(rows, standardised(rows))


def linear_scores(rows: ViewRows, X: Any) -> ViewScores:
    """X : (n, p) what the regression is fitted to"""
    weights: dict[int, Array] = {}

    def fit(kept: Array, label: Array, weight: Array | None) -> Any:
        model = _fitted(X[kept], label, weight)

        def predict(here: Array) -> tuple[Array, Array]:
            weights[int(rows.fold[here[0]])] = _by_class(model, rows.n_classes)
            return model.classes_, model.predict_proba(X[here])

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


def _fitted(X: Any, label: Array, weight: Array | None) -> Any:
    import warnings

    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    with warnings.catch_warnings():
        # scores near the optimum serve as well: the calibration sets their scale
        warnings.simplefilter("ignore", ConvergenceWarning)
        return LogisticRegression(max_iter=_MOST_STEPS).fit(X, label, sample_weight=weight)


def _by_class(model: Any, n_classes: int) -> Array:
    """(K, p) weights of each class; two classes share one row of weights."""
    weights = np.zeros((n_classes, model.coef_.shape[1]))
    if len(model.coef_) == 1:
        weights[model.classes_[1]] = model.coef_[0]
    else:
        weights[model.classes_] = model.coef_
    return weights
