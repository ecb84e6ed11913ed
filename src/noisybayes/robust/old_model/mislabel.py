"""The mislabeling matrix: its structures, how each is estimated, and when it is identifiable.

`mislabel[..., l, k] = P(observed l | true k)`: rows are observed classes, columns true ones, columns sum to 1.
All functions carry a leading axis of restarts. `counts[..., l, k]` is the weight of rows observed as l of true class k.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from scipy.special import xlogy

from ...dataset.tree import Array
from ...model.matrix import IdentifiabilityWarning as IdentifiabilityWarning

# The start lies well inside the identifiable region: labels are mostly right, but can be overridden.
START_DIAGONAL = 0.8


class DriftWarning(UserWarning):
    """The latent classes may no longer be those of the labels."""


class Structure(Protocol):
    """A structure of the mislabeling matrix. `estimate` maximises sum((counts + pseudo) * log(mislabel)) over it."""

    @property
    def exchangeable(self) -> bool:
        """Whether renaming the true classes leaves the objective unchanged, so that they may be matched afterwards."""
        ...

    def start(self, n_classes: int) -> Array: ...
    def estimate(self, counts: Array) -> Array: ...
    def log_prior(self, mislabel: Array) -> Array: ...


@dataclass(frozen=True)
class Estimated:
    """A matrix learned from data. `pseudo` are the pseudo-counts of a Dirichlet prior: a number or (K, K)."""

    pseudo: Any = 0.0

    @classmethod
    def for_classes(cls, pseudo: Any, classes: Array) -> Self:
        """The structure for classes with these names, in the order of their codes."""
        return cls(pseudo)

    @property
    def exchangeable(self) -> bool:
        return False

    def start(self, n_classes: int) -> Array:
        return constant_rate(n_classes, START_DIAGONAL)

    def log_prior(self, mislabel: Array) -> Array:
        return np.asarray(xlogy(self.pseudo, mislabel).sum(axis=(-2, -1)))


class Full(Estimated):
    """Every column free: K (K - 1) parameters, the paper's matrix."""

    @property
    def exchangeable(self) -> bool:
        return np.ndim(self.pseudo) == 0

    def estimate(self, counts: Array) -> Array:
        counts = counts + self.pseudo
        total = counts.sum(axis=-2, keepdims=True)
        # a class that lost all of its rows has no information about its labels
        return np.where(total > 0, counts / np.where(total > 0, total, 1.0), np.eye(counts.shape[-1]))


class Uniform(Estimated):
    """One rate: every label is right with the same probability, and wrong labels are equally likely."""

    def estimate(self, counts: Array) -> Array:
        counts = counts + self.pseudo
        n_classes = counts.shape[-1]
        right = np.trace(counts, axis1=-2, axis2=-1) / counts.sum(axis=(-2, -1))
        return np.stack([constant_rate(n_classes, rate) for rate in np.atleast_1d(right)])


class Symmetric(Estimated):
    """mislabel[l, k] = mislabel[k, l]: confusions are equally frequent in both directions."""

    def estimate(self, counts: Array) -> Array:
        counts = counts + self.pseudo
        return np.stack([_symmetric_maximum(matrix) for matrix in counts])


@dataclass(frozen=True)
class Fixed:
    """A known matrix."""

    matrix: Any
    exchangeable = False

    def start(self, n_classes: int) -> Array:
        return np.asarray(self.matrix)

    def estimate(self, counts: Array) -> Array:
        return np.broadcast_to(self.matrix, counts.shape)

    def log_prior(self, mislabel: Array) -> Array:
        return np.zeros(mislabel.shape[:-2])


def constant_rate(n_classes: int, right: float | Array) -> Array:
    """(..., K, K): the matrix whose diagonal is `right` (...) and whose other entries are equal."""
    right = np.asarray(right, dtype=np.float64)[..., None, None]
    if n_classes == 1:
        return np.ones_like(right)
    wrong = (1.0 - right) / (n_classes - 1)
    return np.asarray(np.where(np.eye(n_classes, dtype=bool), right, wrong))


def _symmetric_maximum(counts: Array) -> Array:
    """Maximise sum(counts * log(R)) over symmetric R with columns summing to 1.

    Let own[k] = counts[k, k], pair[l, k] = counts[l, k] + counts[k, l]. With multipliers m of the column sums the
    maximum has R[k, k] = own[k] / m[k] and R[l, k] = pair[l, k] / (m[l] + m[k]), and m minimises the convex dual
    sum(m) - sum_k own[k] log m[k] - sum_{l<k} pair[l, k] log(m[l] + m[k]).
    """
    total = counts.sum()
    if len(counts) == 1 or total <= 0:
        return np.eye(len(counts))
    counts = counts / total
    # a tiny diagonal keeps the multipliers of empty classes positive
    own = np.diag(counts) + 1e-12
    pair = counts + counts.T
    np.fill_diagonal(pair, 0.0)
    if len(counts) == 2:  # one free parameter
        return constant_rate(2, own.sum() / (own.sum() + pair[0, 1]))

    def dual(m: Array) -> float:
        return float(m.sum() - (own * np.log(m)).sum() - 0.5 * xlogy(pair, m[:, None] + m).sum())

    m = own + 0.5 * pair.sum(axis=0)
    value = dual(m)
    for _ in range(100):
        sums = m[:, None] + m
        gradient = 1.0 - own / m - (pair / sums).sum(axis=0)
        if np.abs(gradient).max() < 1e-13:
            break
        curvature = pair / sums**2
        newton = np.linalg.solve(curvature + np.diag(own / m**2 + curvature.sum(axis=0)), gradient)
        if gradient @ newton < 1e-14 and (newton < 0.5 * m).all():  # too close for the dual to show which is lower
            m = m - newton
            break
        step, trial, trial_value = 1.0, m, value
        while step > 1e-10:
            trial = m - step * newton
            if trial.min() > 0 and (trial_value := dual(trial)) <= value:
                break
            step *= 0.5
        else:
            break
        m, value = trial, trial_value
    matrix = pair / (m[:, None] + m)
    np.fill_diagonal(matrix, np.maximum(1.0 - matrix.sum(axis=0), 0.0))
    return np.asarray(matrix / matrix.sum(axis=0))


def matching(mislabel: Array) -> Array:
    """The order of true classes that puts the largest probabilities on the diagonal of a (K, K) matrix."""
    from scipy.optimize import linear_sum_assignment  # takes a quarter of a second to import

    _, order = linear_sum_assignment(mislabel, maximize=True)
    return np.asarray(order)


def unidentified(mislabel: Array) -> Array:
    """The true classes whose own label is not the most probable: mislabel[k, k] <= max of the rest of column k."""
    others = mislabel.copy()
    np.fill_diagonal(others, -np.inf)
    return np.flatnonzero(np.diag(mislabel) <= others.max(axis=0))
