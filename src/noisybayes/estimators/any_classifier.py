"""Any scikit-learn classifier as a learner of cross-fitted scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from ..model.beliefs import Belief
from ..model.folded import Folded
from ..model.tree import Array
from ..model.variants import Offsets, Score, Variant

# A probability of zero would be final; forests and boosting give it lightly.
_LEAST_PROBABILITY = 1e-4


class Gathered(NamedTuple):
    folded: Folded
    belief: Belief
    fitted: list[Any]  # one classifier for each fold, fitted to the others


class ClassifierLearner:
    """Scores are logarithms of predicted probabilities; labels count by `sample_weight`, or else by resampling."""

    additive = False
    n_threads = 1  # classifiers have threads of their own

    def __init__(self, estimator: Any, n_classes: int, n_rows: int, seed: int) -> None:
        self.estimator, self.n_classes, self.seed = estimator, n_classes, seed
        self.weighs = has_fit_parameter(estimator, "sample_weight")
        # a standard normal prior on every offset; predicted probabilities know the class shares already
        offsets = Offsets(0.5 / n_rows, from_shares=False)
        self.variant = Variant(type(estimator).__name__, (Score(None, None),), None, (offsets,))
        self.blocks: Sequence[Sequence[Variant]] = [[self.variant]]

    def in_one_thread(self) -> ClassifierLearner:
        return self

    def gather(self, folded: Folded, belief: Belief) -> Gathered:
        fitted = [self._fit(folded, belief, np.flatnonzero(folded.fold != f)) for f in range(folded.n_folds)]
        return Gathered(folded, belief, fitted)

    def left_out(self, gathered: Gathered, variant: Variant, settled: bool) -> list[Any]:
        return gathered.fitted

    def predictor(self, gathered: Gathered, variant: Variant, settled: bool) -> Any:
        return self._fit(gathered.folded, gathered.belief, np.arange(gathered.folded.n_rows))

    def score(self, predictor: Any, variant: Variant, X: Any) -> Array:
        proba = np.zeros((X.shape[0], self.n_classes))
        proba[:, predictor.classes_] = predictor.predict_proba(X)
        return np.asarray(np.log(np.maximum(proba, _LEAST_PROBABILITY)))[None]

    def weighed(self, predictor: Any, variant: Variant, temperature: Array) -> Callable[[Any], Array]:
        return lambda X: temperature[0] * self.score(predictor, variant, X)[0]

    def shares(self, gathered: Gathered) -> Array:
        return np.zeros(self.n_classes)

    def _fit(self, folded: Folded, belief: Belief, rows: Array) -> Any:
        X, label, trust = folded.take(rows), belief.label[rows], belief.trust[rows] * folded.labels.weight[rows]
        if (trust == 1.0).all():
            return clone(self.estimator).fit(X, label)
        if self.weighs:
            used = np.flatnonzero(trust > 0)
            return clone(self.estimator).fit(X[used], label[used], sample_weight=trust[used])
        # each row as often as it counts, the fraction left to chance: no row that is believed is lost
        copies = np.floor(trust + np.random.default_rng(self.seed).random(len(trust))).astype(int)
        drawn = np.repeat(np.arange(len(trust)), copies)
        return clone(self.estimator).fit(X[drawn], label[drawn])
