"""Binary features: P(x_j = 1 | k) = p[k, j], with a Beta prior on each p[k, j]."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import digamma

from ...dataset.csr import transposed_product
from ...dataset.tree import Array
from .base import Family, best_strength, linear_score, linear_terms, some_columns

# That a column is zero is evidence too; beyond so many columns of sparse rows the absent ones would hide the present.
_MOST_COLUMNS_TO_SHOW_ABSENCE = 200
# Stands for zero: keeps every logarithm finite, and is far below one part in the rows of any data set.
_TINY = 1e-10


class BetaPrior(NamedTuple):
    """Pseudo-counts: the log-prior is ones * log p + zeros * log(1 - p)."""

    ones: Array  # () or (d,)
    zeros: Array


class BernoulliParams(NamedTuple):
    log_p: Array  # (C, d)
    log_q: Array  # (C, d) log(1 - p), kept apart because 1 - p loses all digits near p = 1


@dataclass(frozen=True)
class Bernoulli(Family):
    """`binarize`: values above it count as 1; None demands a matrix of zeros and ones."""

    binarize: float | None = 0.0

    def prepare(self, X: Any) -> Any:
        if self.binarize is not None and not isinstance(self.binarize, int | float | np.number):
            raise ValueError(f"binarize must be a number or None, got {self.binarize!r}")
        if _is_binary(X.data if sparse.issparse(X) else X):
            return X
        if self.binarize is None:
            raise ValueError(
                "X holds values other than 0 and 1, which binarize=None does not allow; "
                "set binarize to the threshold above which a value counts as 1"
            )
        if not sparse.issparse(X):
            return (self.binarize < X).astype(X.dtype)
        if self.binarize < 0:
            raise ValueError("binarize must not be negative for sparse X: the absent zeros would all become ones")
        return sparse.csr_array(((X.data > self.binarize).astype(X.dtype), X.indices, X.indptr), shape=X.shape)

    def statistics(self, X: Any, resp: Array) -> Array:
        return transposed_product(X, resp).T

    def fixed_prior(self, alpha: float, stats: Array, weight: Array) -> BetaPrior:
        return BetaPrior(np.asarray(max(alpha, _TINY)), np.asarray(max(alpha, _TINY)))

    def pooled_prior(self, stats: Array, weight: Array, strength: float | None = None) -> BetaPrior:
        # half a pseudo-row keeps columns that are constant away from 0 and 1
        mean = (stats.sum(axis=0) + 0.5) / (weight.sum() + 1.0)
        if strength is None:
            strength = _best_strength(stats, weight, mean)
        return BetaPrior(strength * mean, strength * (1.0 - mean))

    def strength(self, prior: BetaPrior) -> float:
        return float(np.mean(prior.ones + prior.zeros))

    def estimate(self, stats: Array, weight: Array, prior: BetaPrior) -> BernoulliParams:
        weight = weight[:, None]
        # the sums of rounded numbers may stray beyond their bounds
        ones = np.clip(stats, 0.0, weight)
        log_total = np.log(weight + prior.ones + prior.zeros)
        log_p = np.log(ones + prior.ones) - log_total
        return BernoulliParams(log_p, np.log(weight - ones + prior.zeros) - log_total)

    def log_prior(self, params: BernoulliParams, prior: BetaPrior) -> Array:
        return np.asarray((params.log_p * prior.ones + params.log_q * prior.zeros).sum(axis=1))

    def scorer(self, params: BernoulliParams, dtype: np.dtype[Any]) -> Callable[[Any], Array]:
        weights = np.ascontiguousarray((params.log_p - params.log_q).T, dtype=dtype)
        return partial(linear_score, weights=weights, offset=params.log_q.sum(axis=1).astype(dtype))

    def terms(self, params: BernoulliParams, X: Any, component: Array, other: Array) -> Any:
        if sparse.issparse(X) and X.shape[1] > _MOST_COLUMNS_TO_SHOW_ABSENCE:
            return linear_terms(X, params.log_p, component, other)
        if sparse.issparse(X):
            X = X.toarray()
        one, zero = (log[component] - log[other] for log in params)
        return sparse.csr_array(np.where(X > 0, one, zero))

    def sample(
        self, params: BernoulliParams, stats: Array, weight: Array, component: Array, rng: np.random.Generator
    ) -> Array:
        p = np.exp(params.log_p)
        return (rng.random((len(component), p.shape[1])) < p[component]).astype(np.float64)


def _is_binary(values: Array) -> bool:
    values = values.reshape(-1) if values.flags.c_contiguous else values
    step = max(1, (1 << 20) // max(1, int(np.prod(values.shape[1:]))))
    parts = (values[start : start + step] for start in range(0, len(values), step))
    return all(bool(((part == 0) | (part == 1)).all()) for part in parts)


def _best_strength(stats: Array, weight: Array, mean: Array) -> float:
    """Beta-binomial marginal likelihood of all classes and features, as a function of one common strength."""
    columns = some_columns(stats.shape[1])
    m, c = mean[columns], weight[:, None]
    ones = np.clip(stats[:, columns], 0.0, c)

    def slope(s: float) -> float:
        by_ones = m * (digamma(ones + s * m) - digamma(s * m))
        by_zeros = (1 - m) * (digamma(c - ones + s * (1 - m)) - digamma(s * (1 - m)))
        return float((by_ones + by_zeros - digamma(c + s) + digamma(s)).sum())

    return best_strength(slope)
