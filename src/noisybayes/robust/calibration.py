"""Scores to probabilities of the true label: how reliable the scores are, and how labels are corrupted.

    P(true = k | x) = softmax(sum_b temperature[b] * score[b](x) + offset)[k]
    P(observed l | x) = sum_k mislabel[l, k] P(true = k | x)

There may be several scores b, one for each block of columns, so that a long text does not overwhelm three numbers.
Both parts are fitted to the observed labels. The scores must be out of fold: only then does the likelihood of the
labels show how good they are.

Every array carries R replicates, fitted together: score models to choose from, or fits that leave out one fold each.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..dataset import Rows
from ..dataset.csr import rows_by_label, sums_by_label
from ..dataset.short_rows import row_max, row_sums
from ..dataset.tree import Array
from .constants import DEFAULT
from .old_model.mislabel import Structure, constant_rate


class Labels(NamedTuple):
    """The known labels of some rows."""

    observed: Array  # (n,) codes; K where missing
    verified: Array | None  # (n,) codes; -1 where unknown
    weight: Array  # (n, R) or (n, 1)

    @classmethod
    def of(cls, rows: Rows, left_out: Array | None = None) -> Labels:
        """left_out : (R,) the fold that each replicate leaves out; -1: none"""
        weight = np.ones((rows.n_rows, 1)) if rows.weight is None else np.asarray(rows.weight)[:, None]
        if left_out is not None and (left_out >= 0).any():
            weight = weight * (rows.fold[:, None] != left_out)
        return cls(rows.observed, rows.verified, weight)

    def take(self, index: Any) -> Labels:
        """The labels of some rows: positions or a slice."""
        return Labels(self.observed[index], None if self.verified is None else self.verified[index], self.weight[index])


class Calibration(NamedTuple):
    temperature: Array  # (R, B), one for each kind of score
    offset: Array  # (R, K) added to the base
    mislabel: Array  # (R, K, K): [observed, true]
    base: Array  # (R, K) the base of the offsets: log class shares, or zeros

    @property
    def of_combined(self) -> Calibration:
        """This calibration for scores that are already combined by the temperatures."""
        return self._replace(temperature=np.ones((len(self.temperature), 1)))

    def take(self, replicates: Any) -> Calibration:
        return Calibration(*(part[replicates] for part in self))

    def log_joint(self, scores: Array) -> Array:
        """(n, R, K), up to a constant per row, of scores (B, n, R, K)."""
        joint = scores[0] * self.temperature[:, :1].astype(scores.dtype)
        for b, block_scores in enumerate(scores[1:], 1):
            joint += block_scores * self.temperature[:, b : b + 1]
        joint += (self.base + self.offset).astype(joint.dtype)
        return np.asarray(joint)


class Posterior(NamedTuple):
    prior: Array  # (n, R, K) P(true | x)
    true: Array  # (n, R, K) P(true | x, observed, verified)
    log_likelihood: Array  # (n, R) log P(observed, verified | x)


def label_table(mislabel: Array) -> Array:
    """(K + 1, R, K): P(observed | true), with a last row of ones for labels that are missing."""
    R, K, _ = mislabel.shape
    return np.concatenate([mislabel.transpose(1, 0, 2), np.ones((1, R, K))])


def posterior(calibration: Calibration, scores: Array, labels: Labels) -> Posterior:
    joint = calibration.log_joint(scores)
    shape, joint = joint.shape, joint.reshape(-1, joint.shape[-1])
    joint -= row_max(joint)[:, None]
    np.exp(joint, out=joint)
    joint /= row_sums(joint)[:, None]
    prior = joint.reshape(shape)
    true = np.take(label_table(calibration.mislabel).astype(prior.dtype, copy=False), labels.observed, axis=0)
    true *= prior
    true += 1e-300 if true.dtype == np.float64 else 1e-37  # avoids nan for a label that is impossible for every class
    if labels.verified is not None:
        _apply_verdicts(true, labels.observed, labels.verified)
    flat = true.reshape(-1, shape[-1])
    sums = row_sums(flat)
    flat /= sums[:, None]
    return Posterior(prior, true, np.log(sums).reshape(shape[:2]))


def _apply_verdicts(true: Array, observed: Array, verified: Array) -> None:
    """Multiply by P(verdict | true label, given label): a reviewer who changes a label has looked at it, one who keeps
    it may have overlooked a mistake. Modifies `true` (n, R, K)."""
    known = np.flatnonzero(verified >= 0)
    own_joint = true[known, :, verified[known]]
    p_kept = np.where(verified[known] == observed[known], DEFAULT.reviewer_miss_rate, 0.0)
    true[known] *= p_kept[:, None, None].astype(true.dtype)
    true[known, :, verified[known]] = own_joint


def centred(scores: Array) -> Array:
    """Only differences between classes matter; subtracting their mean keeps numbers small. Modifies `scores`."""
    scores -= (row_sums(scores) / scores.shape[-1])[..., None]
    return scores


def label_counts(true: Array, labels: Labels) -> Array:
    """(R, K, K): weight of the rows by observed label and soft true label (n, R, K)."""
    return all_label_counts(true, labels)[:, :-1]


def all_label_counts(true: Array, labels: Labels) -> Array:
    """(R, K + 1, K): the same, with a last row for those without a label."""
    weighted = true if _is_unit_weight(labels.weight) else true * labels.weight[:, :, None]
    return sums_by_label(weighted, rows_by_label(labels.observed, true.shape[2], true.dtype))


def _is_unit_weight(weight: Array) -> bool:
    return bool(weight.strides == (0, 0))


def matrix_of(counts: Array, structure: Structure, pseudo_rows: float = DEFAULT.pseudo_rows) -> Array:
    """The mislabeling matrices (R, K, K) from the weight of the rows by observed and true label."""
    rate = np.trace(counts, axis1=1, axis2=2) / np.maximum(counts.sum(axis=(1, 2)), 1e-300)
    matrix: Array = structure.estimate(counts + pseudo_rows * constant_rate(counts.shape[1], rate))
    return np.asarray(matrix)
