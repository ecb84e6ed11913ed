"""Labels on a scale, such as one to five stars: the farther a wrong label is from the true one, the rarer it is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ...dataset.tree import Array
from .mislabel import Estimated

# Beyond this the second neighbour is practically impossible: exp(-40) is below the rounding of 1.
_MAX_DECAY = 40.0
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


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
        n_classes = counts.shape[-1]
        ranks = np.arange(n_classes) if self.ranks is None else np.asarray(self.ranks)
        own, total = np.einsum("...kk->...k", counts), counts.sum(axis=-2)
        # a class that lost all of its rows has no information about its labels
        right = np.where(total > 0, own / np.where(total > 0, total, 1.0), 1.0)
        distance = np.abs(ranks[:, None] - ranks)
        matrix = np.empty_like(counts, dtype=np.float64)
        for restart, restart_counts in enumerate(counts):
            spread = np.exp(-_decay(restart_counts, distance, ranks) * np.maximum(distance - 1, 0)) * (distance > 0)
            wrong = (1.0 - right[restart]) / np.maximum(spread.sum(axis=0), 1e-300)
            matrix[restart] = spread * wrong + np.diag(right[restart])
        return matrix


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

    from scipy.optimize import brentq  # takes a quarter of a second to import

    if excess(0.0) <= 0.0:  # no preference for near classes, or no wrong label
        return 0.0
    return float(brentq(excess, 0.0, _MAX_DECAY, xtol=1e-14)) if excess(_MAX_DECAY) < 0.0 else _MAX_DECAY


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
