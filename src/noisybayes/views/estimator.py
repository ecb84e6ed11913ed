"""Any scikit-learn classifier or pipeline with `predict_proba`, fitted to columns or texts."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.errors import InputError
from ..dataset.tree import Array
from .base import ViewRows, ViewScores, cross_fitted


def scores(rows: ViewRows) -> ViewScores:
    estimator, data = rows.given.estimator, rows.given.estimator_rows
    assert estimator is not None

    def fit(train: Array, label: Array, weight: Array | None) -> Any:
        from sklearn.base import clone
        from sklearn.utils.validation import has_fit_parameter

        if weight is not None and not has_fit_parameter(estimator, "sample_weight"):
            # each row is repeated by its weight, with the fraction at random: no row of positive weight is lost
            copies = np.floor(weight + np.random.default_rng(rows.seed).random(len(weight))).astype(int)
            train, label, weight = np.repeat(train, copies), np.repeat(label, copies), None
        named = {} if weight is None else {"sample_weight": weight}
        try:
            model = clone(estimator).fit(take(data, train), label, **named)
        except (TypeError, ValueError) as error:
            what = "the texts" if isinstance(data, list) else "the columns"
            raise InputError(
                f"{type(estimator).__name__} cannot be fitted to {what} ({error}); give a pipeline that prepares them"
            ) from error
        return lambda test: (model.classes_, model.predict_proba(take(data, test)))

    return ViewScores(cross_fitted(rows, fit))


def take(data: Any, numbers: Array) -> Any:
    """Some rows of a pandas data frame, an array, or a list."""
    if hasattr(data, "iloc"):
        return data.iloc[numbers]
    if isinstance(data, list):
        return [data[number] for number in numbers.tolist()]
    return data[numbers]
