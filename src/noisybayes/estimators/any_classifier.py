"""Any scikit-learn classifier as a source of cross-fitted scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from ..dataset import Dataset, Rows
from ..dataset.tree import Array
from ..robust.calibration import centred
from ..robust.constants import Offsets
from ..robust.label_weights import LabelWeights
from ..robust.score_models import Score, ScoreModel
from .opaque_rows import unwrap_rows

# A probability of zero could never be corrected, and forests and boosting often return it.
_MIN_PROBABILITY = 1e-4


class StoredScores(NamedTuple):
    """Scores of all rows: classifiers are slow, so they are called only once."""

    values: Array  # (B, n, R, K)

    def scores(self, rows: Rows) -> Array:
        return np.asarray(self.values[:, rows.number])


class LearnedClassifiers(NamedTuple):
    """What was learned from weighted labels."""

    source: ClassifierSource
    out_of_fold: StoredScores
    predictor: Any  # fitted to all rows; None if not requested

    @property
    def shares(self) -> Array:
        """Predicted probabilities already include the class shares."""
        return np.zeros((1, self.source.n_classes))

    def combined(self, temperature: Array) -> StoredScores:
        return StoredScores(temperature[0] * self.out_of_fold.values)

    def terms(self, rows: Rows, component: Array, other: Array, temperature: Array) -> None:
        """The contribution of a column is not known for arbitrary classifiers."""

    def by_view(self, rows: Rows, *_: Any) -> list[list[tuple[str, float]]]:
        return [[] for _ in range(rows.n_rows)]


class ClassifierSource:
    """Scores are logarithms of predicted probabilities; labels count by `sample_weight`, or else by resampling."""

    additive = False
    n_threads = 1  # classifiers have their own threads

    def __init__(self, estimator: Any, n_classes: int, weight: float, seed: int) -> None:
        self.estimator, self.n_classes, self.seed = estimator, n_classes, seed
        self.weight_name = _weight_name(estimator)
        # a standard normal prior on every offset
        offsets = Offsets(0.5 / weight, from_shares=False)
        model = ScoreModel(type(estimator).__name__, (Score(None, None, None),), None, (offsets,))
        self.candidates: Sequence[Sequence[ScoreModel]] = [[model]]

    def learn(
        self,
        data: Dataset,
        weights: LabelWeights,
        model: ScoreModel,
        reweighted: bool,
        left_out: Array | None = None,
    ) -> LearnedClassifiers:
        assert data.rows is not None
        assert data.folds is not None
        label, weight = data.collect(weights)
        row_weight = data.rows.weight
        weight = weight if row_weight is None else weight * row_weight[:, None]
        X, fold = data.rows.X, data.folds.of(data.rows.number)
        left_out_folds = [-1] if left_out is None else left_out.tolist()
        values = np.empty((1, data.n_rows, len(left_out_folds), self.n_classes))
        for r, left_out_fold in enumerate(left_out_folds):
            column = min(r, label.shape[1] - 1)
            for f in range(data.folds.n_folds):
                train, test = np.flatnonzero((fold != f) & (fold != left_out_fold)), np.flatnonzero(fold == f)
                fitted = self._fit(X[train], label[train, column], weight[train, column])
                values[0, test, r] = self.score(fitted, X[test])
        predictor = self._fit(X, label[:, 0], weight[:, 0]) if left_out is None else None
        return LearnedClassifiers(self, StoredScores(centred(values)), predictor)

    def score(self, fitted: Any, X: Any) -> Array:
        """(n, K)"""
        proba = np.zeros((X.shape[0], self.n_classes))
        proba[:, fitted.classes_] = fitted.predict_proba(unwrap_rows(X))
        return np.asarray(np.log(np.maximum(proba, _MIN_PROBABILITY)))

    def _fit(self, X: Any, label: Array, weight: Array) -> Any:
        if (weight == 1.0).all():
            return clone(self.estimator).fit(unwrap_rows(X), label)
        if self.weight_name is not None:
            positive = np.flatnonzero(weight > 0)
            return clone(self.estimator).fit(
                unwrap_rows(X[positive]), label[positive], **{self.weight_name: weight[positive]}
            )
        # each row is repeated by its weight, with the fraction at random: no row of positive weight is lost
        copies = np.floor(weight + np.random.default_rng(self.seed).random(len(weight))).astype(int)
        repeated = np.repeat(np.arange(len(weight)), copies)
        return clone(self.estimator).fit(unwrap_rows(X[repeated]), label[repeated])


def _weight_name(estimator: Any) -> str | None:
    """The name of the `fit` parameter for row weights: in a pipeline, that of its last step."""
    if has_fit_parameter(estimator, "sample_weight"):
        return "sample_weight"
    steps = getattr(estimator, "steps", None)
    if steps and has_fit_parameter(steps[-1][1], "sample_weight"):
        return f"{steps[-1][0]}__sample_weight"
    return None
