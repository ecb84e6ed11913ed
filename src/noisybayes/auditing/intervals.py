"""How sure the numbers are: a weighted-likelihood bootstrap in one step.

Every row gets a random weight (exponential, mean 1), by the hash of its number. Scores are learned again from sums with
these weights, out of fold, for all draws in one pass; then calibration and matrix take one Newton step from the fit to
where these scores and weights would have them (`one_step`). Repeated, that spreads as the estimates would over other
samples. The label weights of the fit stay as they are. Intervals are symmetric on the scale of log-odds, as wide as
Student's t asks for.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, logit, stdtrit

from ..dataset import Rows
from ..dataset.folds import uniform
from ..dataset.tree import Array
from ..model.mislabel import Full, constant_rate
from ..robust.calibration import Calibration, Labels, label_counts, matrix_of, posterior
from ..robust.calibration_solver import Target, accelerate
from ..robust.label_weights import LabelWeights, Weighted
from ..robust.recalibration import adjust, pin_verified, recalibrate
from ..robust.sample import Drawn
from .judged import Judged
from .one_step import curvature, gradient, step

DRAWS = 25
# The pseudo-rows of the fit steady one estimate; among many they would only narrow the spread.
_PSEUDO_ROWS = 1.0
# A step goes no further, in logarithms: far from the fit its curvature says nothing.
_FARTHEST = 1.5
# More rows than these are sampled, and the spread is scaled: it falls with the root of their number.
_MOST_ROWS = 50_000
# As many scores of all draws together as fit into some memory.
_MOST_SCORES = 20_000_000
# Beyond this many classes, and for structures with constraints of their own, draws are fitted one by one.
_MOST_CLASSES = 150
_TOLERANCE = 1e-6
_LEAST = 1e-6
_FEWEST_VERIFIED = 10


class Interval(NamedTuple):
    estimate: Array  # numbers or arrays of one shape
    low: Array
    high: Array


class Intervals(NamedTuple):
    """Each with its low and high end."""

    level: float
    method: str
    mislabel_matrix: Interval  # (K, K)
    noise_rate: Interval
    wrong_by_label: Interval  # (K,) share of wrong labels among the rows with each label


class _Numbers(NamedTuple):
    matrix: Array  # (R, K, K)
    noise_rate: Array  # (R,)
    by_label: Array  # (R, K)


class Bootstrapped(NamedTuple):
    """Label weights times random weights of the rows, one for each draw."""

    weights: LabelWeights
    seed: int
    n_draws: int

    def __call__(self, rows: Rows) -> Weighted:
        label, weight = self.weights(rows)
        return Weighted(label, weight * self.factors(rows))

    def factors(self, rows: Rows) -> Array:
        """(n, R)"""
        draws = [uniform(self.seed + r, rows.number) for r in range(self.n_draws)]
        return np.asarray(-np.log(np.column_stack(draws)))


def intervals(judged: Judged, level: float, draws: int | None, seed: int) -> Intervals:
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, got {level!r}")
    draws = DRAWS if draws is None else draws
    if draws < 2:
        raise ValueError(f"draws must be at least 2, got {draws!r}")
    estimate = _numbers(judged.counts[None], matrix_of(judged.counts[None], _structure(judged)))
    drawn = _sample(judged, draws)
    bootstrap = Bootstrapped(_weights(judged), seed, draws)
    scores, relearned = _scores(judged, drawn, bootstrap)
    labels = Labels.of(drawn.rows)
    weighted = labels._replace(weight=labels.weight * bootstrap.factors(drawn.rows))
    spread, centre = _drawn_numbers(judged, drawn, scores, labels, weighted)
    n, m = judged.n_rows, drawn.rows.n_rows
    # what hardly any row speaks of varies by what is not in the sample: at least as much as one row more or less
    wrong = judged.counts.sum(axis=1) - np.diag(judged.counts)
    floors = _Numbers(*(1.0 / (expected + 1.0) for expected in (judged.counts, np.asarray(wrong.sum()), wrong)))
    ends = [
        _interval(one[0], values, middle[0], m / n, level, floor)
        for one, values, middle, floor in zip(estimate, spread, centre if m == n else estimate, floors, strict=True)
    ]
    what = "scores, calibration and matrix" if relearned else "calibration and matrix"
    return Intervals(level, f"weighted-likelihood bootstrap, {draws} draws, {what} recomputed", *ends)


def without_least(found: Intervals) -> Intervals:
    """Where labels that are all right could look the same: no mistake is certain."""
    matrix, by_label = found.mislabel_matrix, found.wrong_by_label
    own = np.eye(len(matrix.estimate), dtype=bool)
    widened = matrix._replace(low=np.where(own, matrix.low, 0.0), high=np.where(own, 1.0, matrix.high))
    rate = found.noise_rate._replace(low=np.zeros_like(found.noise_rate.low))
    return found._replace(
        mislabel_matrix=widened, noise_rate=rate, wrong_by_label=by_label._replace(low=np.zeros_like(by_label.low))
    )


def _structure(judged: Judged) -> Any:
    return Full(0.0) if judged.training is None else judged.training.found.problem.structure


def _weights(judged: Judged) -> Any:
    return None if judged.training is None else judged.training.found.last.weights


def _sample(judged: Judged, draws: int) -> Drawn:
    K = len(judged.classes)
    if judged.training is None:
        size = min(judged.n_rows, _MOST_ROWS)
        rows = judged.data.sample(size, 0)
        return Drawn(rows, np.arange(rows.n_rows))
    n_scores = judged.training.found.calibration.temperature.shape[1]
    return judged.sample.first(min(_MOST_ROWS, max(2_000, _MOST_SCORES // (draws * K * n_scores))))


def _scores(judged: Judged, drawn: Drawn, bootstrap: Bootstrapped) -> tuple[Array, bool]:
    """(B, n, R + 1, K): of every draw, and last those of the fit; and whether the draws learned their own."""
    if judged.training is None:
        own = judged.fitted.scorer.scores(drawn.rows)
        return np.repeat(own, bootstrap.n_draws + 1, axis=2), False
    found = judged.training.found
    source, learned = found.problem.source, found.last.learned
    own = learned.out_of_fold.scores(drawn.rows).astype(np.float64, copy=False)
    if not source.additive:
        return np.repeat(own, bootstrap.n_draws + 1, axis=2), False
    data = judged.sample.dataset(source.n_classes) if not judged.sample.is_all else judged.data
    again = source.learn(data, bootstrap, found.choice.model, found.last.number > 0)
    return np.concatenate([again.out_of_fold.scores(drawn.rows), own], axis=2), True


def _drawn_numbers(
    judged: Judged, drawn: Drawn, scores: Array, labels: Labels, weighted: Labels
) -> tuple[_Numbers, _Numbers]:
    """The numbers of every draw, and those of the rows as they are, by the same steps."""
    structure, K = _structure(judged), len(judged.classes)
    n, R = scores.shape[1], scores.shape[2] - 1
    weighted = weighted._replace(
        weight=np.concatenate([weighted.weight, np.broadcast_to(labels.weight, (n, 1))], axis=1)
    )
    if judged.training is None:
        calibration = _matrix_alone(judged, scores, weighted)
    elif isinstance(structure, Full) and K <= _MOST_CLASSES:
        calibration = _one_step(judged, scores, labels, weighted)
    else:
        calibration = _one_by_one(judged, scores, weighted)
    true = posterior(calibration, scores, weighted._replace(verified=None)).true
    true = _with_verified(judged, true, weighted)
    counts = label_counts(true, weighted)
    numbers = _numbers(counts, matrix_of(counts, structure, _PSEUDO_ROWS))
    return _Numbers(*(part[:R] for part in numbers)), _Numbers(*(part[R:] for part in numbers))


def _one_step(judged: Judged, scores: Array, labels: Labels, weighted: Labels) -> Calibration:
    assert judged.training is not None
    found = judged.training.found
    fit, penalty, R = found.calibration, found.choice.offsets.penalty, scores.shape[2] - 1
    start = accelerate(
        Target(scores[:, :, R:], labels, found.problem.structure, np.array([penalty]), found.problem.config), fit,
        _TOLERANCE, _PSEUDO_ROWS,
    )  # fmt: skip
    rate = float(np.trace(start.mislabel[0]) / len(start.mislabel[0]))
    pseudo = _PSEUDO_ROWS * constant_rate(len(judged.classes), rate)
    curve = curvature(start, scores[:, :, R:], labels, penalty, pseudo)
    repeated = start.take(np.zeros(R + 1, dtype=int))
    slope = gradient(repeated, scores, weighted, penalty, pseudo)
    corner, matrix = (np.clip(part, -_FARTHEST, _FARTHEST) for part in step(curve, slope))
    B = fit.temperature.shape[1]
    # a temperature steps on the scale of its logarithm, so that it stays positive
    relative = np.clip(corner[:, :B] / start.temperature, -_FARTHEST, _FARTHEST)
    mislabel = start.mislabel * np.exp(matrix)
    return repeated._replace(
        temperature=start.temperature * np.exp(relative),
        offset=start.offset + corner[:, B:],
        mislabel=mislabel / mislabel.sum(axis=1, keepdims=True),
    )


def _one_by_one(judged: Judged, scores: Array, weighted: Labels) -> Calibration:
    assert judged.training is not None
    found = judged.training.found
    penalty = np.array([found.choice.offsets.penalty])

    def fitted(r: int) -> Calibration:
        labels = weighted._replace(weight=weighted.weight[:, r : r + 1])
        target = Target(scores[:, :, r : r + 1], labels, found.problem.structure, penalty, found.problem.config)
        return accelerate(target, found.calibration, _TOLERANCE, _PSEUDO_ROWS)

    each = [fitted(r) for r in range(scores.shape[2])]
    return Calibration(*(np.concatenate(parts) for parts in zip(*each, strict=True)))


def _matrix_alone(judged: Judged, scores: Array, weighted: Labels) -> Calibration:
    """Only the matrix is open: the rows are new to the model."""
    calibration = judged.fitted.calibration.take(np.zeros(scores.shape[2], dtype=int))
    for _ in range(20):
        counts = label_counts(posterior(calibration, scores, weighted).true, weighted)
        calibration = calibration._replace(mislabel=matrix_of(counts, _structure(judged), _PSEUDO_ROWS))
    return calibration


def _with_verified(judged: Judged, true: Array, weighted: Labels) -> Array:
    """Posteriors (n, R, K) of all draws, each recalibrated by the verified rows as it weighs them, if some of these
    were drawn at random."""
    if weighted.verified is None or judged.training is None:
        return true
    observed, verified = weighted.observed, weighted.verified
    known = np.flatnonzero((verified >= 0) & (observed < true.shape[2]))
    each = []
    for r in range(true.shape[1]):
        one = true[:, r]
        if judged.checks is not None and len(known) >= _FEWEST_VERIFIED:
            wrong = (observed[known] != verified[known]).astype(float)
            found = recalibrate(1.0 - one[known, observed[known]], wrong, weighted.weight[known, r])
            one = adjust(one, observed, found)
        each.append(pin_verified(one, verified))
    return np.stack(each, axis=1)


def _numbers(counts: Array, matrix: Array) -> _Numbers:
    given = np.maximum(counts.sum(axis=2), 1e-300)
    right = np.diagonal(counts, axis1=1, axis2=2)
    return _Numbers(matrix, 1.0 - right.sum(axis=1) / given.sum(axis=1), 1.0 - right / given)


def _interval(estimate: Array, drawn: Array, centre: Array, share: float, level: float, floor: Array) -> Interval:
    """The published estimate lies inside, though it is steadied more than the draws are."""

    def log_odds(p: Array) -> Array:
        return np.asarray(logit(np.clip(p, _LEAST, 1 - _LEAST)))

    spread = np.sqrt(np.maximum(share * log_odds(drawn).var(axis=0, ddof=1), floor))
    # the spread is itself an estimate, from as many draws
    reach = stdtrit(len(drawn) - 1, 0.5 + level / 2) * spread
    low, high = expit(log_odds(centre) - reach), expit(log_odds(centre) + reach)
    return Interval(estimate, np.minimum(low, estimate), np.maximum(high, estimate))
