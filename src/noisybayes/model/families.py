"""Feature families: P(x | true class) of binary features, counts, numbers, and tables of several kinds.

Sums, parameters and priors are values: arrays, or tuples of them. In sums and parameters the class is the first axis of
every array; the sums of two sets of rows add up. Nothing is changed in place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import digamma, gammaln

Array = NDArray[Any]

#: Strengths are searched between a thousandth of a row and a million rows; beyond that nothing changes.
STRENGTH_BOUNDS = (1e-3, 1e6)
# Represents log 0. Its exponential is 0, and the other features of a row cannot add up to as much: it acts as minus
# infinity, but the impossible values of a row can still be counted.
_LOG_ZERO = -1e5
# If all rows of a class have a feature, the weight of the class and that of its ones still differ by rounding, because
# they are summed in different orders.
_ROUNDING = 1e-12
# Replaces zero: keeps every logarithm finite.
_TINY = 1e-10
# As in scikit-learn: no variance below this share of the largest one, so that a constant feature cannot decide alone.
_VARIANCE_FLOOR = 1e-9
# In logs: maximum distance between the end of the search and the root of the gradient.
_MAX_ROOT_DISTANCE = 0.01


class Family:
    """P(x | class). A new family is one class with these methods, and one line in `FAMILIES`."""

    def prepare(self, X: Any) -> Any:
        """Check X (dense or CSR) and convert it to the form that the other methods use; copy only if needed."""
        return X

    def anchor(self, X: Any) -> Family:
        """This family with the constants that must be fixed before the first sum, taken from prepared rows."""
        return self

    def sums(self, X: Any, resp: Array) -> Any:
        """Sums over the rows, weighted by resp (n, K)."""
        raise NotImplementedError

    def fixed_prior(self, alpha: float, sums: Any, weight: Array) -> Any:
        """The prior for a given alpha >= 0; alpha = 0 is maximum likelihood. weight : (K,) sums of resp"""
        raise NotImplementedError

    def pooled_prior(self, sums: Any, weight: Array, strength: float | None = None) -> Any:
        """The prior around each feature's pooled mean, worth `strength` rows; None: by marginal likelihood."""
        raise NotImplementedError

    def strength(self, prior: Any) -> Any:
        """The weight of a pooled prior in rows: a number, or a tuple of numbers."""
        raise NotImplementedError

    def estimate(self, sums: Any, weight: Array, prior: Any) -> Any:
        """The parameters that maximize expected log-likelihood + log-prior."""
        raise NotImplementedError

    def log_prior(self, params: Any, prior: Any) -> float:
        """Log-density of the parameters, up to a constant that does not depend on them."""
        raise NotImplementedError

    def log_likelihood(self, X: Any, params: Any) -> Array:
        """(n, K) log P(x | class), up to a constant per row; a new array."""
        raise NotImplementedError

    def random_params(self, n_classes: int, n_columns: int, low: float, high: float, rng: np.random.Generator) -> Any:
        """Random parameters, as the paper starts: probabilities uniform between `low` and `high`."""
        raise ValueError("the paper's random start is for binary features only; use start='labels'")

    def sample(self, params: Any, sums: Any, weight: Array, component: Array, rng: np.random.Generator) -> Array:
        """One row for each class code in `component`."""
        raise NotImplementedError


# --- binary features --------------------------------------------------------------------------------------------------


class BetaPrior(NamedTuple):
    """Pseudo-counts: the log-prior is ones * log p + zeros * log(1 - p)."""

    ones: Array  # () or (d,)
    zeros: Array


class BernoulliParams(NamedTuple):
    log_p: Array  # (K, d)
    log_q: Array  # (K, d) log(1 - p), stored separately because 1 - p loses all digits near p = 1


@dataclass(frozen=True)
class Bernoulli(Family):
    """P(x_j = 1 | k) = p[k, j], with a Beta prior on each p[k, j]. The sums are the weights of the ones (K, d).

    Without a prior (alpha = 0) a probability may be exactly zero: no number of other features outweighs a value that a
    class never has. If every class is impossible for a row, the one with the fewest such values wins.

    `binarize`: values above it count as 1; None requires zeros and ones.
    """

    binarize: float | None = 0.0

    def prepare(self, X: Any) -> Any:
        if self.binarize is not None and not isinstance(self.binarize, int | float | np.number):
            raise ValueError(f"binarize must be a number or None, got {self.binarize!r}")
        if is_binary(X.data if sparse.issparse(X) else X):
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

    def sums(self, X: Any, resp: Array) -> Array:
        return weighted_sums(X, resp)

    def fixed_prior(self, alpha: float, sums: Array, weight: Array) -> BetaPrior:
        return BetaPrior(np.asarray(float(alpha)), np.asarray(float(alpha)))

    def pooled_prior(self, sums: Array, weight: Array, strength: float | None = None) -> BetaPrior:
        # half a pseudo-row keeps constant columns away from 0 and 1
        mean = (sums.sum(axis=0) + 0.5) / (weight.sum() + 1.0)
        if strength is None:
            strength = self._best_strength(sums, weight, mean)
        return BetaPrior(strength * mean, strength * (1.0 - mean))

    @staticmethod
    def _best_strength(sums: Array, weight: Array, mean: Array) -> float:
        """Beta-binomial marginal likelihood of all classes and features, as a function of one common strength."""
        columns, c = some_columns(len(mean)), weight[:, None]
        m, ones = mean[columns], np.clip(sums[:, columns], 0.0, c)

        def slope(s: float) -> float:
            by_ones = m * (digamma(ones + s * m) - digamma(s * m))
            by_zeros = (1 - m) * (digamma(c - ones + s * (1 - m)) - digamma(s * (1 - m)))
            return float((by_ones + by_zeros - digamma(c + s) + digamma(s)).sum())

        return best_strength(slope)

    def strength(self, prior: BetaPrior) -> float:
        return float(np.mean(prior.ones + prior.zeros))

    def estimate(self, sums: Array, weight: Array, prior: BetaPrior) -> BernoulliParams:
        weight = weight[:, None]
        # sums of rounded numbers may exceed their bounds
        ones = np.clip(sums, 0.0, weight)
        zeros = weight - ones
        if not np.all(prior.zeros):
            zeros = np.where(zeros <= _ROUNDING * weight, 0.0, zeros)
        total = weight + prior.ones + prior.zeros
        return BernoulliParams(_log_share(ones + prior.ones, total), _log_share(zeros + prior.zeros, total))

    def log_prior(self, params: BernoulliParams, prior: BetaPrior) -> float:
        return float((params.log_p * prior.ones + params.log_q * prior.zeros).sum())

    def log_likelihood(self, X: Any, params: BernoulliParams) -> Array:
        never, always = (log <= _LOG_ZERO for log in params)
        if not (never.any() or always.any()):
            return linear(X, params.log_p - params.log_q, params.log_q.sum(axis=1))
        log_p, log_q = np.where(never, 0.0, params.log_p), np.where(always, 0.0, params.log_q)
        # impossible values are counted: integers are exact in any precision, sums of _LOG_ZERO are not
        impossible = linear(X, never.astype(np.float64) - always, always.sum(axis=1))
        return np.asarray(_LOG_ZERO * impossible + linear(X, log_p - log_q, log_q.sum(axis=1)))

    def random_params(
        self, n_classes: int, n_columns: int, low: float, high: float, rng: np.random.Generator
    ) -> BernoulliParams:
        p = rng.uniform(low, high, (n_classes, n_columns))
        return BernoulliParams(np.log(p), np.log1p(-p))

    def sample(
        self, params: BernoulliParams, sums: Array, weight: Array, component: Array, rng: np.random.Generator
    ) -> Array:
        p = np.exp(params.log_p)
        return (rng.random((len(component), p.shape[1])) < p[component]).astype(np.float64)


def _log_share(part: Array, total: Array) -> Array:
    """log(part / total); log(1/2) if a class has no rows."""
    with np.errstate(divide="ignore", invalid="ignore"):  # zeros are replaced
        log_share = np.maximum(np.log(part) - np.log(total), _LOG_ZERO)
    return np.asarray(np.where(total > 0, log_share, np.log(0.5)))


def is_binary(values: Array) -> bool:
    values = values.reshape(-1) if values.flags.c_contiguous else values
    step = max(1, (1 << 20) // max(1, int(np.prod(values.shape[1:]))))
    parts = (values[start : start + step] for start in range(0, len(values), step))
    return all(bool(((part == 0) | (part == 1)).all()) for part in parts)


# --- counts -----------------------------------------------------------------------------------------------------------


class MultinomialParams(NamedTuple):
    log_p: Array  # (K, d)


@dataclass(frozen=True)
class Multinomial(Family):
    """Counts, such as words in a text: log P(x | k) = sum_j x_j log p[k, j], with a Dirichlet prior on each p[k].

    The prior is its pseudo-counts () or (d,); the sums are those of the counts (K, d).
    """

    def prepare(self, X: Any) -> Any:
        values = X.data if sparse.issparse(X) else X
        if values.size and values.min() < 0:
            raise ValueError(
                "Negative values in data passed as X: MultinomialINB expects counts or weights of at least 0; "
                "use GaussianINB for values of both signs"
            )
        return X

    def sums(self, X: Any, resp: Array) -> Array:
        return weighted_sums(X, resp)

    def fixed_prior(self, alpha: float, sums: Array, weight: Array) -> Array:
        return np.asarray(max(alpha, _TINY))

    def pooled_prior(self, sums: Array, weight: Array, strength: float | None = None) -> Array:
        # one pseudo-count spread over all columns keeps columns that never occur away from 0
        total = sums.sum(axis=0) + 1.0 / sums.shape[1]
        mean = total / total.sum()
        return np.asarray(mean * (self._best_strength(sums, mean) if strength is None else strength))

    @staticmethod
    def _best_strength(sums: Array, mean: Array) -> float:
        """Dirichlet-multinomial marginal likelihood; columns beyond a sample are merged into one, which is exact."""
        columns = some_columns(sums.shape[1])
        rest = np.setdiff1d(np.arange(sums.shape[1]), columns)
        counts, m = np.maximum(sums[:, columns], 0.0), mean[columns]
        if len(rest):
            counts = np.column_stack([counts, np.maximum(sums[:, rest], 0.0).sum(axis=1)])
            m = np.append(m, mean[rest].sum())
        totals = counts.sum(axis=1)

        def slope(s: float) -> float:
            by_count = m * (digamma(counts + s * m) - digamma(s * m))
            return float(by_count.sum() - (digamma(totals + s) - digamma(s)).sum())

        return best_strength(slope)

    def strength(self, prior: Array) -> float:
        return float(prior.sum())

    def estimate(self, sums: Array, weight: Array, prior: Array) -> MultinomialParams:
        counts = np.maximum(sums, 0.0) + prior
        return MultinomialParams(np.log(counts) - np.log(counts.sum(axis=1, keepdims=True)))

    def log_prior(self, params: MultinomialParams, prior: Array) -> float:
        return float((params.log_p * prior).sum())

    def log_likelihood(self, X: Any, params: MultinomialParams) -> Array:
        return linear(X, params.log_p, np.zeros(len(params.log_p)))

    def sample(
        self, params: MultinomialParams, sums: Array, weight: Array, component: Array, rng: np.random.Generator
    ) -> Array:
        mean_length = sums.sum(axis=1) / np.maximum(weight, _TINY)
        p = np.exp(params.log_p)
        p /= p.sum(axis=1, keepdims=True)
        return np.stack([rng.multinomial(rng.poisson(mean_length[k]), p[k]) for k in component]).astype(np.float64)


# --- numbers ----------------------------------------------------------------------------------------------------------


class GaussianSums(NamedTuple):
    """Of the values that are not missing."""

    weight: Array  # (K, d)
    sum: Array  # (K, d) of x - center
    square: Array  # (K, d) of (x - center)^2


class GaussianParams(NamedTuple):
    mean: Array  # (K, d), minus the center
    var: Array  # (K, d)


class GaussianPrior(NamedTuple):
    """The mean counts for `mean_rows` rows at `mean`, the variance for `var_rows` rows of variance `var`."""

    mean_rows: float
    var_rows: float
    mean: Array  # (d,), minus the center
    var: Array  # (d,) pooled variance within classes
    floor: float


@dataclass(frozen=True)
class Gaussian(Family):
    """x_j | k ~ Normal(mean[k, j], var[k, j]), with a normal / inverse-gamma prior on each pair.

    Sums are taken about a fixed center near the data: about zero, a mean of 1e8 would swallow the variance. A missing
    value (nan) is integrated out: it is in no sum and no score.
    """

    # sparse rows are not centered: that would make them dense
    center: Array = field(default_factory=lambda: np.zeros(()))

    def anchor(self, X: Any) -> Gaussian:
        if sparse.issparse(X):
            return self
        seen = ~np.isnan(X)
        total = np.where(seen, X, 0.0).sum(axis=0, dtype=np.float64)
        return replace(self, center=total / np.maximum(seen.sum(axis=0), 1))

    def sums(self, X: Any, resp: Array) -> GaussianSums:
        z, square, seen = self._moments(X)
        total = np.broadcast_to(resp.sum(axis=0)[:, None], (resp.shape[1], X.shape[1]))
        weight = total if seen is None else weighted_sums(seen, resp)
        return GaussianSums(weight, weighted_sums(z, resp), weighted_sums(square, resp))

    def _moments(self, X: Any) -> tuple[Any, Any, Array | None]:
        """Centered values, their squares, and which are not missing if some are."""
        if sparse.issparse(X):
            return X, X.multiply(X).tocsr(), None
        # centered in double precision: otherwise a float32 column with a large mean would lose its variance
        z = (X - self.center).astype(X.dtype, copy=False)
        if not np.isnan(z.sum()):
            return z, z * z, None
        seen = ~np.isnan(z)
        z = np.where(seen, z, 0.0)
        return z, z * z, seen.astype(X.dtype)

    def fixed_prior(self, alpha: float, sums: GaussianSums, weight: Array) -> GaussianPrior:
        return self.pooled_prior(sums, weight, alpha)

    def pooled_prior(self, sums: GaussianSums, weight: Array, strength: float | None = None) -> GaussianPrior:
        n = np.maximum(sums.weight.sum(axis=0), 1e-300)
        mean = sums.sum.sum(axis=0) / n
        total_var = np.maximum(sums.square.sum(axis=0) / n - mean**2, 0.0)
        floor = _VARIANCE_FLOOR * float(total_var.max()) or 1.0
        # sums of squares about each class's own mean
        scatter = np.maximum(sums.square - sums.sum**2 / np.maximum(sums.weight, 1e-300), 0.0)
        within = np.maximum(scatter.sum(axis=0) / n, floor)
        if strength is None:
            return GaussianPrior(*_best_strengths(sums, scatter, mean, within), mean, within, floor)
        return GaussianPrior(strength, strength, mean, within, floor)

    def strength(self, prior: GaussianPrior) -> tuple[float, float]:
        return prior.mean_rows, prior.var_rows

    def estimate(self, sums: GaussianSums, weight: Array, prior: GaussianPrior) -> GaussianParams:
        c = sums.weight
        # the smallest positive number keeps a class without rows (and without prior) finite
        mean = (sums.sum + prior.mean_rows * prior.mean) / np.maximum(c + prior.mean_rows, 1e-300)
        scatter = np.maximum(sums.square - 2 * mean * sums.sum + c * mean**2, 0.0)
        scatter = scatter + prior.mean_rows * (mean - prior.mean) ** 2 + prior.var_rows * prior.var
        # the objective has one maximum in var, so clipping to the floor is the exact constrained maximum
        return GaussianParams(mean, np.maximum(scatter / np.maximum(c + prior.var_rows, 1e-300), prior.floor))

    def log_prior(self, params: GaussianParams, prior: GaussianPrior) -> float:
        misfit = prior.mean_rows * (params.mean - prior.mean) ** 2 + prior.var_rows * prior.var
        return float(-0.5 * (misfit / params.var + prior.var_rows * np.log(params.var)).sum())

    def log_likelihood(self, X: Any, params: GaussianParams) -> Array:
        z, square, seen = self._moments(X)
        precision = 1.0 / params.var
        constant = -0.5 * (np.log(2 * np.pi * params.var) + params.mean**2 * precision)
        scores = linear(z, params.mean * precision, constant.sum(axis=1) if seen is None else np.zeros(len(constant)))
        scores += linear(square, -0.5 * precision, np.zeros(len(constant)))
        return scores if seen is None else np.asarray(scores + seen @ constant.T)

    def sample(
        self, params: GaussianParams, sums: GaussianSums, weight: Array, component: Array, rng: np.random.Generator
    ) -> Array:
        noise = rng.standard_normal((len(component), params.mean.shape[1]))
        return np.asarray(self.center + params.mean[component] + noise * np.sqrt(params.var[component]))


def _best_strengths(sums: GaussianSums, scatter: Array, mean: Array, var: Array) -> tuple[float, float]:
    """Strengths of means and variances by marginal likelihood, in closed form for the normal / inverse-gamma prior."""
    c = sums.weight
    shift = (sums.sum / np.maximum(c, 1e-300) - mean) ** 2

    def cost(log_strength: Array) -> tuple[float, Array]:
        """Minus the log marginal likelihood, and its gradient by the logarithms."""
        kappa, nu = np.exp(log_strength)
        a, a_n = nu / 2, (nu + c) / 2
        b_n = a * var + 0.5 * scatter + 0.5 * kappa * c / (kappa + c) * shift
        value = gammaln(a_n) - gammaln(a) + a * np.log(a * var) - a_n * np.log(b_n) + 0.5 * np.log(kappa / (kappa + c))
        by_kappa = 1 / kappa - 1 / (kappa + c) - a_n / b_n * shift * (c / (kappa + c)) ** 2
        by_nu = digamma(a_n) - digamma(a) + np.log(a * var) + 1 - np.log(b_n) - a_n / b_n * var
        return -float(value.sum()), -0.5 * np.array([kappa * by_kappa.sum(), nu * by_nu.sum()])

    from scipy.optimize import minimize, root  # take a quarter of a second to import

    low, high = np.log(STRENGTH_BOUNDS)
    options = {"ftol": 0.0, "gtol": 1e-8}
    best = minimize(cost, np.zeros(2), jac=True, method="L-BFGS-B", bounds=[(low, high)] * 2, options=options).x
    free = (low < best) & (best < high)  # values at their bounds stay there

    def with_free_values(values: Array) -> Array:
        found: Array = best.copy()
        found[free] = values
        return found

    if free.any():
        # A search for the maximum stops anywhere on a flat top; the root of the gradient is exact to the last digits,
        # so that the same rows in another order give the same strengths. One far away is another maximum, or none.
        exact = root(lambda values: cost(with_free_values(values))[1][free], best[free], tol=1e-13).x
        if np.abs(exact - best[free]).max() < _MAX_ROOT_DISTANCE:
            best = with_free_values(exact)
    kappa, nu = np.exp(best)
    return float(kappa), float(nu)


# --- tables of several kinds ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mixed(Family):
    """Blocks of columns, each with its own family; given the class, they are independent. Everything is a tuple with
    one entry per block; `columns` are index arrays into X."""

    families: tuple[Family, ...]
    columns: tuple[Array, ...]

    def prepare(self, X: Any) -> tuple[Any, ...]:
        return tuple(family.prepare(X[:, columns]) for family, columns in zip(self.families, self.columns, strict=True))

    def anchor(self, X: tuple[Any, ...]) -> Mixed:
        return replace(self, families=self._each(lambda f, x: f.anchor(x), X))

    def _each(self, fn: Callable[..., Any], *parts: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(fn(*each) for each in zip(self.families, *parts, strict=True))

    def sums(self, X: tuple[Any, ...], resp: Array) -> tuple[Any, ...]:
        return self._each(lambda f, x: f.sums(x, resp), X)

    def fixed_prior(self, alpha: float, sums: tuple[Any, ...], weight: Array) -> tuple[Any, ...]:
        return self._each(lambda f, s: f.fixed_prior(alpha, s, weight), sums)

    def pooled_prior(self, sums: tuple[Any, ...], weight: Array, strength: float | None = None) -> tuple[Any, ...]:
        return self._each(lambda f, s: f.pooled_prior(s, weight, strength), sums)

    def strength(self, prior: tuple[Any, ...]) -> tuple[Any, ...]:
        return self._each(lambda f, p: f.strength(p), prior)

    def estimate(self, sums: tuple[Any, ...], weight: Array, prior: tuple[Any, ...]) -> tuple[Any, ...]:
        return self._each(lambda f, s, p: f.estimate(s, weight, p), sums, prior)

    def log_prior(self, params: tuple[Any, ...], prior: tuple[Any, ...]) -> float:
        return float(sum(self._each(lambda f, q, p: f.log_prior(q, p), params, prior)))

    def log_likelihood(self, X: tuple[Any, ...], params: tuple[Any, ...]) -> Array:
        return np.asarray(sum(self._each(lambda f, x, p: f.log_likelihood(x, p), X, params)))

    def sample(self, params: Any, sums: Any, weight: Array, component: Array, rng: np.random.Generator) -> Array:
        X = np.zeros((len(component), sum(map(len, self.columns))))
        for family, columns, p, s in zip(self.families, self.columns, params, sums, strict=True):
            X[:, columns] = family.sample(p, s, weight, component, rng)
        return X


#: The families by name, for blocks of MixedINB.
FAMILIES: dict[str, type[Family]] = {"bernoulli": Bernoulli, "gaussian": Gaussian, "multinomial": Multinomial}


# --- shared -----------------------------------------------------------------------------------------------------------


def weighted_sums(X: Any, resp: Array) -> Array:
    """(K, d) resp' X, in double precision."""
    return np.asarray((X.T @ resp.astype(X.dtype, copy=False)).T, dtype=np.float64)


def linear(X: Any, weights: Array, offset: Array) -> Array:
    """(n, K) X weights' + offset, in double precision; X is not converted."""
    columns = np.ascontiguousarray(weights.T, dtype=X.dtype if X.dtype == np.float32 else np.float64)
    return np.asarray(X @ columns, dtype=np.float64) + offset


def best_strength(slope: Callable[[float], float]) -> float:
    """The strength that maximizes the marginal likelihood; `slope(s)` is the derivative of its logarithm by s.

    A root of the slope is exact to the last digits, while a search for the maximum would stop anywhere on a flat top:
    the same data in a different order must give the same strength.
    """

    def by_log(log_s: float) -> float:
        s = float(np.exp(log_s))
        return slope(s) * s

    # the ends are evaluated as in the search: at the bounds a slope may be nothing but rounding
    low, high = np.log(STRENGTH_BOUNDS)
    if by_log(high) >= 0:
        return STRENGTH_BOUNDS[1]
    if by_log(low) <= 0:
        return STRENGTH_BOUNDS[0]
    from scipy.optimize import brentq  # takes a quarter of a second to import

    return float(np.exp(brentq(by_log, low, high)))


def some_columns(n_columns: int, max_columns: int = 2_000) -> Array:
    """Evenly spaced columns: a sample of the features is enough to estimate a single strength."""
    return np.unique(np.linspace(0, n_columns - 1, min(n_columns, max_columns)).astype(int))
