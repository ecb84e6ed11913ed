"""Scales of the scores for pairs of classes, fitted by the penalised likelihood of the labels."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ..dataset.tree import Array
from ..robust.old_model.mislabel import constant_rate

# Prior standard deviation of the scale of a pair's scores, relative to the others.
_SPREAD = 0.3
# Nats per row and squared offset: small, since offsets must correct the scores.
_OFFSET_PENALTY = 0.001
# Maximum number of solver steps.
_MAX_ITERATIONS = 60
#: Avoids nan if a label is impossible for every class.
TINY = 1e-300


class PairScores(NamedTuple):
    """The scales of the scores, and the mislabeling matrix."""

    factor: float
    pairs: Array  # (K, K) symmetric
    offset: Array  # (K,)
    matrix: Array  # (K, K): [observed, true]

    def prior(self, scores: Array) -> Array:
        """(n, K) P(true | x)"""
        return _softmax(self.logits(scores))

    def logits(self, scores: Array) -> Array:
        scaled = self.factor * scores
        return np.asarray(scaled + scaled @ self.pairs + self.offset)

    def true(self, scores: Array, observed: Array) -> Array:
        """(n, K) P(true | x, label), or P(true | x) for rows without a label."""
        prior = self.prior(scores)
        table = np.vstack([self.matrix, np.ones(len(self.matrix))])
        joint = prior * table[observed] + TINY
        return np.asarray(joint / joint.sum(axis=1, keepdims=True))


class LabelProblem:
    """The penalised likelihood of some labels, and its maximum."""

    def __init__(self, scores: Array, observed: Array, weight: Array, pseudo_rows: float) -> None:
        self.by_class, self.observed, self.weight = np.ascontiguousarray(scores.T), observed, weight
        n, K = scores.shape
        self.is_label = sparse.csr_array((np.ones(n), (observed, np.arange(n))), shape=(K, n))
        self.total, self.K = float(weight.sum()), scores.shape[1]
        self.upper = np.triu_indices(self.K)
        spread = np.where(self.upper[0] == self.upper[1], np.sqrt(2.0), 1.0) * _SPREAD
        self.precision = 1.0 / spread**2
        self.pseudo_rows = pseudo_rows

    def steeper(self, exponent: float) -> LabelProblem:
        """The same labels; the scores of a row are multiplied by a power of their size, as sizes ** exponent does."""
        size = np.sqrt((self.by_class**2).sum(axis=0))
        relative = size / max(float(size.mean()), TINY)
        scores = (self.by_class * relative ** (exponent - 1.0)).T
        return LabelProblem(scores, self.observed, self.weight, self.pseudo_rows)

    @cached_property
    def plain(self) -> tuple[PairScores, float]:
        """The fit with all labels right and one scale for all pairs, and its log-likelihood."""
        K = self.K
        return self.fit(PairScores(1.0, np.zeros((K, K)), np.zeros(K), np.eye(K)), with_pairs=False, with_matrix=False)

    def fit(self, start: PairScores, with_pairs: bool, with_matrix: bool) -> tuple[PairScores, float]:
        """The result of the search from `start`, and its log-likelihood."""
        K = self.K
        rate = float(np.trace(start.matrix)) / K
        pseudo = self.pseudo_rows * constant_rate(K, min(max(rate, 0.5), 0.99))
        first = [np.log(start.factor), *start.offset]
        first += list(start.pairs[self.upper]) if with_pairs else []
        first += list(np.log(np.maximum(start.matrix, 1e-4)).ravel()) if with_matrix else []

        def unpack(vector: Array) -> PairScores:
            pairs = np.zeros((K, K))
            rest = vector[K + 1 :]
            if with_pairs:
                pairs[self.upper] = rest[: len(self.precision)]
                pairs = pairs + pairs.T - np.diag(np.diag(pairs))
                rest = rest[len(self.precision) :]
            matrix = _softmax(rest.reshape(K, K).T).T if with_matrix else start.matrix
            return PairScores(float(np.exp(np.clip(vector[0], -8, 4))), pairs, vector[1 : K + 1], matrix)

        def loss(vector: Array) -> tuple[float, Array]:
            return self._loss(unpack(vector), pseudo, with_pairs, with_matrix)

        from scipy.optimize import minimize  # takes a quarter of a second to import

        options = {"maxiter": _MAX_ITERATIONS, "maxcor": 20}
        optimum = minimize(loss, np.array(first), jac=True, method="L-BFGS-B", options=options)
        return unpack(optimum.x), -float(optimum.fun) * self.total

    def _loss(self, current: PairScores, pseudo: Array, with_pairs: bool, with_matrix: bool) -> tuple[float, Array]:
        """Minus the objective per row, and its gradient. Arrays are (K, n), which makes sums over classes fast."""
        scaled = current.factor * self.by_class
        logits = scaled + current.pairs @ scaled if with_pairs else scaled
        prior = np.exp(logits + current.offset[:, None] - (logits + current.offset[:, None]).max(axis=0))
        prior /= prior.sum(axis=0)
        joint = prior * current.matrix.T[:, self.observed]
        likelihood = joint.sum(axis=0) + TINY
        posterior = joint / likelihood * self.weight
        gap = posterior - prior * self.weight
        value = self.weight @ np.log(likelihood) - _OFFSET_PENALTY * self.total * (current.offset**2).sum()
        gradient = [
            np.array([(gap * logits).sum()]),
            gap.sum(axis=1) - 2 * _OFFSET_PENALTY * self.total * current.offset,
        ]
        if with_pairs:
            pairs = current.pairs[self.upper]
            products = scaled @ gap.T
            products = products + products.T - np.diag(np.diag(products))
            value -= 0.5 * (self.precision * pairs**2).sum()
            gradient.append(products[self.upper] - self.precision * pairs)
        if with_matrix:
            counts = self.is_label @ posterior.T + pseudo
            value += (pseudo * np.log(current.matrix + TINY)).sum()
            gradient.append((counts - current.matrix * counts.sum(axis=0)).ravel())
        return -float(value) / self.total, -np.concatenate(gradient) / self.total


def _softmax(logits: Array) -> Array:
    """Softmax over the last axis."""
    exps = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(exps / exps.sum(axis=-1, keepdims=True))
