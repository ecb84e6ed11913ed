"""Intervals by a one-step weighted-likelihood bootstrap.

Every draw of `bootstrap` gives the rows random weights, relearns the scores and takes a Newton step from the fit. The
spread of the draws is that of the estimates over other samples. The label weights of the fit are kept. Intervals are
symmetric on the log-odds scale, with the width given by Student's t.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, logit, stdtrit

from ..dataset import Rows
from ..dataset.tree import Array
from ..model.mislabel import Full
from ..robust.calibration import Calibration, Labels, label_counts, matrix_of, posterior
from ..robust.calibration_solver import Target, accelerate
from ..robust.recalibration import adjust, pin_verified, recalibrate
from .bootstrap import MANY_ROWS, Bootstrapped, Draws, calibrations, can_relearn, draws_of
from .judged import Judged

# A standard deviation from 25 draws has an error of about 1/7, for which Student's t accounts.
DRAWS = 25
# With many rows, the number of draws that relearn the scores.
_RELEARNED_DRAWS = 6
# Maximum ratio, since few draws may overstate it by chance.
_MOST_INFLATION = 4.0
# The pseudo-rows of the fit stabilise one estimate; in the draws they would only narrow the spread.
_PSEUDO_ROWS = 1.0
# More rows than this are sampled, and the spread is scaled by the square root of their number.
_MOST_ROWS = 100_000
# Maximum number of scores of all draws together, to limit memory.
_MOST_SCORES = 20_000_000
# Fits are expensive, and Student's t accounts for the small number.
_DRAWS_ONE_BY_ONE = 8
# With more classes, and for structures with constraints, draws are fitted one by one.
_MOST_CLASSES = 150
# Nats per row: a draw starts at the fit, near its maximum.
_TOLERANCE = 1e-6
# A share is kept this far from 0 and 1, where log-odds are infinite.
_LEAST = 1e-6
# With fewer verified labels, they say too little about the others, as in the fit.
_FEWEST_VERIFIED = 10


class Interval(NamedTuple):
    estimate: Array  # numbers, or arrays of the same shape
    low: Array
    high: Array


class Intervals(NamedTuple):
    """Estimates with their lower and upper ends."""

    level: float
    method: str
    mislabel_matrix: Interval  # (K, K)
    noise_rate: Interval
    wrong_by_label: Interval  # (K,) share of wrong labels among the rows with each label


class _Numbers(NamedTuple):
    matrix: Array  # (R, K, K)
    noise_rate: Array  # (R,)
    by_label: Array  # (R, K)


def intervals(judged: Judged, level: float, draws: int | None, seed: int) -> Intervals:
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, got {level!r}")
    if draws is None:
        draws = DRAWS if _in_one_step(judged) or judged.training is None else _DRAWS_ONE_BY_ONE
    if draws < 2:
        raise ValueError(f"draws must be at least 2, got {draws!r}")
    estimate = _numbers(judged.counts[None], matrix_of(judged.counts[None], _structure(judged)))
    rows = _sample(judged, draws)
    n, m = judged.n_rows, rows.n_rows
    numbers, inflation = _drawn(judged, rows, Bootstrapped(_weights(judged), seed, draws))
    # entries with hardly any rows vary by at least one row more or less
    wrong = judged.counts.sum(axis=1) - np.diag(judged.counts)
    floors = _Numbers(*(1.0 / (expected + 1.0) for expected in (judged.counts, np.asarray(wrong.sum()), wrong)))
    # with many rows, with a sample or with other views, only the spread is known
    own_centre = m == n < MANY_ROWS and judged.naive_bayes is None
    ends = [
        _interval(one[0], values[:-1], values[-1] if own_centre else one[0], factor * m / n, level, floor)
        for one, values, factor, floor in zip(estimate, numbers, inflation, floors, strict=True)
    ]
    what = "scores, calibration and matrix" if can_relearn(judged) else "calibration and matrix"
    return Intervals(level, f"weighted-likelihood bootstrap, {draws} draws, {what} recomputed", *ends)


def _drawn(judged: Judged, rows: Rows, bootstrap: Bootstrapped) -> tuple[_Numbers, _Numbers]:
    """Statistics of every draw (the last has the original weights), and factors for their variances."""
    relearn, none = can_relearn(judged), _Numbers(*np.ones(3))
    if rows.n_rows < MANY_ROWS or not (relearn and _in_one_step(judged)) or judged.has_verified:
        return _numbers_of_draws(judged, rows, bootstrap, relearn), none
    # many draws with the scores of the fit; a few relearn them, to show how much more they vary
    numbers = _numbers_of_draws(judged, rows, bootstrap, False)
    some = bootstrap._replace(n_draws=min(_RELEARNED_DRAWS, bootstrap.n_draws))
    return numbers, _inflation(numbers, _numbers_of_draws(judged, rows, some, True))


def _inflation(numbers: _Numbers, relearned: _Numbers) -> _Numbers:
    """Ratio of the variances to those of draws that keep the scores, pooled over statistics of one kind."""

    def variances(values: Array, n_draws: int) -> Array:
        return np.asarray(_log_odds(values[:n_draws]).var(axis=0, ddof=1)).ravel() + 1e-12

    def pooled(kinds: tuple[str, ...]) -> Array:
        scale, kept, own = (
            np.concatenate([variances(getattr(of, kind), n_draws) for kind in kinds])
            for of, n_draws in ((numbers, n_all), (numbers, n_some), (relearned, n_some))
        )
        return np.asarray(np.clip((own / scale).mean() / (kept / scale).mean(), 1.0, _MOST_INFLATION))

    n_all, n_some = len(numbers.noise_rate) - 1, len(relearned.noise_rate) - 1
    by_label = pooled(("noise_rate", "by_label"))
    return _Numbers(pooled(("matrix",)), by_label, by_label)


def without_least(found: Intervals) -> Intervals:
    """If clean labels could look the same, no mistake is certain."""
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


def _sample(judged: Judged, draws: int) -> Rows:
    K = len(judged.classes)
    if judged.training is None:
        return judged.data.sample(min(judged.n_rows, _MOST_ROWS), 0)
    n_scores = judged.training.found.calibration.temperature.shape[1]
    most = min(_MOST_ROWS, max(2_000, _MOST_SCORES // (draws * K * n_scores)))
    return judged.sample.first(most).rows


def _in_one_step(judged: Judged) -> bool:
    few_classes = len(judged.classes) <= _MOST_CLASSES
    return judged.training is not None and isinstance(_structure(judged), Full) and few_classes


def _numbers_of_draws(judged: Judged, rows: Rows, bootstrap: Bootstrapped, relearn: bool) -> _Numbers:
    counts = _counts_of_draws(judged, draws_of(judged, rows, bootstrap, relearn))
    return _numbers(counts, matrix_of(counts, _structure(judged), _PSEUDO_ROWS))


def _counts_of_draws(judged: Judged, draws: Draws) -> Array:
    """(R + 1, K, K): posterior weight by observed and true label for every draw; the last has the original weights."""
    if _in_one_step(judged):
        start, calibration = calibrations(judged, draws, _PSEUDO_ROWS)
        if not judged.has_verified:
            return np.maximum(draws.sums(calibration, start).counts, 0.0)
    else:
        fitted = _matrix_alone if judged.training is None else _one_by_one
        calibration = fitted(judged, draws)
    weighted = draws.weighted_labels
    true = posterior(calibration, draws.scores, weighted._replace(verified=None)).true
    return label_counts(_with_verified(judged, true, weighted), weighted)


def _one_by_one(judged: Judged, draws: Draws) -> Calibration:
    assert judged.training is not None
    found, scores, weighted = judged.training.found, draws.scores, draws.weighted_labels
    penalty = np.array([found.choice.offsets.penalty])

    def fitted(r: int) -> Calibration:
        labels = weighted._replace(weight=weighted.weight[:, r : r + 1])
        target = Target(scores[:, :, r : r + 1], labels, found.problem.structure, penalty, found.problem.config)
        return accelerate(target, found.calibration, _TOLERANCE, _PSEUDO_ROWS)

    each = [fitted(r) for r in range(scores.shape[2])]
    return Calibration(*(np.concatenate(parts) for parts in zip(*each, strict=True)))


def _matrix_alone(judged: Judged, draws: Draws) -> Calibration:
    """Only the matrix is fitted: the rows are new to the model."""
    scores, weighted = draws.scores, draws.weighted_labels
    calibration = judged.fitted.calibration.take(np.zeros(scores.shape[2], dtype=int))
    for _ in range(20):
        counts = label_counts(posterior(calibration, scores, weighted).true, weighted)
        calibration = calibration._replace(mislabel=matrix_of(counts, _structure(judged), _PSEUDO_ROWS))
    return calibration


def _with_verified(judged: Judged, true: Array, weighted: Labels) -> Array:
    """Posteriors (n, R, K) of all draws, each recalibrated by the verified rows with its weights, if some of them were
    drawn at random."""
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


def _log_odds(p: Array) -> Array:
    return np.asarray(logit(np.clip(p, _LEAST, 1 - _LEAST)))


def _interval(estimate: Array, drawn: Array, centre: Array, factor: Array, level: float, floor: Array) -> Interval:
    """Extend the interval to include the reported estimate, which is more regularised than the draws."""
    spread = np.sqrt(np.maximum(factor * _log_odds(drawn).var(axis=0, ddof=1), floor))
    # the spread is itself an estimate from this many draws
    reach = stdtrit(len(drawn) - 1, 0.5 + level / 2) * spread
    low, high = expit(_log_odds(centre) - reach), expit(_log_odds(centre) + reach)
    return Interval(estimate, np.minimum(low, estimate), np.maximum(high, estimate))
