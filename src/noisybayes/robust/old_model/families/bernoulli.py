"""Binary features: P(x_j = 1 | k) = p[k, j], with a Beta prior on each p[k, j].

Without a prior (alpha = 0) a probability may be exactly zero: no number of other features outweighs a value that a
class never has. If every class is impossible for a row, the one with the fewest such values wins.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import digamma

from ....dataset.csr import transposed_product
from ....dataset.tree import Array
from .base import Family, best_strength, linear_score, linear_terms, some_columns

# A zero is evidence too; with more columns of sparse rows than this, the absent ones would hide the present ones.
_MAX_COLUMNS_FOR_ABSENCE = 200
# Represents log 0. Its exponential is 0, and the other features of a row cannot add up to as much: it acts as minus
# infinity, but the impossible values of a row can still be counted.
_LOG_ZERO = -1e5
# If all rows of a class have a feature, the weight of the class and that of its ones still differ by rounding, because
# they are summed in different orders.
_ROUNDING = 1e-12


class BetaPrior(NamedTuple):
    """Pseudo-counts: the log-prior is ones * log p + zeros * log(1 - p)."""

    ones: Array  # () or (d,)
    zeros: Array


class BernoulliParams(NamedTuple):
    log_p: Array  # (C, d)
    log_q: Array  # (C, d) log(1 - p), stored separately because 1 - p loses all digits near p = 1


@dataclass(frozen=True)
class Bernoulli(Family):
    """`binarize`: values above it count as 1; None requires a matrix of zeros and ones."""

    binarize: float | None = 0.0

    def prepare(self, X: Any) -> Any:
        if self.binarize is not None and not isinstance(self.binarize, int | float | np.number):
            raise ValueError(f"binarize must be a number or None, got {self.binarize!r}")
        if _is_binary(X.data if sparse.issparse(X) else X):
            return X
        if self.binarize is None:
            raise ValueError(
                "X contains values other than 0 and 1, which binarize=None does not allow; "
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
        return BetaPrior(np.asarray(float(alpha)), np.asarray(float(alpha)))

    def pooled_prior(self, stats: Array, weight: Array, strength: float | None = None) -> BetaPrior:
        # half a pseudo-row keeps constant columns away from 0 and 1
        mean = (stats.sum(axis=0) + 0.5) / (weight.sum() + 1.0)
        if strength is None:
            strength = _best_strength(stats, weight, mean)
        return BetaPrior(strength * mean, strength * (1.0 - mean))

    def strength(self, prior: BetaPrior) -> float:
        return float(np.mean(prior.ones + prior.zeros))

    def estimate(self, stats: Array, weight: Array, prior: BetaPrior) -> BernoulliParams:
        weight = weight[:, None]
        # sums of rounded numbers may exceed their bounds
        ones = np.clip(stats, 0.0, weight)
        zeros = weight - ones
        if not np.all(prior.zeros):
            zeros = np.where(zeros <= _ROUNDING * weight, 0.0, zeros)
        total = weight + prior.ones + prior.zeros
        return BernoulliParams(_log_share(ones + prior.ones, total), _log_share(zeros + prior.zeros, total))

    def random_params(
        self, labels: Array, n_components: int, low: float, high: float, rng: np.random.Generator
    ) -> BernoulliParams:
        p = rng.uniform(low, high, (n_components, labels.shape[1]))
        return BernoulliParams(np.log(p), np.log1p(-p))

    def log_prior(self, params: BernoulliParams, prior: BetaPrior) -> Array:
        return np.asarray((params.log_p * prior.ones + params.log_q * prior.zeros).sum(axis=1))

    def scorer(self, params: BernoulliParams, dtype: np.dtype[Any]) -> Callable[[Any], Array]:
        never, always = (log <= _LOG_ZERO for log in params)
        if never.any() or always.any():
            return _scorer_with_zeros(params, never, always, dtype)
        return _linear_scorer(*params, dtype)

    def terms(self, params: BernoulliParams, X: Any, component: Array, other: Array) -> Any:
        if sparse.issparse(X) and X.shape[1] > _MAX_COLUMNS_FOR_ABSENCE:
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


def _log_share(part: Array, total: Array) -> Array:
    """log(part / total); log(1/2) if a component has no rows."""
    with np.errstate(divide="ignore", invalid="ignore"):  # zeros are replaced
        log_share = np.maximum(np.log(part) - np.log(total), _LOG_ZERO)
    return np.asarray(np.where(total > 0, log_share, np.log(0.5)))


def _linear_scorer(log_p: Array, log_q: Array, dtype: np.dtype[Any]) -> Callable[[Any], Array]:
    weights = np.ascontiguousarray((log_p - log_q).T, dtype=dtype)
    return partial(linear_score, weights=weights, offset=log_q.sum(axis=1).astype(dtype))


def _scorer_with_zeros(
    params: BernoulliParams, never: Array, always: Array, dtype: np.dtype[Any]
) -> Callable[[Any], Array]:
    """never, always : (C, d) where x_j is never 1, or always 1, in a component"""
    log_p, log_q = np.where(never, 0.0, params.log_p), np.where(always, 0.0, params.log_q)
    impossible = _linear_scorer(never.astype(np.float64), always.astype(np.float64), dtype)
    return partial(_score_with_zeros, possible=_linear_scorer(log_p, log_q, dtype), impossible=impossible)


def _score_with_zeros(X: Any, possible: Callable[[Any], Array], impossible: Callable[[Any], Array]) -> Array:
    """Impossible values are counted separately: integers are exact in any precision, sums of _LOG_ZERO are not."""
    scores = impossible(X)
    scores *= _LOG_ZERO
    scores += possible(X)
    return scores


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
