"""Fits a calibration to labels: EM over the true labels, with a Newton step on temperatures and offsets each time."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from .._threads import in_threads
from ..dataset.csr import rows_by_label, sums_by_label
from ..dataset.short_rows import pieces_of, row_sums
from ..dataset.tree import Array, add_into
from ..model.mislabel import Structure, constant_rate
from .anderson import Anderson
from .calibration import Calibration, Labels, matrix_of, posterior
from .config import DEFAULT, Config

# Maximum length of an accelerated step, in logs: where the map is still nonlinear, it may point anywhere.
_FARTHEST = 2.0
# Beyond this many classes the Hessian costs more than it saves, and the offsets are updated one by one.
_MOST_CLASSES_FOR_HESSIAN = 200


class Target(NamedTuple):
    """What a calibration is fitted to. Scores (B, n, R, K) have mean 0 over the classes, as from `centred`."""

    scores: Array
    labels: Labels
    structure: Structure
    penalty: Array  # (R,) nats per row and square of an offset
    config: Config = DEFAULT
    n_threads: int = 1

    @property
    def row_weight(self) -> Array:
        """(n,) weight of each row, in the replicates that do not leave it out."""
        return np.asarray(self.labels.weight.max(axis=1))

    def take(self, replicates: Array) -> Target:
        """Some of the replicates."""
        weight = self.labels.weight
        weight = weight if weight.shape[1] == 1 else weight[:, replicates]
        return self._replace(
            scores=self.scores[:, :, replicates],
            labels=self.labels._replace(weight=weight),
            penalty=self.penalty[replicates],
        )

    def repeated(self, times: int) -> Target:
        """Every replicate several times."""
        weight = self.labels.weight
        weight = weight if weight.shape[1] == 1 else np.tile(weight, (1, times))
        return self._replace(
            scores=np.tile(self.scores, (1, 1, times, 1)),
            labels=self.labels._replace(weight=weight),
            penalty=np.tile(self.penalty, times),
        )


def fit_calibration(target: Target, base: Array, start: Calibration | None = None) -> Calibration:
    """Maximise the likelihood of the labels - penalty * |offset|^2 (per row). base : (R, K)"""
    config = target.config
    if start is not None:
        return maximise(target, start._replace(base=base))
    start = _first(target, base)
    R = len(base)
    if target.row_weight.sum() > config.two_starts_below:
        return maximise(target, start)
    sharper = start._replace(temperature=config.sharper * start.temperature)
    both = Calibration(*(np.concatenate(pair) for pair in zip(start, sharper, strict=True)))
    twice = target.repeated(2)
    ends = maximise(twice, both)
    height = objective(twice, ends)
    height[:R] += config.second_must_gain
    mostly_right = np.diagonal(ends.mislabel[R:], axis1=1, axis2=2).min(axis=1) >= config.mostly_right
    second = mostly_right & (height[R:] > height[:R])
    return ends.take(np.arange(R) + R * second)


def _first(target: Target, base: Array) -> Calibration:
    B, _, R, K = target.scores.shape
    config, weight = target.config, target.row_weight
    square = np.einsum("n,bnrk->rb", weight, target.scores**2)  # scores have mean 0 over the classes
    spread = np.sqrt(square / (K * weight.sum()))  # (R, B)
    matrix = constant_rate(K, config.start_diagonal)
    matrix = target.structure.estimate(config.start_diagonal * weight.sum() * matrix[None])
    return Calibration(
        1.0 / (B * np.maximum(spread, 1e-12)), np.zeros((R, K)), np.repeat(np.asarray(matrix), R, axis=0), base
    )


def objective(target: Target, calibration: Calibration) -> Array:
    """(R,) mean log-likelihood of the labels, minus the penalty."""
    likelihood, weight = posterior(calibration, target.scores, target.labels).log_likelihood, target.labels.weight
    mean = (likelihood * weight).sum(axis=0) / np.broadcast_to(weight, likelihood.shape).sum(axis=0)
    return np.asarray(mean - target.penalty * (calibration.offset**2).sum(axis=1))


def maximise(target: Target, now: Calibration) -> Calibration:
    """EM over the true labels, with one Newton step on temperatures and offsets in each round. Each replicate stops
    independently, as if it were fitted alone."""
    config, moving = target.config, np.arange(len(now.offset))
    best, highest, last = Calibration(*map(np.copy, now)), np.full(len(moving), -np.inf), np.full(len(moving), -np.inf)
    round_of = _rounds(target, config.pseudo_rows)
    for _ in range(config.calibration_rounds):
        height, following = round_of(now)
        better = np.flatnonzero(height > highest[moving])
        highest[moving[better]] = height[better]
        for kept, part in zip(best, now, strict=True):
            kept[moving[better]] = part[better]
        gaining = np.flatnonzero(height - last >= config.calibration_tolerance)
        if not len(gaining):
            break
        if len(gaining) < len(moving):
            moving, target = moving[gaining], target.take(gaining)
            height, following = height[gaining], following.take(gaining)
            round_of = _rounds(target, config.pseudo_rows)
        last, now = height, following
    return best


def accelerate(
    target: Target, now: Calibration, tolerance: float, pseudo_rows: float = DEFAULT.pseudo_rows
) -> Calibration:
    """The result of `maximise` for one replicate, in fewer rounds, from a nearby start (Anderson acceleration); a step
    that decreases the objective is undone."""
    round_of = _rounds(target, pseudo_rows)
    ahead, following, last, accelerated = Anderson(), now, -np.inf, False
    for _ in range(target.config.calibration_rounds):
        (height,), reached = round_of(now)
        if accelerated and not height >= last:  # nor if it is nan
            ahead.forget()
            now, accelerated = following, False
            continue
        if height - last < tolerance:
            break
        last, following, accelerated = height, reached, True
        before, after = _packed(now), _packed(following)
        now = _unpacked(np.clip(ahead.next(before, after), after - _FARTHEST, after + _FARTHEST), now)
    return following


def _rounds(target: Target, pseudo_rows: float) -> Callable[[Calibration], tuple[Array, Calibration]]:
    """A function from a calibration to its objectives (R,), and one to the next calibration."""
    scores, labels = target.scores, target.labels
    _, n, R, K = scores.shape
    labels = labels._replace(weight=np.ascontiguousarray(np.broadcast_to(labels.weight, (n, R))))
    pieces = [
        (scores[:, rows], labels.take(rows), rows_by_label(labels.observed[rows], K, scores.dtype))
        for rows in pieces_of(n, R * K)
    ]
    weight = labels.weight.sum(axis=0)
    n_threads = target.n_threads if len(pieces) > 1 else 1

    def round_of(now: Calibration) -> tuple[Array, Calibration]:
        total = reduce(add_into, in_threads(lambda piece: _sums(now, *piece), pieces, n_threads))
        height = total.log_likelihood / weight - target.penalty * (now.offset**2).sum(axis=1)
        matrix = matrix_of(total.counts, target.structure, pseudo_rows)
        mean = _Sums(*(part / weight.reshape(-1, *[1] * (part.ndim - 1)) for part in total))
        return height, _newton(mean, target.penalty, now)._replace(mislabel=matrix)

    return round_of


def _packed(calibration: Calibration) -> Array:
    """The parameters of one replicate as unbounded numbers."""
    rare = np.log(np.maximum(calibration.mislabel, 1e-12))
    return np.concatenate([np.log(calibration.temperature).ravel(), calibration.offset.ravel(), rare.ravel()])


def _unpacked(numbers: Array, like: Calibration) -> Calibration:
    B, K = like.temperature.shape[1], like.offset.shape[1]
    mislabel = np.exp(numbers[B + K :].reshape(1, K, K))
    mislabel /= mislabel.sum(axis=1, keepdims=True)
    return like._replace(temperature=np.exp(numbers[None, :B]), offset=numbers[None, B : B + K], mislabel=mislabel)


class _Sums(NamedTuple):
    """The sums over rows for one round. w: weight, p: prior, q: posterior, s: score, m: mean of s under p."""

    log_likelihood: Array  # (R,)
    counts: Array  # (R, K, K) w q by observed label
    scores_gap: Array  # (R, B) w (q - p) s
    gap: Array  # (R, K) w (q - p)
    scores_pairs: Array  # (R, B, B) w p (s - m) (s' - m')
    scores_prior: Array  # (R, B, K) w p (s - m)
    prior: Array  # (R, K) w p
    pairs: Array  # (R, K, K) w p p'


def _sums(now: Calibration, scores: Array, labels: Labels, by_label: Any) -> _Sums:
    """The sums over one piece of the rows. The weights of its labels are (n, R)."""
    found = posterior(now, scores, labels)
    prior, weight = found.prior, labels.weight
    B, n, R, K = scores.shape
    each = np.ones(n)

    def over_rows(values: Array) -> Array:
        """(n, R, K) -> (R, K), by BLAS: sums over axes take several times as long."""
        return np.asarray(each @ values.reshape(n, R * K)).reshape(R, K)

    weighted = prior * weight[:, :, None]
    true = found.true * weight[:, :, None]
    gap = true - weighted
    apart = [one - row_sums(prior * one)[:, :, None] for one in scores]  # s - m
    pairs, by_scores = np.empty((R, B, B)), np.empty((R, B, K))
    for a in range(B):
        product = weighted * apart[a]
        by_scores[:, a] = over_rows(product)
        for b in range(a):
            pairs[:, a, b] = pairs[:, b, a] = over_rows(product * apart[b]).sum(axis=1)
        product *= apart[a]
        pairs[:, a, a] = over_rows(product).sum(axis=1)
    if K > _MOST_CLASSES_FOR_HESSIAN:
        crossed = np.zeros((R, 0, 0))
    elif R == 1:
        crossed = (weighted[:, 0].T @ prior[:, 0])[None]
    else:
        crossed = np.matmul(weighted.transpose(1, 2, 0), prior.transpose(1, 0, 2))
    return _Sums(
        each @ (found.log_likelihood * weight),
        sums_by_label(true, by_label)[:, :-1],
        np.stack([over_rows(gap * one).sum(axis=1) for one in scores], axis=1),
        over_rows(gap),
        pairs,
        by_scores,
        over_rows(weighted),
        crossed,
    )


def _newton(mean: _Sums, penalty: Array, now: Calibration) -> Calibration:
    """One step on sum_ik true_ik log prior_ik - penalty |offset|^2 (per row), concave in (temperatures, offsets)."""
    R, B, K = mean.scores_prior.shape
    gradient = np.concatenate([mean.scores_gap, mean.gap - 2 * penalty[:, None] * now.offset], axis=1)
    if K > _MOST_CLASSES_FOR_HESSIAN:
        spread = np.diagonal(mean.scores_pairs, axis1=1, axis2=2)
        step = gradient / (np.concatenate([spread, mean.prior + 2 * penalty[:, None]], axis=1) + 1e-9)
    else:
        hessian = np.zeros((R, B + K, B + K))
        hessian[:, :B, :B] = mean.scores_pairs
        hessian[:, :B, B:] = mean.scores_prior
        hessian[:, B:, :B] = mean.scores_prior.transpose(0, 2, 1)
        hessian[:, B:, B:] = -mean.pairs
        index = np.arange(B + K)
        hessian[:, index[B:], index[B:]] += mean.prior + 2 * penalty[:, None]
        hessian[:, index, index] += 1e-9
        step = _steps(hessian, gradient, -now.temperature * 2 / 3)
    temperature = now.temperature + step[:, :B]
    temperature = np.minimum(np.maximum(temperature, now.temperature / 3), now.temperature * 3)
    offset = now.offset + np.minimum(np.maximum(step[:, B:], -2.0), 2.0)  # np.clip is several times slower
    return now._replace(temperature=temperature, offset=offset - offset.sum(axis=1, keepdims=True) / K)


def _steps(hessian: Array, gradient: Array, lowest: Array) -> Array:
    """Newton steps (R, p) of which the first numbers are not below `lowest`. Where one is cut, the others step as it
    does: a score that would rather count against its class must not drive them beyond the maximum."""
    steps = np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
    B = lowest.shape[1]
    below = steps[:, :B] < lowest
    some = np.flatnonzero(below.any(axis=1))
    if len(some):  # the equation of a number that is cut says what it is
        replicate, cut = np.nonzero(below[some])
        hessian, gradient = hessian[some], gradient[some]
        hessian[replicate, cut] = np.eye(hessian.shape[1])[cut]
        gradient[replicate, cut] = lowest[some][replicate, cut]
        steps[some] = np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
    return np.asarray(steps)
