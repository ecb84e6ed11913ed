"""The paper's simulation: binary features, a random mislabeling matrix, observed and true labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class Simulation(NamedTuple):
    X: Array  # (n, d) zeros and ones
    y: Array  # (n,) observed labels, some of them wrong
    true: Array  # (n,) true labels
    class_prior: Array  # (K,)
    mislabel_matrix: Array  # (K, K): [observed, true]
    feature_prob: Array  # (K, d)


def simulate(
    n: int = 1_000,
    *,
    n_features: int = 500,
    n_classes: int = 5,
    diagonal: tuple[float, float] = (0.55, 0.65),
    balanced: bool = True,
    off_diagonal: str = "stick-breaking",
    random_state: int | np.random.Generator | None = None,
) -> Simulation:
    """Draw a data set as in the simulation study of the paper.

    The probabilities of the features are Uniform(0, 0.1) + Normal(0.65, 0.06).

    Parameters
    ----------
    n : int
        Rows.
    n_features : int
        Binary features; 500 in the paper.
    n_classes : int
        Classes; 5 in the paper.
    diagonal : tuple of two floats
        Interval from which P(observed k | true k) is drawn for each class; (1, 1) gives right labels only.
    balanced : bool
        Equal class shares; otherwise the first class is three times as large as each other class.
    off_diagonal : str
        How the wrong labels of a class are distributed over the other classes, which the paper leaves open.
        "stick-breaking": in random order, each gets a uniform part of what is left; "dirichlet": all divisions are
        equally likely; "uniform": in proportion to uniform random numbers.
    random_state : int, numpy.random.Generator or None
        Random seed or generator.

    Returns
    -------
    Simulation
        Named tuple of X (n, n_features), y (n,), true (n,), class_prior, mislabel_matrix and feature_prob.
    """
    low, high = diagonal
    if n < 1 or n_features < 1 or n_classes < 1:
        raise ValueError(f"n, n_features and n_classes must be at least 1, got {n}, {n_features}, {n_classes}")
    if not 0 <= low <= high <= 1:
        raise ValueError(f"diagonal must be an interval (low, high) within [0, 1], got {diagonal}")
    if off_diagonal not in OFF_DIAGONAL:
        raise ValueError(f"off_diagonal must be one of {', '.join(map(repr, OFF_DIAGONAL))}, got {off_diagonal!r}")
    rng = np.random.default_rng(random_state)
    share = np.ones(n_classes)
    share[0] = 1.0 if balanced else 3.0
    class_prior = share / share.sum()
    mislabel = random_mislabel_matrix(n_classes, diagonal, rng, off_diagonal)
    prob = rng.uniform(0.0, 0.1, (n_classes, n_features)) + rng.normal(0.65, 0.06, (n_classes, n_features))
    prob = np.clip(prob, 0.0, 1.0)
    true = rng.choice(n_classes, size=n, p=class_prior)
    X = (rng.random((n, n_features)) < prob[true]).astype(np.float64)
    return Simulation(X, corrupt(true, mislabel, rng), true, class_prior, mislabel, prob)


def random_mislabel_matrix(
    n_classes: int, diagonal: tuple[float, float], rng: np.random.Generator, off_diagonal: str = "stick-breaking"
) -> Array:
    """(K, K) with columns that sum to 1: the diagonal uniform in its interval, the rest distributed by a rule."""
    matrix = np.diag(rng.uniform(*diagonal, size=n_classes)) if n_classes > 1 else np.ones((1, 1))
    for k in range(n_classes):
        others = rng.permutation(np.delete(np.arange(n_classes), k))
        if len(others):
            matrix[others, k] = (1.0 - matrix[k, k]) * OFF_DIAGONAL[off_diagonal](len(others), rng)
    return matrix


def _stick_breaking(n: int, rng: np.random.Generator) -> Array:
    shares, left = np.empty(n), 1.0
    for i in range(n - 1):
        shares[i] = rng.uniform(0.0, left)
        left -= shares[i]
    shares[-1] = left
    return shares


def _dirichlet(n: int, rng: np.random.Generator) -> Array:
    return np.asarray(rng.dirichlet(np.ones(n)))


def _normalised_uniforms(n: int, rng: np.random.Generator) -> Array:
    shares = rng.uniform(size=n)
    return np.asarray(shares / shares.sum())


#: Name -> function of (number of other classes, generator) to shares that sum to 1.
OFF_DIAGONAL: dict[str, Callable[[int, np.random.Generator], Array]] = {
    "stick-breaking": _stick_breaking,
    "dirichlet": _dirichlet,
    "uniform": _normalised_uniforms,
}


def corrupt(true: Array, mislabel: Array, rng: np.random.Generator) -> Array:
    """Observed labels (codes) for true ones, drawn from the columns of the mislabeling matrix."""
    return np.asarray(rng.multinomial(1, mislabel.T[true]).argmax(axis=1))
