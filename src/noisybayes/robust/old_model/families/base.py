"""The interface of a feature family. A new family is one file with one class, and one line in `FAMILIES`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from ....dataset.tree import Array

#: Strengths are searched between a thousandth of a row and a million rows; beyond that nothing changes.
STRENGTH_BOUNDS = (1e-3, 1e6)


class Family:
    """P(x | component), for C components at once (true classes, times restarts if several are fitted together).

    Statistics, parameters and priors are values: arrays or tuples of arrays. In statistics and parameters the
    component is the first axis of every array; statistics add up over rows. Methods change nothing in place.
    """

    def prepare(self, X: Any) -> Any:
        """Check X (finite, dense or CSR) and convert it to the form that the other methods use; copy only if needed."""
        return X

    def anchor(self, X: Any) -> Family:
        """This family with the constants that must be fixed before the first sum, taken from some prepared rows."""
        return self

    def statistics(self, X: Any, resp: Array) -> Any:
        """Sums over rows weighted by resp (n, C)."""
        raise NotImplementedError

    def fixed_prior(self, alpha: float, stats: Any, weight: Array) -> Any:
        """The prior for a given alpha >= 0; alpha = 0 is maximum likelihood."""
        raise NotImplementedError

    def pooled_prior(self, stats: Any, weight: Array, strength: float | None = None) -> Any:
        """The prior around each feature's pooled mean, worth `strength` rows; None: by marginal likelihood."""
        raise NotImplementedError

    def strength(self, prior: Any) -> Any:
        """The weight of a pooled prior in rows: a number, or a tuple of numbers."""
        raise NotImplementedError

    def estimate(self, stats: Any, weight: Array, prior: Any) -> Any:
        """The parameters that maximise expected log-likelihood + log-prior; weight (C,) is the sum of resp."""
        raise NotImplementedError

    def random_params(self, labels: Any, n_components: int, low: float, high: float, rng: np.random.Generator) -> Any:
        """Random parameters, as the paper starts: probabilities uniform between `low` and `high`.

        labels : statistics of any components, for the number of columns
        """
        raise ValueError("the paper's random start is for binary features only; use start='labels' or start='random'")

    def log_prior(self, params: Any, prior: Any) -> Array:
        """(C,) log-density of the parameters, up to a constant that does not depend on them."""
        raise NotImplementedError

    def scorer(self, params: Any, dtype: np.dtype[Any]) -> Callable[[Any], Array]:
        """A picklable function from X to a new array (n, C) of log P(x | component), up to a constant per row."""
        raise NotImplementedError

    def terms(self, params: Any, X: Any, component: Array, other: Array) -> Any:
        """(n, d) CSR: what each column of row i adds to log P(x_i | component[i]) - log P(x_i | other[i]).

        Columns may be left out if they would hide the rest (words that are absent); a family that leaves out all of
        them, as here, explains nothing but works.
        """
        return sparse.csr_array(X.shape)

    def sample(self, params: Any, stats: Any, weight: Array, component: Array, rng: np.random.Generator) -> Any:
        """One row per entry of `component`."""
        raise NotImplementedError


def linear_score(X: Any, weights: Array, offset: Array) -> Array:
    """X @ weights + offset: the log-likelihood of every family that is linear in its sufficient statistics."""
    scores = X @ weights
    scores += offset
    return np.asarray(scores)


def linear_terms(X: Any, weights: Array, component: Array, other: Array) -> Any:
    """x_ij * (weights[component_i, j] - weights[other_i, j]), for the nonzero entries of X."""
    terms = sparse.csr_array(X, dtype=np.float64, copy=True)
    row = np.repeat(np.arange(terms.shape[0]), np.diff(terms.indptr))
    terms.data *= weights[component[row], terms.indices] - weights[other[row], terms.indices]
    return terms


def best_strength(slope: Callable[[float], float]) -> float:
    """The strength that maximises the marginal likelihood; `slope(s)` is the derivative of its logarithm by s.

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
