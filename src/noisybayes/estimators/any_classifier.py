"""Any scikit-learn classifier as a learner of cross-fitted scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from ..model.beliefs import Belief
from ..model.rows import Rows
from ..model.tree import Array
from ..model.variants import Score, Variant

# A probability of zero would be final; forests and boosting give it lightly.
_LEAST_PROBABILITY = 1e-4


class Gathered(NamedTuple):
    parts: list[Rows]
    beliefs: list[Belief]
    fitted: list[Any]  # one classifier for each part, fitted to the others


class ClassifierLearner:
    """Scores are logarithms of predicted probabilities; labels count by `sample_weight`, or else by resampling."""

    additive = False

    def __init__(self, estimator: Any, n_classes: int, n_rows: int, seed: int) -> None:
        self.estimator, self.n_classes, self.seed = estimator, n_classes, seed
        self.weighs = has_fit_parameter(estimator, "sample_weight")
        penalty = 0.5 / n_rows  # a standard normal prior on every offset
        self.variant = Variant(type(estimator).__name__, (Score(None, None),), None, (penalty,), False)
        self.blocks: Sequence[Sequence[Variant]] = [[self.variant]]

    def gather(self, parts: list[Rows], beliefs: list[Belief]) -> Gathered:
        fitted = [self._fit(parts[:f] + parts[f + 1 :], beliefs[:f] + beliefs[f + 1 :]) for f in range(len(parts))]
        return Gathered(parts, beliefs, fitted)

    def out_of_fold(self, gathered: Gathered, variant: Variant, settled: bool, parts: list[Rows]) -> list[Array]:
        return [
            self.score(classifier, variant, part.X) for classifier, part in zip(gathered.fitted, parts, strict=True)
        ]

    def left_out(self, gathered: Gathered, variant: Variant, settled: bool) -> list[Any]:
        return gathered.fitted

    def predictor(self, gathered: Gathered, variant: Variant, settled: bool) -> Any:
        return self._fit(gathered.parts, gathered.beliefs)

    def score(self, predictor: Any, variant: Variant, X: Any) -> Array:
        proba = np.zeros((X.shape[0], self.n_classes))
        proba[:, predictor.classes_] = predictor.predict_proba(X)
        return np.asarray(np.log(np.maximum(proba, _LEAST_PROBABILITY)))[None]

    def shares(self, gathered: Gathered) -> Array:
        return np.zeros(self.n_classes)

    def _fit(self, parts: list[Rows], beliefs: list[Belief]) -> Any:
        blocks = [part.X for part in parts]
        X = sparse.vstack(blocks, format="csr") if sparse.issparse(blocks[0]) else np.concatenate(blocks)
        label = np.concatenate([belief.label for belief in beliefs])
        trust = np.concatenate([belief.trust for belief in beliefs])
        if parts[0].weight is not None:
            trust = trust * np.concatenate([part.weight for part in parts])
        if (trust == 1.0).all():
            return clone(self.estimator).fit(X, label)
        if self.weighs:
            used = np.flatnonzero(trust > 0)
            return clone(self.estimator).fit(X[used], label[used], sample_weight=trust[used])
        # each row as often as it counts, the fraction left to chance: no row that is believed is lost
        copies = np.floor(trust + np.random.default_rng(self.seed).random(len(trust))).astype(int)
        drawn = np.repeat(np.arange(len(trust)), copies)
        return clone(self.estimator).fit(X[drawn], label[drawn])
