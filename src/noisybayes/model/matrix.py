"""The mislabeling matrix: its structures, how each is estimated, and when it is identifiable.

`mislabel[l, k] = P(observed l | true k)`: rows are observed classes, columns true ones, columns sum to 1.
`counts[l, k]` is the weight of rows observed as l of true class k.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

Array = NDArray[Any]

# The start lies well inside the identifiable region: labels are mostly right, but can be overridden.
START_DIAGONAL = 0.8
# Beyond this the second neighbor on a scale is practically impossible: exp(-40) is below the rounding of 1.
_MAX_DECAY = 40.0
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


class IdentifiabilityWarning(UserWarning):
    """A true class is given another label more often than its own."""


class Structure(Protocol):
    """A structure of the mislabeling matrix. `estimate` maximizes sum((counts + pseudo) * log(mislabel)) over it."""

    @property
    def exchangeable(self) -> bool:
        """Whether renaming the true classes leaves the objective unchanged, so that they may be matched afterwards."""
        ...

    def start(self, n_classes: int) -> Array: ...
    def estimate(self, counts: Array) -> Array: ...
    def log_prior(self, mislabel: Array) -> float: ...


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

    def log_prior(self, mislabel: Array) -> float:
        return float(xlogy(self.pseudo, mislabel).sum())


class Full(Estimated):
    """Every column free: K (K - 1) parameters, the paper's matrix."""

    @property
    def exchangeable(self) -> bool:
        return np.ndim(self.pseudo) == 0

    def estimate(self, counts: Array) -> Array:
        counts = counts + self.pseudo
        total = counts.sum(axis=0)
        # a class that lost all of its rows has no information about its labels
        return np.where(total > 0, counts / np.where(total > 0, total, 1.0), np.eye(len(counts)))


class Uniform(Estimated):
    """One rate: every label is right with the same probability, and wrong labels are equally likely."""

    def estimate(self, counts: Array) -> Array:
        counts = counts + self.pseudo
        return constant_rate(len(counts), np.trace(counts) / counts.sum())


class Symmetric(Estimated):
    """mislabel[l, k] = mislabel[k, l]: confusions are equally frequent in both directions."""

    def estimate(self, counts: Array) -> Array:
        return _symmetric_maximum(counts + self.pseudo)


@dataclass(frozen=True)
class Ordinal(Estimated):
    """Each class has its own rate of right labels, and its wrong labels decrease with the distance on the scale by one
    factor for all classes: mislabel[l, k] is proportional to exp(-decay |rank[l] - rank[k]|), decay >= 0.

    `ranks` (K,) are the positions of the classes on the scale; None: their order.
    """

    ranks: Any = None

    @classmethod
    def for_classes(cls, pseudo: Any, classes: Array) -> Self:
        return cls(pseudo, ranks_of(classes))

    def estimate(self, counts: Array) -> Array:
        counts = counts + self.pseudo
        ranks = np.arange(len(counts)) if self.ranks is None else np.asarray(self.ranks)
        own, total = np.diag(counts), counts.sum(axis=0)
        right = np.where(total > 0, own / np.where(total > 0, total, 1.0), 1.0)
        distance = np.abs(ranks[:, None] - ranks)
        spread = np.exp(-_decay(counts, distance, ranks) * np.maximum(distance - 1, 0)) * (distance > 0)
        return np.asarray(spread * ((1.0 - right) / np.maximum(spread.sum(axis=0), 1e-300)) + np.diag(right))


@dataclass(frozen=True)
class Fixed:
    """A known matrix."""

    matrix: Any
    exchangeable = False

    def start(self, n_classes: int) -> Array:
        return np.asarray(self.matrix)

    def estimate(self, counts: Array) -> Array:
        return np.asarray(self.matrix)

    def log_prior(self, mislabel: Array) -> float:
        return 0.0


#: The names for `mislabel=` and `--mislabel`; a new structure is one class and one line here.
STRUCTURES: dict[str, type[Any]] = {"full": Full, "symmetric": Symmetric, "uniform": Uniform, "ordinal": Ordinal}


def constant_rate(n_classes: int, right: float) -> Array:
    """(K, K): the diagonal is `right`, all other entries are equal."""
    if n_classes == 1:
        return np.ones((1, 1))
    return np.where(np.eye(n_classes, dtype=bool), right, (1.0 - right) / (n_classes - 1))


def random_matrix(n_classes: int, rng: np.random.Generator) -> Array:
    """(K, K), as the paper starts: the diagonal uniform above one half, the rest of a column in proportion to uniform
    random numbers."""
    if n_classes == 1:
        return np.ones((1, 1))
    matrix = rng.uniform(size=(n_classes, n_classes))
    np.fill_diagonal(matrix, 0.0)
    right = rng.uniform(0.5, 1.0, n_classes)
    return np.asarray(matrix / matrix.sum(axis=0) * (1.0 - right) + np.diag(right))


def matching(mislabel: Array) -> Array:
    """The order of true classes that puts the largest probabilities on the diagonal."""
    from scipy.optimize import linear_sum_assignment  # takes a quarter of a second to import

    return np.asarray(linear_sum_assignment(mislabel, maximize=True)[1])


def unidentified(mislabel: Array) -> Array:
    """The true classes whose own label is not the most probable: mislabel[k, k] <= max of the rest of column k."""
    others = mislabel.copy()
    np.fill_diagonal(others, -np.inf)
    return np.flatnonzero(np.diag(mislabel) <= others.max(axis=0))


def ranks_of(classes: Array) -> tuple[int, ...]:
    """(K,) positions on the scale: numbers by size, names by the single number in each, as in "4 stars"."""
    if np.asarray(classes).dtype.kind not in "iufb":
        numbers_by_name = [_NUMBER.findall(str(name)) for name in classes.tolist()]
        values = [float(numbers[0]) for numbers in numbers_by_name if len(numbers) == 1]
        if len(values) < len(numbers_by_name) or len(set(values)) < len(numbers_by_name):
            shown = ", ".join(repr(str(name)) for name in classes.tolist()[:5])
            raise ValueError(
                "the mislabeling structure 'ordinal' needs labels on a scale: numbers, or names with one number each, "
                f"such as '1 low', '2 high'; the labels are {shown}{', ...' if len(numbers_by_name) > 5 else ''}"
            )
        classes = np.array(values)
    return tuple(np.argsort(np.argsort(classes, kind="stable")).tolist())


def _decay(counts: Array, distance: Array, ranks: Array) -> float:
    """The maximum likelihood decay: the expected distance of wrong labels equals the observed one. It decreases as the
    decay grows, so there is only one root."""
    n_classes = len(counts)
    steps = np.arange(max(n_classes - 1, 0))  # beyond the nearest class
    wrong = counts.sum(axis=0) - np.diag(counts)
    observed_steps = float((counts * np.maximum(distance - 1, 0)).sum())

    def excess(decay: float) -> float:
        """Expected minus observed steps beyond the nearest class."""
        weight = np.exp(-decay * steps)
        sums, moments = (np.concatenate([[0.0], np.cumsum(part)]) for part in (weight, weight * steps))
        below, above = ranks, n_classes - 1 - ranks
        mean = (moments[below] + moments[above]) / np.maximum(sums[below] + sums[above], 1e-300)
        return float(wrong @ mean) - observed_steps

    from scipy.optimize import brentq

    if excess(0.0) <= 0.0:  # no preference for near classes, or no wrong label
        return 0.0
    return float(brentq(excess, 0.0, _MAX_DECAY, xtol=1e-14)) if excess(_MAX_DECAY) < 0.0 else _MAX_DECAY


def _symmetric_maximum(counts: Array) -> Array:
    """Maximize sum(counts * log(R)) over symmetric R with columns summing to 1.

    Let own[k] = counts[k, k], pair[l, k] = counts[l, k] + counts[k, l]. With multipliers m of the column sums the
    maximum has R[k, k] = own[k] / m[k] and R[l, k] = pair[l, k] / (m[l] + m[k]), and m minimizes the convex dual
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
