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
from .tree import Array, add_into, scale

# Labels are mostly right: the matrix starts there.
_START_DIAGONAL = 0.9
# K x K cells are more than a few thousand rows can tell: each column is drawn towards one common rate of mistakes,
# spread evenly, by as many rows. (The rate itself is estimated, so that right labels stay right.)
_PSEUDO_ROWS = 10.0
# Newton steps on this many rows settle K + 1 numbers; the matrix is then finished on all rows.
_ROWS_FOR_NEWTON = 4_000
_ROWS_AT_ONCE = 4_096  # whose arrays stay in the cache of a core
_MOST_ROUNDS = 80
_TOLERANCE = 1e-4  # nats per row
_FINISHING_ROUNDS = 3
# With this few rows the likelihood can have two tops, and the climb from modest temperatures may end on the lower one:
# a second climb starts from scores that are trusted three times as much. It must end visibly higher to be taken.
_FEW_ROWS = 1_000
_SHARPER = 3.0
_VISIBLY = 1e-3
_MOSTLY_RIGHT = 0.5
# Beyond this many classes the Hessian costs more than it saves, and the offsets are stepped one by one.
_MOST_CLASSES_FOR_HESSIAN = 200


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

    @property
    def n_rows(self) -> int: ...

    def take(self, rows: Array) -> Array:
        """(B, m, K) of some rows."""
        ...

    def map(self, fn: Callable[[Any, Array], Any]) -> Iterable[tuple[Any, Any]]:
        """fn(rows, their scores (B, m, K)) over all rows, piece by piece, each with the rows that it is of."""
        ...


def total(parts: Iterable[tuple[Any, Any]]) -> Any:
    """The sum over all pieces of a `map`."""
    return reduce(add_into, (value for _, value in parts))


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
    joint /= _row_sums(joint)[:, None]
    # the least number keeps a label that no class allows from becoming nan
    true = joint * label_table(calibration.mislabel)[labels.observed] + 1e-300
    if labels.verified is not None:
        known = np.flatnonzero(labels.verified >= 0)
        kept = true[known, labels.verified[known]]
        true[known] = 0.0
        true[known, labels.verified[known]] = kept
    sums = _row_sums(true)
    true /= sums[:, None]
    return Posterior(joint, true, np.log(sums))


def _row_sums(values: Array) -> Array:
    # by BLAS: numpy sums over a short last axis several times as slowly
    return np.asarray(values @ np.ones(values.shape[1]))


def centred(scores: Array) -> Array:
    """Only the differences between classes matter; without their mean, numbers stay small."""
    return np.asarray(scores - scores.mean(axis=-1, keepdims=True))


def calibrate(
    scores: Scores,
    labels: Labels,
    structure: Structure,
    penalty: float,
    base: Array,
    start: Calibration | None,
    rng: np.random.Generator,
    finish: bool = True,
) -> Calibration:
    """Maximise the likelihood of the labels - penalty * |offset|^2 (per row).

    finish : whether the matrix is found from all rows; who asks for classes from features alone does not need it
    """
    n = scores.n_rows
    some = rng.choice(n, _ROWS_FOR_NEWTON, replace=False) if n > _ROWS_FOR_NEWTON else np.arange(n)
    calibration = settle(scores.take(some), n, labels.take(some), structure, penalty, base, start)

    def counts(rows: Any, block: Array) -> Array:
        here = labels.take(rows)
        return label_counts(posterior(calibration, block, here).true, here)

    for _ in range(_FINISHING_ROUNDS if finish else 0):
        calibration = calibration._replace(mislabel=matrix_of(total(scores.map(counts)), structure))
    return calibration


def settle(
    scores: Array,
    n: int,
    labels: Labels,
    structure: Structure,
    penalty: float,
    base: Array,
    start: Calibration | None = None,
) -> Calibration:
    """The calibration of some of n rows; scores (B, m, K) have mean 0 over the classes, as from `centred`."""
    B, _, K = scores.shape
    afresh = start is None
    if start is None:
        spread = scores.std(axis=(1, 2))
        start = Calibration(1.0 / (B * np.maximum(spread, 1e-12)), np.zeros(K), constant_rate(K, _START_DIAGONAL), base)
        start = start._replace(mislabel=structure.estimate(_START_DIAGONAL * n * start.mislabel[None])[0])
    starts = [start] if n > _FEW_ROWS or not afresh else [start, _sharper(start)]
    return _highest(scores, labels, structure, penalty, base, starts)


def _sharper(start: Calibration) -> Calibration:
    return start._replace(temperature=_SHARPER * start.temperature)


def _highest(
    scores: Array, labels: Labels, structure: Structure, penalty: float, base: Array, starts: list[Calibration]
) -> Calibration:
    """The end of the first climb, unless another ends visibly higher."""
    ends = [climb(scores, labels, structure, penalty, start._replace(base=base)) for start in starts]
    if len(ends) == 1:
        return ends[0]
    heights = np.array([_objective(end, posterior(end, scores, labels), labels, penalty) for end in ends])
    heights[0] += _VISIBLY
    # features that say nothing of the labels allow tops at which most labels of a class are wrong
    heights[1:][[np.diag(end.mislabel).min() < _MOSTLY_RIGHT for end in ends[1:]]] = -np.inf
    return ends[int(heights.argmax())]


def _objective(now: Calibration, found: Posterior, labels: Labels, penalty: float) -> float:
    """Mean log-likelihood of the labels, less the penalty."""
    return float(np.average(found.log_likelihood, weights=labels.weight) - penalty * (now.offset**2).sum())


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
    edges = range(0, scores.shape[1], _ROWS_AT_ONCE)
    pieces = [(scores[:, i : i + _ROWS_AT_ONCE], labels.take(slice(i, i + _ROWS_AT_ONCE))) for i in edges]
    weight = labels.weight.sum()
    best, last = now, -np.inf
    for _ in range(_MOST_ROUNDS):
        sums = reduce(add_into, (_sums(now, *piece) for piece in pieces))
        objective = float(sums.log_likelihood[0] / weight) - penalty * (now.offset**2).sum()
        if objective > last:
            best = now
        if objective - last < tolerance:
            break
        last = objective
        now = _newton(scale(sums, 1.0 / weight), penalty, now)._replace(
            mislabel=matrix_of(sums.counts, structure, pseudo_rows)
        )
    return best


def label_counts(true: Array, labels: Labels) -> Array:
    """(K, K): weight of the rows by observed label and soft true label (n, K)."""
    K = true.shape[1]
    weight = np.ascontiguousarray(labels.weight)
    by_label = sparse.csc_array((weight, labels.observed, np.arange(len(true) + 1)), shape=(K + 1, len(true)))
    return np.asarray(by_label @ true)[:K]


def estimate_matrix(true: Array, labels: Labels, structure: Structure, pseudo_rows: float = _PSEUDO_ROWS) -> Array:
    """The mislabeling matrix of soft true labels (n, K)."""
    return matrix_of(label_counts(true, labels), structure, pseudo_rows)


def matrix_of(counts: Array, structure: Structure, pseudo_rows: float = _PSEUDO_ROWS) -> Array:
    """The same from the weight of the rows by observed and true label (K, K)."""
    rate = np.trace(counts) / max(counts.sum(), 1e-300)
    matrix: Array = structure.estimate((counts + pseudo_rows * constant_rate(len(counts), rate))[None])[0]
    return matrix


class _Sums(NamedTuple):
    """What a round needs to know of the rows. w: weight, p: prior, q: posterior, s: score, m: mean of s under p."""

    log_likelihood: Array  # (1,)
    counts: Array  # (K, K) w q by observed label
    scores_gap: Array  # (B,) w (q - p) s
    gap: Array  # (K,) w (q - p)
    scores_pairs: Array  # (B, B) w (p s s' - m m')
    scores_prior: Array  # (B, K) w p (s - m)
    prior: Array  # (K,) w p
    pairs: Array  # (K, K) w p p'


def _sums(now: Calibration, scores: Array, labels: Labels) -> _Sums:
    """Inner products by BLAS: einsum and sums over axes take several times as long."""
    found, weight = posterior(now, scores, labels), np.ascontiguousarray(labels.weight)
    prior, each = found.prior, np.ones(len(weight))
    gap = (found.true - prior) * weight[:, None]
    weighted = prior * weight[:, None]
    products = [prior * one for one in scores]
    means = [_row_sums(product) for product in products]
    pairs = np.array([[weight @ _row_sums(product * one) for one in scores] for product in products])
    pairs -= [[weight @ (mean * other) for other in means] for mean in means]
    return _Sums(
        np.array([found.log_likelihood @ weight]),
        label_counts(found.true, labels),
        np.array([np.vdot(gap, one) for one in scores]),
        each @ gap,
        pairs,
        np.array([weight @ product - mean @ weighted for product, mean in zip(products, means, strict=True)]),
        each @ weighted,
        weighted.T @ prior,
    )


def _newton(mean: _Sums, penalty: float, now: Calibration) -> Calibration:
    """One step on sum_ik true_ik log prior_ik - penalty |offset|^2 (per row), concave in (temperature, offset)."""
    B, K = mean.scores_prior.shape
    gradient = np.append(mean.scores_gap, mean.gap - 2 * penalty * now.offset)
    diagonal = np.append(np.diag(mean.scores_pairs), mean.prior + 2 * penalty) + 1e-9
    if K > _MOST_CLASSES_FOR_HESSIAN:
        step = gradient / diagonal
    else:
        hessian = np.diag(diagonal)
        hessian[:B, :B] = mean.scores_pairs + 1e-9 * np.eye(B)
        hessian[:B, B:] = mean.scores_prior
        hessian[B:, :B] = mean.scores_prior.T
        hessian[B:, B:] -= mean.pairs
        step = np.linalg.solve(hessian, gradient)
    temperature = np.clip(now.temperature + step[:B], now.temperature / 3, now.temperature * 3)
    offset = now.offset + np.clip(step[B:], -2.0, 2.0)
    return now._replace(temperature=temperature, offset=offset - offset.mean())
