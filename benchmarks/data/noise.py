"""Label noise: wrong labels from right ones.

Most functions return a mislabeling matrix for `simulate.corrupt`: (K, K), [observed, true], every column sums to 1.
Mistakes that depend on the row have no matrix; `boundary_noise` returns the observed labels themselves.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from noisybayes.data.simulate import Array

#: Structured noise: this many confusions of a class account for this share of its wrong labels.
_FAVORITES = 3
_FAVORITE_SHARE = 0.9
#: Boundary noise: with two candidate rows for each mistake, no class loses more than half of its rows on average, even
#: if all of them lie near the boundary.
_CANDIDATES_PER_MISTAKE = 2


def uniform_noise(n_classes: int, rate: float) -> Array:
    """A wrong label is any other class with equal probability."""
    _check_arguments(n_classes, rate)
    matrix = np.full((n_classes, n_classes), rate / (n_classes - 1))
    np.fill_diagonal(matrix, 1.0 - rate)
    return _identified(matrix, rate)


def pair_noise(n_classes: int, rate: float) -> Array:
    """Class k is confused with k + 1 only, the last class with the first."""
    _check_arguments(n_classes, rate)
    return _identified((1.0 - rate) * np.eye(n_classes) + rate * np.roll(np.eye(n_classes), 1, axis=0), rate)


def ordinal_noise(n_classes: int, rate: float, decay: float) -> Array:
    """Classes on a scale: a wrong label `d` classes away is `exp(-decay)` times as frequent as one `d - 1` away."""
    _check_arguments(n_classes, rate)
    distance = np.abs(np.subtract.outer(np.arange(n_classes), np.arange(n_classes)))
    spread = np.where(distance > 0, np.exp(-decay * distance), 0.0)
    return _identified((1.0 - rate) * np.eye(n_classes) + rate * spread / spread.sum(axis=0), rate)


def structured_noise(n_classes: int, rate: float, rng: np.random.Generator) -> Array:
    """Each class is mostly confused with a few others; the noise rates of the classes differ, with mean `rate`."""
    _check_arguments(n_classes, rate)
    wrong = rng.uniform(0.8, 1.2, n_classes)
    wrong *= rate / wrong.mean()
    matrix = np.diag(1.0 - wrong)
    for k in range(n_classes):
        others = rng.permutation(np.delete(np.arange(n_classes), k))
        share = np.full(n_classes - 1, (1.0 - _FAVORITE_SHARE) / (n_classes - 1))
        share[:_FAVORITES] += _FAVORITE_SHARE * rng.dirichlet(np.ones(min(_FAVORITES, n_classes - 1)))
        matrix[others, k] = wrong[k] * share
    return _identified(matrix, rate)


def majority_noise(class_shares: ArrayLike, rate: float) -> Array:
    """Each class but the largest is confused with larger ones, in proportion to their shares, in `rate` of its rows.

    `rate` is not the share among all rows: the smaller classes together may have fewer rows than that.
    """
    shares = np.asarray(class_shares, dtype=np.float64)
    _check_arguments(len(shares), rate)
    matrix = np.eye(len(shares))
    for k, share in enumerate(shares):
        larger = np.where(shares > share, shares, 0.0)
        if larger.any():
            matrix[:, k] = rate * larger / larger.sum()
            matrix[k, k] = 1.0 - rate
    return _identified(matrix, rate)


def boundary_noise(true: Array, proba: Array, rate: float, rng: np.random.Generator) -> Array:
    """Observed labels (n,) with mistakes where a classifier is uncertain, towards its second choice.

    `proba` (n, K) is out-of-fold P(class | x) of a classifier trained on the true labels (n,), which are 0..K-1. The
    mistakes, in `rate` of all rows, at most one half, are drawn at random from twice as many candidates: the rows for
    which the probabilities of the true class and of the most probable other class differ least.
    """
    n, n_classes = proba.shape
    _check_arguments(n_classes, rate)
    n_wrong = round(rate * n)
    n_candidates = _CANDIDATES_PER_MISTAKE * n_wrong
    if n_candidates > n:
        raise ValueError(f"boundary noise needs a rate of at most {1 / _CANDIDATES_PER_MISTAKE}, got {rate}")
    rows = np.arange(n)
    others = proba.copy()
    others[rows, true] = -1.0
    runner_up = others.argmax(axis=1)
    margin = np.abs(proba[rows, true] - proba[rows, runner_up])
    candidates = np.argsort(margin, kind="stable")[:n_candidates]
    wrong = rng.choice(candidates, size=n_wrong, replace=False)
    observed = true.copy()
    observed[wrong] = runner_up[wrong]
    return observed


def _check_arguments(n_classes: int, rate: float) -> None:
    if n_classes < 2 or not 0 <= rate < 1:
        raise ValueError(f"noise needs at least 2 classes and a rate in [0, 1), got {n_classes} and {rate}")


def _identified(matrix: Array, rate: float) -> Array:
    others = matrix - np.diag(np.diag(matrix))
    lost = np.flatnonzero(np.diag(matrix) <= others.max(axis=0))
    if len(lost):
        raise ValueError(
            f"at the rate {rate}, class {lost[0]} would get another label at least as often as its own and could not "
            "be identified; choose a lower rate"
        )
    return matrix
