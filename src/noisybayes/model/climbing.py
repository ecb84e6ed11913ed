"""A calibration fitted to labels: EM over the true ones, with a Newton step on temperature and offset in each round."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from .._threads import in_threads
from .anderson import Anderson
from .calibration import (
    PSEUDO_ROWS,
    Calibration,
    Labels,
    Posterior,
    Scores,
    label_counts,
    matrix_of,
    posterior,
    total,
)
from .mislabel import Structure, constant_rate
from .short_rows import pieces_of, row_sums
from .tree import Array, add_into, scale

# Labels are mostly right: the matrix starts there.
_START_DIAGONAL = 0.9
# Newton steps on this many rows settle K + 1 numbers; the matrix is then finished on all rows.
_ROWS_FOR_NEWTON = 4_000
# Where rows are many, what so few of them cannot tell would be the largest error by far: as many as these settle it, or
# as have so many scores per kind, to a smaller gain.
_MANY_ROWS = 100_000
_SCORES_TO_SETTLE = 4_000_000
_FINE_TOLERANCE = 1e-6
_MOST_ROUNDS = 80
_TOLERANCE = 1e-4  # nats per row
_FINISHING_ROUNDS = 3
# With this few rows the likelihood can have two tops, and the climb from modest temperatures may end on the lower one:
# a second climb starts from scores that are trusted three times as much. It must end visibly higher to be taken.
_FEW_ROWS = 1_000
_SHARPER = 3.0
_VISIBLY = 1e-3
_MOSTLY_RIGHT = 0.5
# A leap goes no further, in logarithms: where the map still bends it may point anywhere.
_FARTHEST = 2.0
# Beyond this many classes the Hessian costs more than it saves, and the offsets are stepped one by one.
_MOST_CLASSES_FOR_HESSIAN = 200


def calibrate(
    scores: Scores,
    labels: Labels,
    structure: Structure,
    penalty: float,
    base: Array,
    start: Calibration | None,
    rng: np.random.Generator,
    fine: bool = True,
) -> Calibration:
    """Maximise the likelihood of the labels - penalty * |offset|^2 (per row), on as many rows as that takes.

    fine : whether more are taken of many; who asks for beliefs, or for classes from features alone, needs no more
    """
    n = scores.n_rows
    some = rng.choice(n, _ROWS_FOR_NEWTON, replace=False) if n > _ROWS_FOR_NEWTON else np.arange(n)
    calibration = settle(scores.take(some), n, labels.take(some), structure, penalty, base, start)
    if fine and n > _MANY_ROWS:
        some = np.sort(rng.choice(n, min(_MANY_ROWS, _SCORES_TO_SETTLE // len(base)), replace=False))
        calibration = leap(
            scores.take(some), labels.take(some), structure, penalty, calibration, PSEUDO_ROWS, _FINE_TOLERANCE,
            scores.n_threads,
        )  # fmt: skip
    return calibration


def finished(calibration: Calibration, weighed: Scores, labels: Labels, structure: Structure) -> Calibration:
    """The same with the matrix of all rows."""

    def counts(rows: Any, block: Array) -> Array:
        here = labels.take(rows)
        return label_counts(posterior(calibration.of_weighed, block, here).true, here)

    for _ in range(_FINISHING_ROUNDS):
        calibration = calibration._replace(mislabel=matrix_of(total(weighed.map(counts)), structure))
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
    pseudo_rows: float = PSEUDO_ROWS,
    tolerance: float = _TOLERANCE,
) -> Calibration:
    """EM over the true labels, with one Newton step on temperature and offset in each round."""
    round_of = _rounds(scores, labels, structure, penalty, pseudo_rows)
    best, last = now, -np.inf
    for _ in range(_MOST_ROUNDS):
        objective, following = round_of(now)
        if objective > last:
            best = now
        if objective - last < tolerance:
            break
        last, now = objective, following
    return best


def leap(
    scores: Array,
    labels: Labels,
    structure: Structure,
    penalty: float,
    now: Calibration,
    pseudo_rows: float,
    tolerance: float,
    n_threads: int = 1,
) -> Calibration:
    """Where `climb` ends, in fewer rounds, from a start that is near; a leap that leads downwards is taken back."""
    round_of = _rounds(scores, labels, structure, penalty, pseudo_rows, n_threads)
    ahead, following, last, leapt = Anderson(), now, -np.inf, False
    for _ in range(_MOST_ROUNDS):
        objective, reached = round_of(now)
        if leapt and not objective >= last:  # nor if it is nan
            ahead.forget()
            now, leapt = following, False
            continue
        if objective - last < tolerance:
            break
        last, following, leapt = objective, reached, True
        before, after = _packed(now), _packed(following)
        now = _unpacked(np.clip(ahead.next(before, after), after - _FARTHEST, after + _FARTHEST), now)
    return following


def _rounds(
    scores: Array, labels: Labels, structure: Structure, penalty: float, pseudo_rows: float, n_threads: int = 1
) -> Callable[[Calibration], tuple[float, Calibration]]:
    """A function to the objective of a calibration, and to the one that follows it."""
    pieces = [(scores[:, rows], labels.take(rows)) for rows in pieces_of(*scores.shape[1:])]
    weight = labels.weight.sum()

    def round_of(now: Calibration) -> tuple[float, Calibration]:
        sums = reduce(add_into, in_threads(lambda piece: _sums(now, *piece), pieces, n_threads))
        objective = float(sums.log_likelihood[0] / weight) - penalty * (now.offset**2).sum()
        matrix = matrix_of(sums.counts, structure, pseudo_rows)
        return objective, _newton(scale(sums, 1.0 / weight), penalty, now)._replace(mislabel=matrix)

    return round_of


def _packed(calibration: Calibration) -> Array:
    """What is fitted as numbers without bounds."""
    rare = np.log(np.maximum(calibration.mislabel, 1e-12))
    return np.concatenate([np.log(calibration.temperature), calibration.offset, rare.ravel()])


def _unpacked(numbers: Array, like: Calibration) -> Calibration:
    B, K = len(like.temperature), len(like.offset)
    mislabel = np.exp(numbers[B + K :].reshape(K, K))
    mislabel /= mislabel.sum(axis=0)
    return like._replace(temperature=np.exp(numbers[:B]), offset=numbers[B : B + K], mislabel=mislabel)


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
    means = [row_sums(product) for product in products]
    pairs = np.array([[weight @ row_sums(product * one) for one in scores] for product in products])
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
        step = _step(hessian, gradient, -now.temperature * 2 / 3)
    temperature = np.clip(now.temperature + step[:B], now.temperature / 3, now.temperature * 3)
    offset = now.offset + np.clip(step[B:], -2.0, 2.0)
    return now._replace(temperature=temperature, offset=offset - offset.mean())


def _step(hessian: Array, gradient: Array, lowest: Array) -> Array:
    """The Newton step of which the first numbers are not below `lowest`. Where one is cut, the others step as it does:
    a score that would rather count against its class must not drive them beyond the top."""
    step = np.linalg.solve(hessian, gradient)
    cut = np.flatnonzero(step[: len(lowest)] < lowest)
    if len(cut):
        free = np.setdiff1d(np.arange(len(step)), cut)
        step[cut] = lowest[cut]
        step[free] = np.linalg.solve(
            hessian[np.ix_(free, free)], gradient[free] - hessian[np.ix_(free, cut)] @ step[cut]
        )
    return np.asarray(step)
