"""A feature family that the package does not have: the example of CONTRIBUTING.md."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import digamma

from noisybayes.dataset.csr import transposed_product
from noisybayes.dataset.tree import Array
from noisybayes.model.families.base import Family, best_strength, linear_score, linear_terms, some_columns

# Replaces zero: keeps every logarithm finite.
_TINY = 1e-10


@dataclass(frozen=True)
class Poisson(Family):
    """x_j | k ~ Poisson(rate[k, j]), with a Gamma prior on each rate.

    The parameters are log rates (C, d). The prior is a pair: `rows` pseudo-rows with `events` (d,) in total.
    """

    def prepare(self, X: Any) -> Any:
        values = X.data if sparse.issparse(X) else X
        if values.size and values.min() < 0:
            raise ValueError("Negative values in data passed as X: the Poisson family expects counts of at least 0")
        return X

    def statistics(self, X: Any, resp: Array) -> Array:
        return transposed_product(X, resp).T

    def fixed_prior(self, alpha: float, stats: Array, weight: Array) -> tuple[Array, float]:
        return self.pooled_prior(stats, weight, max(alpha, _TINY))

    def pooled_prior(self, stats: Array, weight: Array, strength: float | None = None) -> tuple[Array, float]:
        # half an event keeps columns that are all zero away from rate 0
        mean = (stats.sum(axis=0) + 0.5) / (weight.sum() + 1.0)
        if strength is None:
            strength = best_strength(partial(strength_slope, stats=stats, weight=weight, mean=mean))
        return strength * mean, strength

    def strength(self, prior: tuple[Array, float]) -> float:
        return prior[1]

    def estimate(self, stats: Array, weight: Array, prior: tuple[Array, float]) -> Array:
        events, rows = prior
        return np.asarray(np.log(np.maximum(stats, 0.0) + events) - np.log(weight[:, None] + rows))

    def log_prior(self, params: Array, prior: tuple[Array, float]) -> Array:
        events, rows = prior
        return np.asarray((events * params - rows * np.exp(params)).sum(axis=1))

    def scorer(self, params: Array, dtype: np.dtype[Any]) -> Callable[[Any], Array]:
        # log(x!) is the same for every class
        weights = np.ascontiguousarray(params.T, dtype=dtype)
        return partial(linear_score, weights=weights, offset=-np.exp(params).sum(axis=1).astype(dtype))

    def terms(self, params: Array, X: Any, component: Array, other: Array) -> Any:
        return linear_terms(X, params, component, other)

    def sample(self, params: Array, stats: Array, weight: Array, component: Array, rng: np.random.Generator) -> Array:
        return rng.poisson(np.exp(params)[component]).astype(np.float64)


def strength_slope(s: float, stats: Array, weight: Array, mean: Array) -> float:
    """Slope, by the strength s, of the Gamma-Poisson marginal log-likelihood of all classes and features."""
    columns = some_columns(stats.shape[1])
    m, c = mean[columns], weight[:, None]
    events = np.maximum(stats[:, columns], 0.0)
    by_shape = m * (1 + np.log(s / (s + c)) + digamma(events + s * m) - digamma(s * m))
    return float((by_shape - (events + s * m) / (s + c)).sum())
