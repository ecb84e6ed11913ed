"""Scores to probabilities of the true label: how far scores are to be trusted, and how labels go wrong.

    P(true = k | x) = softmax(sum_b temperature[b] * score[b](x) + offset)[k]
    P(observed l | x) = sum_k mislabel[l, k] P(true = k | x)

There may be several scores b: one for each block of columns, so that a long text does not drown three numbers.
Both parts are fitted to the observed labels. The scores must come from rows other than the one they belong to: only
then does the likelihood of the labels tell how good they are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from .mislabel import Structure, constant_rate
from .tree import Array

# Labels are mostly right: the matrix starts there.
_START_DIAGONAL = 0.9
# K x K cells are more than a few thousand rows can tell: each column is drawn towards one common rate of mistakes,
# spread evenly, by as many rows. (The rate itself is estimated, so that right labels stay right.)
_PSEUDO_ROWS = 10.0
# Newton steps on this many rows settle K + 1 numbers; the matrix is then finished on all rows.
_ROWS_FOR_NEWTON = 4_000
_MOST_ROUNDS = 80
_TOLERANCE = 1e-4  # nats per row
_FINISHING_ROUNDS = 3
# Beyond this many classes the Hessian costs more than it saves, and the offsets are stepped one by one.
_MOST_CLASSES_FOR_HESSIAN = 200


class Labels(NamedTuple):
    """What is known of the labels of some rows."""

    observed: Array  # (n,) codes; K where missing
    verified: Array | None  # (n,) codes; -1 where unknown
    weight: Array  # (n,)

    def take(self, index: Array) -> Labels:
        return Labels(self.observed[index], None if self.verified is None else self.verified[index], self.weight[index])


class Calibration(NamedTuple):
    temperature: Array  # (B,), one for each kind of score
    offset: Array  # (K,) added to the base
    mislabel: Array  # (K, K): [observed, true]
    base: Array  # (K,) what offsets are counted from: log class shares, or zeros

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
    joint -= joint.max(axis=1, keepdims=True)
    np.exp(joint, out=joint)
    joint /= joint.sum(axis=1, keepdims=True)
    # the least number keeps a label that no class allows from becoming nan
    true = joint * label_table(calibration.mislabel)[labels.observed] + 1e-300
    if labels.verified is not None:
        known = np.flatnonzero(labels.verified >= 0)
        kept = true[known, labels.verified[known]]
        true[known] = 0.0
        true[known, labels.verified[known]] = kept
    total = true.sum(axis=1, keepdims=True)
    true /= total
    return Posterior(joint, true, np.log(total[:, 0]))


def centred(scores: Array) -> Array:
    """Only the differences between classes matter; without their mean, numbers stay small."""
    return np.asarray(scores - scores.mean(axis=-1, keepdims=True))


def calibrate(
    scores: Array,
    labels: Labels,
    structure: Structure,
    penalty: float,
    base: Array,
    start: Calibration | None,
    rng: np.random.Generator,
) -> tuple[Calibration, Posterior]:
    """Maximise the likelihood of the labels - penalty * |offset|^2 (per row); also the posterior of all rows.

    scores (B, n, K) have mean 0 over the classes, as from `centred`.
    """
    B, n, K = scores.shape
    if start is None:
        spread = scores.std(axis=(1, 2))
        start = Calibration(1.0 / (B * np.maximum(spread, 1e-12)), np.zeros(K), constant_rate(K, _START_DIAGONAL), base)
        start = start._replace(mislabel=structure.estimate(_START_DIAGONAL * n * start.mislabel[None])[0])
    some = rng.choice(n, _ROWS_FOR_NEWTON, replace=False) if n > _ROWS_FOR_NEWTON else np.arange(n)
    calibration = climb(scores[:, some], labels.take(some), structure, penalty, start._replace(base=base))
    for _ in range(_FINISHING_ROUNDS):
        found = posterior(calibration, scores, labels)
        calibration = calibration._replace(mislabel=estimate_matrix(found.true, labels, structure))
    return calibration, posterior(calibration, scores, labels)


def climb(
    scores: Array,
    labels: Labels,
    structure: Structure,
    penalty: float,
    now: Calibration,
    pseudo_rows: float = _PSEUDO_ROWS,
    tolerance: float = _TOLERANCE,
) -> Calibration:
    """EM over the true labels, with one Newton step on temperature and offset in each round."""
    best, last = now, -np.inf
    for _ in range(_MOST_ROUNDS):
        found = posterior(now, scores, labels)
        objective = np.average(found.log_likelihood, weights=labels.weight) - penalty * (now.offset**2).sum()
        if objective > last:
            best = now
        if objective - last < tolerance:
            break
        last = objective
        now = _newton(scores, labels.weight, found, penalty, now)._replace(
            mislabel=estimate_matrix(found.true, labels, structure, pseudo_rows)
        )
    return best


def label_counts(true: Array, labels: Labels) -> Array:
    """(K, K): weight of the rows by observed label and soft true label (n, K)."""
    K = true.shape[1]
    by_label = sparse.csc_array((labels.weight, labels.observed, np.arange(len(true) + 1)), shape=(K + 1, len(true)))
    return np.asarray(by_label @ true)[:K]


def estimate_matrix(true: Array, labels: Labels, structure: Structure, pseudo_rows: float = _PSEUDO_ROWS) -> Array:
    """The mislabeling matrix of soft true labels (n, K)."""
    counts = label_counts(true, labels)
    rate = np.trace(counts) / max(counts.sum(), 1e-300)
    matrix: Array = structure.estimate((counts + pseudo_rows * constant_rate(len(counts), rate))[None])[0]
    return matrix


def _newton(scores: Array, weight: Array, found: Posterior, penalty: float, now: Calibration) -> Calibration:
    """One step on sum_ik true_ik log prior_ik - penalty |offset|^2, which is concave in (temperature, offset)."""
    B, _, K = scores.shape
    share = weight / weight.sum()
    prior = found.prior
    gap = (found.true - prior) * share[:, None]
    weighted = prior * share[:, None]
    deviation = weighted * (scores - (prior * scores).sum(axis=2, keepdims=True))
    # inner products by BLAS: einsum and sums over axes take most of the time otherwise
    gradient = np.append([np.vdot(gap, one) for one in scores], gap.sum(axis=0) - 2 * penalty * now.offset)
    of_temperatures = np.array([[np.vdot(one, other) for other in scores] for one in deviation])
    diagonal = np.append(np.diag(of_temperatures), weighted.sum(axis=0) + 2 * penalty) + 1e-9
    if K > _MOST_CLASSES_FOR_HESSIAN:
        step = gradient / diagonal
    else:
        hessian = np.diag(diagonal)
        hessian[:B, :B] = of_temperatures + 1e-9 * np.eye(B)
        hessian[:B, B:] = deviation.sum(axis=1)
        hessian[B:, :B] = hessian[:B, B:].T
        hessian[B:, B:] -= weighted.T @ prior
        step = np.linalg.solve(hessian, gradient)
    temperature = np.clip(now.temperature + step[:B], now.temperature / 3, now.temperature * 3)
    offset = now.offset + np.clip(step[B:], -2.0, 2.0)
    return now._replace(temperature=temperature, offset=offset - offset.mean())
