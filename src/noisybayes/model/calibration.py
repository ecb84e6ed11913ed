"""Scores to probabilities of the true label: how far scores are to be trusted, and how labels go wrong.

    P(true = k | x) = softmax(sum_b temperature[b] * score[b](x) + offset)[k]
    P(observed l | x) = sum_k mislabel[l, k] P(true = k | x)

There may be several scores b: one for each block of columns, so that a long text does not drown three numbers.
Both parts are fitted to the observed labels. The scores must come from rows other than the one they belong to: only
then does the likelihood of the labels tell how good they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy import sparse

from .mislabel import Structure, constant_rate
from .short_rows import row_max, row_sums
from .tree import Array, add_into

# K x K cells are more than a few thousand rows can tell: each column is drawn towards one common rate of mistakes,
# spread evenly, by as many rows. (The rate itself is estimated, so that right labels stay right.)
PSEUDO_ROWS = 10.0


class Labels(NamedTuple):
    """What is known of the labels of some rows."""

    observed: Array  # (n,) codes; K where missing
    verified: Array | None  # (n,) codes; -1 where unknown
    weight: Array  # (n,)

    def take(self, index: Any) -> Labels:
        """Those of some rows: positions, or a slice."""
        return Labels(self.observed[index], None if self.verified is None else self.verified[index], self.weight[index])


class Scores(Protocol):
    """Scores of many rows, piece by piece."""

    n_threads: int

    @property
    def n_rows(self) -> int: ...

    def take(self, rows: Array) -> Array:
        """(B, m, K) of some rows."""
        ...

    def map(self, fn: Callable[[Any, Array], Any]) -> Iterable[tuple[Any, Any]]:
        """fn(rows, their scores (B, m, K)) over all rows, piece by piece, each with the rows that it is of."""
        ...

    def weighed(self, temperature: Array) -> Scores:
        """The one score (1, n, K) that they add up to, for `Calibration.of_weighed`."""
        ...

    def kept_if_small(self) -> Scores:
        """What is used many times is kept if memory allows."""
        ...


def total(parts: Iterable[tuple[Any, Any]]) -> Any:
    """The sum over all pieces of a `map`."""
    return reduce(add_into, (value for _, value in parts))


class Calibration(NamedTuple):
    temperature: Array  # (B,), one for each kind of score
    offset: Array  # (K,) added to the base
    mislabel: Array  # (K, K): [observed, true]
    base: Array  # (K,) what offsets are counted from: log class shares, or zeros

    @property
    def of_weighed(self) -> Calibration:
        """The same for scores that are weighed by the temperatures already."""
        return self._replace(temperature=np.ones(1))

    def log_joint(self, scores: Array) -> Array:
        """(n, K), up to a constant per row, of scores (B, n, K)."""
        joint = self.temperature[0] * scores[0]
        for temperature, more in zip(self.temperature[1:], scores[1:], strict=True):
            joint += temperature * more
        joint += self.base + self.offset
        return np.asarray(joint)


class Posterior(NamedTuple):
    prior: Array  # (n, K) P(true | x)
    true: Array  # (n, K) P(true | x, observed, verified)
    log_likelihood: Array  # (n,) log P(observed, verified | x)


def label_table(mislabel: Array) -> Array:
    """(K + 1, K): P(observed | true), with a last row of ones for labels that are missing."""
    return np.vstack([mislabel, np.ones(len(mislabel))])


def posterior(calibration: Calibration, scores: Array, labels: Labels) -> Posterior:
    joint = calibration.log_joint(scores)
    joint -= row_max(joint)[:, None]
    np.exp(joint, out=joint)
    joint /= row_sums(joint)[:, None]
    # the least number keeps a label that no class allows from becoming nan
    true = joint * label_table(calibration.mislabel)[labels.observed] + 1e-300
    if labels.verified is not None:
        known = np.flatnonzero(labels.verified >= 0)
        kept = true[known, labels.verified[known]]
        true[known] = 0.0
        true[known, labels.verified[known]] = kept
    sums = row_sums(true)
    true /= sums[:, None]
    return Posterior(joint, true, np.log(sums))


def centred(scores: Array) -> Array:
    """Only the differences between classes matter; without their mean, numbers stay small. Changes `scores`."""
    scores -= row_sums(scores)[..., None] / scores.shape[-1]
    return scores


def label_counts(true: Array, labels: Labels) -> Array:
    """(K, K): weight of the rows by observed label and soft true label (n, K)."""
    K = true.shape[1]
    weight = np.ascontiguousarray(labels.weight)
    by_label = sparse.csc_array((weight, labels.observed, np.arange(len(true) + 1)), shape=(K + 1, len(true)))
    return np.asarray(by_label @ true)[:K]


def estimate_matrix(true: Array, labels: Labels, structure: Structure, pseudo_rows: float = PSEUDO_ROWS) -> Array:
    """The mislabeling matrix of soft true labels (n, K)."""
    return matrix_of(label_counts(true, labels), structure, pseudo_rows)


def matrix_of(counts: Array, structure: Structure, pseudo_rows: float = PSEUDO_ROWS) -> Array:
    """The same from the weight of the rows by observed and true label (K, K)."""
    rate = np.trace(counts) / max(counts.sum(), 1e-300)
    matrix: Array = structure.estimate((counts + pseudo_rows * constant_rate(len(counts), rate))[None])[0]
    return matrix
