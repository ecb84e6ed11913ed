"""Continuous features: x_j | k ~ Normal(mean[k, j], var[k, j]), with a normal / inverse-gamma prior on each pair."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import digamma, gammaln

from ....dataset.csr import squared, transposed_product
from ....dataset.tree import Array
from .base import STRENGTH_BOUNDS, Family

# As in scikit-learn: no variance below this share of the largest one, so that a constant feature cannot decide alone.
_VARIANCE_FLOOR = 1e-9

# In logs: maximum distance between the end of the search and the root of the gradient.
_MAX_ROOT_DISTANCE = 0.01


class GaussianStats(NamedTuple):
    sum: Array  # (C, d) of x - centre
    square: Array  # (C, d) of (x - centre)^2


class GaussianParams(NamedTuple):
    mean: Array  # (C, d), minus the centre
    var: Array  # (C, d)


class GaussianPrior(NamedTuple):
    """The mean counts for `mean_rows` rows at `mean`, the variance for `var_rows` rows of variance `var`."""

    mean_rows: float
    var_rows: float
    mean: Array  # (d,), minus the centre
    var: Array  # (d,) pooled variance within classes
    floor: float


@dataclass(frozen=True)
class Gaussian(Family):
    """Sums are taken about a fixed centre near the data: about zero, a mean of 1e8 would swallow the variance."""

    # sparse rows are not centred: that would make them dense
    centre: Array = field(default_factory=lambda: np.zeros(()))

    def anchor(self, X: Any) -> Gaussian:
        return self if sparse.issparse(X) else replace(self, centre=X.mean(axis=0, dtype=np.float64))

    def statistics(self, X: Any, resp: Array) -> GaussianStats:
        z, square = _moments(X, self.centre)
        return GaussianStats(transposed_product(z, resp).T, transposed_product(square, resp).T)

    def fixed_prior(self, alpha: float, stats: GaussianStats, weight: Array) -> GaussianPrior:
        return self.pooled_prior(stats, weight, alpha)

    def pooled_prior(self, stats: GaussianStats, weight: Array, strength: float | None = None) -> GaussianPrior:
        n = max(float(weight.sum()), 1e-300)
        mean = stats.sum.sum(axis=0) / n
        total_var = np.maximum(stats.square.sum(axis=0) / n - mean**2, 0.0)
        floor = _VARIANCE_FLOOR * float(total_var.max()) or 1.0
        within = np.maximum(_scatter(stats, weight).sum(axis=0) / n, floor)
        if strength is None:
            return GaussianPrior(*_best_strengths(stats, weight, mean, within), mean, within, floor)
        return GaussianPrior(strength, strength, mean, within, floor)

    def strength(self, prior: GaussianPrior) -> tuple[float, float]:
        return prior.mean_rows, prior.var_rows

    def estimate(self, stats: GaussianStats, weight: Array, prior: GaussianPrior) -> GaussianParams:
        c = weight[:, None]
        # the smallest positive number keeps a class without rows (and without prior) finite
        mean = (stats.sum + prior.mean_rows * prior.mean) / np.maximum(c + prior.mean_rows, 1e-300)
        scatter = np.maximum(stats.square - 2 * mean * stats.sum + c * mean**2, 0.0)
        scatter = scatter + prior.mean_rows * (mean - prior.mean) ** 2 + prior.var_rows * prior.var
        # the objective has one maximum in var, so clipping to the floor is the exact constrained maximum
        return GaussianParams(mean, np.maximum(scatter / np.maximum(c + prior.var_rows, 1e-300), prior.floor))

    def log_prior(self, params: GaussianParams, prior: GaussianPrior) -> Array:
        misfit = prior.mean_rows * (params.mean - prior.mean) ** 2 + prior.var_rows * prior.var
        return np.asarray(-0.5 * (misfit / params.var + prior.var_rows * np.log(params.var)).sum(axis=1))

    def scorer(self, params: GaussianParams, dtype: np.dtype[Any]) -> Callable[[Any], Array]:
        precision = 1.0 / params.var
        offset = -0.5 * (np.log(2 * np.pi * params.var) + params.mean**2 * precision).sum(axis=1)
        return partial(
            _score,
            centre=self.centre,
            linear=np.ascontiguousarray((params.mean * precision).T, dtype=dtype),
            quadratic=np.ascontiguousarray((-0.5 * precision).T, dtype=dtype),
            offset=offset.astype(dtype),
        )

    def terms(self, params: GaussianParams, X: Any, component: Array, other: Array) -> Any:
        z = X.toarray() if sparse.issparse(X) else X - self.centre

        def log_density(k: Array) -> Array:
            return np.asarray(-0.5 * (np.log(params.var[k]) + (z - params.mean[k]) ** 2 / params.var[k]))

        return sparse.csr_array(log_density(component) - log_density(other))

    def sample(
        self, params: GaussianParams, stats: GaussianStats, weight: Array, component: Array, rng: np.random.Generator
    ) -> Array:
        noise = rng.standard_normal((len(component), params.mean.shape[1]))
        return np.asarray(self.centre + params.mean[component] + noise * np.sqrt(params.var[component]))


def _moments(X: Any, centre: Array) -> tuple[Any, Any]:
    if sparse.issparse(X):
        return X, squared(X)
    # centred in double precision: otherwise a float32 column with a large mean would lose its variance
    z = (X - centre).astype(X.dtype, copy=False)
    return z, squared(z)


def _score(X: Any, centre: Array, linear: Array, quadratic: Array, offset: Array) -> Array:
    z, square = _moments(X, centre)
    scores = z @ linear
    scores += square @ quadratic
    scores += offset
    return np.asarray(scores)


def _scatter(stats: GaussianStats, weight: Array) -> Array:
    """(C, d) sums of squares about each component's own mean."""
    return np.maximum(stats.square - stats.sum**2 / np.maximum(weight, 1e-300)[:, None], 0.0)


def _best_strengths(stats: GaussianStats, weight: Array, mean: Array, var: Array) -> tuple[float, float]:
    """Strengths of means and variances by marginal likelihood, in closed form for the normal / inverse-gamma prior."""
    c = weight[:, None]
    scatter = _scatter(stats, weight)
    shift = (stats.sum / np.maximum(c, 1e-300) - mean) ** 2

    def cost(log_strength: Array) -> tuple[float, Array]:
        """Minus the log marginal likelihood, and its gradient by the logarithms."""
        kappa, nu = np.exp(log_strength)
        a, a_n = nu / 2, (nu + c) / 2
        b_n = a * var + 0.5 * scatter + 0.5 * kappa * c / (kappa + c) * shift
        value = gammaln(a_n) - gammaln(a) + a * np.log(a * var) - a_n * np.log(b_n) + 0.5 * np.log(kappa / (kappa + c))
        by_kappa = 1 / kappa - 1 / (kappa + c) - a_n / b_n * shift * (c / (kappa + c)) ** 2
        by_nu = digamma(a_n) - digamma(a) + np.log(a * var) + 1 - np.log(b_n) - a_n / b_n * var
        return -float(value.sum()), -0.5 * np.array([kappa * by_kappa.sum(), nu * by_nu.sum()])

    from scipy.optimize import minimize  # takes a quarter of a second to import

    bounds = [tuple(np.log(STRENGTH_BOUNDS))] * 2
    best = minimize(cost, np.zeros(2), jac=True, method="L-BFGS-B", bounds=bounds, options={"ftol": 0.0, "gtol": 1e-8})
    kappa, nu = np.exp(_root(lambda log_strength: cost(log_strength)[1], best.x, bounds))
    return float(kappa), float(nu)


def _root(gradient: Callable[[Array], Array], near: Array, bounds: list[Any]) -> Array:
    """Where the gradient is zero: exact to the last digits, while a search for the maximum stops anywhere on a flat top
    (the same data in other chunks must give the same strengths). Values at their bounds stay there."""
    free = np.array([low < value < high for value, (low, high) in zip(near, bounds, strict=True)])
    if not free.any():
        return near

    def with_free_values(values: Array) -> Array:
        full = near.copy()
        full[free] = values
        return full

    from scipy.optimize import root

    solution = root(lambda values: gradient(with_free_values(values))[free], near[free], tol=1e-13)
    # a root elsewhere is another maximum, or not a maximum
    return with_free_values(solution.x) if np.abs(solution.x - near[free]).max() < _MAX_ROOT_DISTANCE else near
