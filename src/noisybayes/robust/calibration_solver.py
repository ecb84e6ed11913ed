"""Fits a calibration to labels: EM over the true labels, with a Newton step on temperatures and offsets each time."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from .._threads import in_threads
from ..dataset.csr import rows_by_label, sums_by_label
from ..dataset.short_rows import row_slices, row_sums
from ..dataset.tree import Array, add_into
from .anderson import Anderson
from .calibration import Calibration, Labels, matrix_of, posterior
from .constants import DEFAULT, Config
from .old_model.mislabel import Structure, constant_rate

# Maximum length of an accelerated step, in logs: where the map is still nonlinear, extrapolation is unreliable.
_MAX_STEP = 2.0
# Beyond this many classes the Hessian costs more than it saves, and the offsets are updated one by one.
_MAX_CLASSES_FOR_HESSIAN = 200


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
        """The target of some of the replicates."""
        weight = self.labels.weight
        weight = weight if weight.shape[1] == 1 else weight[:, replicates]
        return self._replace(
            scores=self.scores[:, :, replicates],
            labels=self.labels._replace(weight=weight),
            penalty=self.penalty[replicates],
        )

    def repeated(self, times: int) -> Target:
        """The target with every replicate repeated."""
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
    start = _initial_calibration(target, base)
    R = len(base)
    if target.row_weight.sum() > config.two_starts_below_rows:
        return maximise(target, start)
    sharper_start = start._replace(temperature=config.temperature_factor * start.temperature)
    starts = Calibration(*(np.concatenate(pair) for pair in zip(start, sharper_start, strict=True)))
    doubled = target.repeated(2)
    fits = maximise(doubled, starts)
    values = objective(doubled, fits)
    values[:R] += config.second_start_min_gain
    is_mostly_right = np.diagonal(fits.mislabel[R:], axis1=1, axis2=2).min(axis=1) >= config.min_diagonal
    is_second_better = is_mostly_right & (values[R:] > values[:R])
    return fits.take(np.arange(R) + R * is_second_better)


def _initial_calibration(target: Target, base: Array) -> Calibration:
    B, _, R, K = target.scores.shape
    config, weight = target.config, target.row_weight
    squares = np.einsum("n,bnrk->rb", weight, target.scores**2)  # scores have mean 0 over the classes
    spread = np.sqrt(squares / (K * weight.sum()))  # (R, B)
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


def maximise(target: Target, current: Calibration) -> Calibration:
    """EM over the true labels, with one Newton step on temperatures and offsets in each round. Each replicate stops
    independently, as if it were fitted alone."""
    config, active = target.config, np.arange(len(current.offset))
    best, best_value = Calibration(*map(np.copy, current)), np.full(len(active), -np.inf)
    previous = best_value.copy()
    em_round = _em_round(target, config.pseudo_rows)
    for _ in range(config.calibration_rounds):
        value, updated = em_round(current)
        improved = np.flatnonzero(value > best_value[active])
        best_value[active[improved]] = value[improved]
        for best_part, part in zip(best, current, strict=True):
            best_part[active[improved]] = part[improved]
        gaining = np.flatnonzero(value - previous >= config.calibration_tolerance)
        if not len(gaining):
            break
        if len(gaining) < len(active):
            active, target = active[gaining], target.take(gaining)
            value, updated = value[gaining], updated.take(gaining)
            em_round = _em_round(target, config.pseudo_rows)
        previous, current = value, updated
    return best


def accelerate(
    target: Target, current: Calibration, tolerance: float, pseudo_rows: float = DEFAULT.pseudo_rows
) -> Calibration:
    """The result of `maximise` for one replicate, in fewer rounds, from a nearby start (Anderson acceleration); a step
    that decreases the objective is undone."""
    em_round = _em_round(target, pseudo_rows)
    anderson, accepted, previous, accelerated = Anderson(), current, -np.inf, False
    for _ in range(target.config.calibration_rounds):
        (value,), updated = em_round(current)
        if accelerated and not value >= previous:  # also if it is nan
            anderson.reset()
            current, accelerated = accepted, False
            continue
        if value - previous < tolerance:
            break
        previous, accepted, accelerated = value, updated, True
        before, after = _pack(current), _pack(accepted)
        current = _unpack(np.clip(anderson.next(before, after), after - _MAX_STEP, after + _MAX_STEP), current)
    return accepted


def _em_round(target: Target, pseudo_rows: float) -> Callable[[Calibration], tuple[Array, Calibration]]:
    """A function from a calibration to its objectives (R,) and the next calibration."""
    scores, labels = target.scores, target.labels
    _, n, R, K = scores.shape
    labels = labels._replace(weight=np.ascontiguousarray(np.broadcast_to(labels.weight, (n, R))))
    pieces = [
        (scores[:, rows], labels.take(rows), rows_by_label(labels.observed[rows], K, scores.dtype))
        for rows in row_slices(n, R * K)
    ]
    weight = labels.weight.sum(axis=0)
    n_threads = target.n_threads if len(pieces) > 1 else 1

    def em_round(current: Calibration) -> tuple[Array, Calibration]:
        sums = reduce(add_into, in_threads(lambda piece: _sums(current, *piece), pieces, n_threads))
        value = sums.log_likelihood / weight - target.penalty * (current.offset**2).sum(axis=1)
        matrix = matrix_of(sums.counts, target.structure, pseudo_rows)
        mean = _Sums(*(part / weight.reshape(-1, *[1] * (part.ndim - 1)) for part in sums))
        return value, _newton_step(mean, target.penalty, current)._replace(mislabel=matrix)

    return em_round


def _pack(calibration: Calibration) -> Array:
    """The parameters of one replicate as unbounded numbers."""
    log_mislabel = np.log(np.maximum(calibration.mislabel, 1e-12))
    return np.concatenate([np.log(calibration.temperature).ravel(), calibration.offset.ravel(), log_mislabel.ravel()])


def _unpack(vector: Array, template: Calibration) -> Calibration:
    B, K = template.temperature.shape[1], template.offset.shape[1]
    mislabel = np.exp(vector[B + K :].reshape(1, K, K))
    mislabel /= mislabel.sum(axis=1, keepdims=True)
    return template._replace(temperature=np.exp(vector[None, :B]), offset=vector[None, B : B + K], mislabel=mislabel)


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


def _sums(calibration: Calibration, scores: Array, labels: Labels, by_label: Any) -> _Sums:
    """The sums over one piece of the rows. The weights of its labels are (n, R)."""
    post = posterior(calibration, scores, labels)
    prior, weight = post.prior, labels.weight
    B, n, R, K = scores.shape
    ones = np.ones(n)

    def over_rows(values: Array) -> Array:
        """(n, R, K) -> (R, K), by BLAS: sums over axes take several times as long."""
        return np.asarray(ones @ values.reshape(n, R * K)).reshape(R, K)

    weighted = prior * weight[:, :, None]
    true = post.true * weight[:, :, None]
    gap = true - weighted
    centred_scores = [block_scores - row_sums(prior * block_scores)[:, :, None] for block_scores in scores]  # s - m
    pairs, by_scores = np.empty((R, B, B)), np.empty((R, B, K))
    for a in range(B):
        product = weighted * centred_scores[a]
        by_scores[:, a] = over_rows(product)
        for b in range(a):
            pairs[:, a, b] = pairs[:, b, a] = over_rows(product * centred_scores[b]).sum(axis=1)
        product *= centred_scores[a]
        pairs[:, a, a] = over_rows(product).sum(axis=1)
    if K > _MAX_CLASSES_FOR_HESSIAN:
        prior_products = np.zeros((R, 0, 0))
    elif R == 1:
        prior_products = (weighted[:, 0].T @ prior[:, 0])[None]
    else:
        prior_products = np.matmul(weighted.transpose(1, 2, 0), prior.transpose(1, 0, 2))
    return _Sums(
        ones @ (post.log_likelihood * weight),
        sums_by_label(true, by_label)[:, :-1],
        np.stack([over_rows(gap * block_scores).sum(axis=1) for block_scores in scores], axis=1),
        over_rows(gap),
        pairs,
        by_scores,
        over_rows(weighted),
        prior_products,
    )


def _newton_step(mean: _Sums, penalty: Array, current: Calibration) -> Calibration:
    """One step on sum_ik true_ik log prior_ik - penalty |offset|^2 (per row), concave in (temperatures, offsets)."""
    R, B, K = mean.scores_prior.shape
    gradient = np.concatenate([mean.scores_gap, mean.gap - 2 * penalty[:, None] * current.offset], axis=1)
    if K > _MAX_CLASSES_FOR_HESSIAN:
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
        step = _bounded_steps(hessian, gradient, -current.temperature * 2 / 3)
    temperature = current.temperature + step[:, :B]
    temperature = np.minimum(np.maximum(temperature, current.temperature / 3), current.temperature * 3)
    offset = current.offset + np.minimum(np.maximum(step[:, B:], -2.0), 2.0)  # np.clip is several times slower
    return current._replace(temperature=temperature, offset=offset - offset.sum(axis=1, keepdims=True) / K)


def _bounded_steps(hessian: Array, gradient: Array, lower: Array) -> Array:
    """Newton steps (R, p) whose first B entries are at least `lower` (R, B). Where a bound is active, the other entries
    are solved for again given that bound: a temperature that would turn negative must not drive them past the maximum.
    """
    steps = np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
    B = lower.shape[1]
    below = steps[:, :B] < lower
    violating = np.flatnonzero(below.any(axis=1))
    if len(violating):  # replace the equation of a bounded entry by entry = bound
        replicate, bounded = np.nonzero(below[violating])
        hessian, gradient = hessian[violating], gradient[violating]
        hessian[replicate, bounded] = np.eye(hessian.shape[1])[bounded]
        gradient[replicate, bounded] = lower[violating][replicate, bounded]
        steps[violating] = np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
    return np.asarray(steps)
