"""A feature family and a structure that the package does not have: the examples of CONTRIBUTING.md."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import digamma

from noisybayes.model.families import Family, best_strength, linear, some_columns, weighted_sums
from noisybayes.model.matrix import Estimated

Array = NDArray[Any]

# Replaces zero: keeps every logarithm finite.
_TINY = 1e-10


@dataclass(frozen=True)
class Poisson(Family):
    """x_j | k ~ Poisson(rate[k, j]), with a Gamma prior on each rate.

    The parameters are log rates (K, d). The prior is a pair: `rows` pseudo-rows with `events` (d,) in total.
    """

    def prepare(self, X: Any) -> Any:
        values = X.data if sparse.issparse(X) else X
        if values.size and values.min() < 0:
            raise ValueError("Negative values in data passed as X: the Poisson family expects counts of at least 0")
        return X

    def sums(self, X: Any, resp: Array) -> Array:
        return weighted_sums(X, resp)

    def fixed_prior(self, alpha: float, sums: Array, weight: Array) -> tuple[Array, float]:
        return self.pooled_prior(sums, weight, max(alpha, _TINY))

    def pooled_prior(self, sums: Array, weight: Array, strength: float | None = None) -> tuple[Array, float]:
        # half an event keeps columns that are all zero away from rate 0
        mean = (sums.sum(axis=0) + 0.5) / (weight.sum() + 1.0)
        if strength is None:
            strength = best_strength(lambda s: self._slope(s, sums, weight, mean))
        return strength * mean, strength

    @staticmethod
    def _slope(s: float, sums: Array, weight: Array, mean: Array) -> float:
        """Slope, by the strength s, of the Gamma-Poisson marginal log-likelihood of all classes and features."""
        columns = some_columns(sums.shape[1])
        m, c, events = mean[columns], weight[:, None], np.maximum(sums[:, columns], 0.0)
        by_shape = m * (1 + np.log(s / (s + c)) + digamma(events + s * m) - digamma(s * m))
        return float((by_shape - (events + s * m) / (s + c)).sum())

    def strength(self, prior: tuple[Array, float]) -> float:
        return prior[1]

    def estimate(self, sums: Array, weight: Array, prior: tuple[Array, float]) -> Array:
        events, rows = prior
        return np.asarray(np.log(np.maximum(sums, 0.0) + events) - np.log(weight[:, None] + rows))

    def log_prior(self, params: Array, prior: tuple[Array, float]) -> float:
        events, rows = prior
        return float((events * params - rows * np.exp(params)).sum())

    def log_likelihood(self, X: Any, params: Array) -> Array:
        # log(x!) is the same for every class
        return linear(X, params, -np.exp(params).sum(axis=1))

    def sample(self, params: Array, sums: Array, weight: Array, component: Array, rng: np.random.Generator) -> Array:
        return rng.poisson(np.exp(params)[component]).astype(np.float64)


class OwnRates(Estimated):
    """Each class has its own share of correct labels; its wrong labels are spread evenly."""

    def estimate(self, counts: Array) -> Array:
        counts = counts + self.pseudo
        n_classes, total = len(counts), counts.sum(axis=0)
        # a class without rows says nothing about its labels
        right = np.where(total > 0, np.diag(counts) / np.where(total > 0, total, 1.0), 1.0)
        own = np.eye(n_classes)
        return np.asarray(own * right + (1.0 - own) * (1.0 - right) / max(n_classes - 1, 1))
