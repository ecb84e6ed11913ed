"""Counts, such as words in a text: log P(x | k) = sum_j x_j log p[k, j], with a Dirichlet prior on each p[k]."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import digamma

from ....dataset.csr import transposed_product
from ....dataset.tree import Array
from .base import Family, best_strength, linear_score, linear_terms, some_columns

# Replaces zero: keeps every logarithm finite.
_TINY = 1e-10


@dataclass(frozen=True)
class Multinomial(Family):
    """The parameters are log p (C, d), the prior is its pseudo-counts () or (d,)."""

    def prepare(self, X: Any) -> Any:
        values = X.data if sparse.issparse(X) else X
        if values.size and values.min() < 0:
            raise ValueError(
                "Negative values in data passed as X: MultinomialINB expects counts or weights of at least 0; "
                "use GaussianINB for values of both signs"
            )
        return X

    def statistics(self, X: Any, resp: Array) -> Array:
        return transposed_product(X, resp).T

    def fixed_prior(self, alpha: float, stats: Array, weight: Array) -> Array:
        return np.asarray(max(alpha, _TINY))

    def pooled_prior(self, stats: Array, weight: Array, strength: float | None = None) -> Array:
        # one pseudo-count spread over all columns keeps columns that never occur away from 0
        total = stats.sum(axis=0) + 1.0 / stats.shape[1]
        mean = total / total.sum()
        return np.asarray(mean * (_best_strength(stats, mean) if strength is None else strength))

    def strength(self, prior: Array) -> float:
        return float(prior.sum())

    def estimate(self, stats: Array, weight: Array, prior: Array) -> Array:
        counts = np.maximum(stats, 0.0) + prior
        return np.asarray(np.log(counts) - np.log(counts.sum(axis=1, keepdims=True)))

    def log_prior(self, params: Array, prior: Array) -> Array:
        return np.asarray((params * prior).sum(axis=1))

    def scorer(self, params: Array, dtype: np.dtype[Any]) -> Callable[[Any], Array]:
        weights = np.ascontiguousarray(params.T, dtype=dtype)
        return partial(linear_score, weights=weights, offset=np.zeros(len(params), dtype=dtype))

    def terms(self, params: Array, X: Any, component: Array, other: Array) -> Any:
        return linear_terms(X, params, component, other)

    def sample(self, params: Array, stats: Array, weight: Array, component: Array, rng: np.random.Generator) -> Array:
        mean_length = stats.sum(axis=1) / np.maximum(weight, _TINY)
        p = np.exp(params)
        p /= p.sum(axis=1, keepdims=True)
        return np.stack([rng.multinomial(rng.poisson(mean_length[k]), p[k]) for k in component]).astype(np.float64)


def _best_strength(stats: Array, mean: Array) -> float:
    """Dirichlet-multinomial marginal likelihood; columns beyond a sample are merged into one, which is still exact."""
    columns = some_columns(stats.shape[1])
    rest = np.setdiff1d(np.arange(stats.shape[1]), columns)
    counts = np.maximum(stats[:, columns], 0.0)
    m = mean[columns]
    if len(rest):
        counts = np.column_stack([counts, np.maximum(stats[:, rest], 0.0).sum(axis=1)])
        m = np.append(m, mean[rest].sum())
    totals = counts.sum(axis=1)

    def slope(s: float) -> float:
        by_count = m * (digamma(counts + s * m) - digamma(s * m))
        return float(by_count.sum() - (digamma(totals + s) - digamma(s)).sum())

    return best_strength(slope)
