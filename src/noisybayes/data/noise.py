"""Mislabeling matrices to corrupt clean labels with: (K, K), [observed, true], every column sums to 1."""

from __future__ import annotations

import numpy as np

from .simulate import Array

#: Structured noise: this many confusions of a class take this share of its wrong labels.
_FAVOURITES = 3
_FAVOURITE_SHARE = 0.9


def uniform_noise(n_classes: int, rate: float) -> Array:
    """A wrong label is any other class with equal chance."""
    _check_arguments(n_classes, rate)
    matrix = np.full((n_classes, n_classes), rate / (n_classes - 1))
    np.fill_diagonal(matrix, 1.0 - rate)
    return _identified(matrix, rate)


def pair_noise(n_classes: int, rate: float) -> Array:
    """Class k is mistaken for k + 1 only, the last one for the first."""
    _check_arguments(n_classes, rate)
    return _identified((1.0 - rate) * np.eye(n_classes) + rate * np.roll(np.eye(n_classes), 1, axis=0), rate)


def structured_noise(n_classes: int, rate: float, rng: np.random.Generator) -> Array:
    """Each class has a few favourite confusions; the classes' shares of wrong labels differ, their mean is `rate`."""
    _check_arguments(n_classes, rate)
    wrong = rng.uniform(0.8, 1.2, n_classes)
    wrong *= rate / wrong.mean()
    matrix = np.diag(1.0 - wrong)
    for k in range(n_classes):
        others = rng.permutation(np.delete(np.arange(n_classes), k))
        share = np.full(n_classes - 1, (1.0 - _FAVOURITE_SHARE) / (n_classes - 1))
        share[:_FAVOURITES] += _FAVOURITE_SHARE * rng.dirichlet(np.ones(min(_FAVOURITES, n_classes - 1)))
        matrix[others, k] = wrong[k] * share
    return _identified(matrix, rate)


def _check_arguments(n_classes: int, rate: float) -> None:
    if n_classes < 2 or not 0 <= rate < 1:
        raise ValueError(f"noise needs at least 2 classes and a rate in [0, 1), got {n_classes} and {rate}")


def _identified(matrix: Array, rate: float) -> Array:
    others = matrix - np.diag(np.diag(matrix))
    lost = np.flatnonzero(np.diag(matrix) <= others.max(axis=0))
    if len(lost):
        raise ValueError(
            f"at the rate {rate}, class {lost[0]} would get another label at least as often as its own, and nobody "
            "could tell which is which; choose a lower rate"
        )
    return matrix
