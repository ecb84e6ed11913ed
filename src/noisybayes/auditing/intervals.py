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
from ..robust.calibration import Calibration, Labels, label_counts, matrix_of, posterior
from ..robust.calibration_solver import Target, accelerate
from ..robust.old_model.mislabel import Full
from ..robust.recalibration import adjust, pin_verified, recalibrate
from .bootstrap import MANY_ROWS, Bootstrapped, Draws, calibrations, can_relearn, make_draws
from .judged import Judged

# A standard deviation from 25 draws has an error of about 1/7, for which Student's t accounts.
DRAWS = 25
# With many rows, the number of draws that relearn the scores.
_RELEARNED_DRAWS = 6
# Maximum ratio, since few draws may overstate it by chance.
_MAX_INFLATION = 4.0
# The pseudo-rows of the fit stabilise one estimate; in the draws they would only narrow the spread.
_PSEUDO_ROWS = 1.0
# More rows than this are sampled, and the spread is scaled by the square root of their number.
_MAX_ROWS = 100_000
# Maximum number of scores of all draws together, to limit memory.
_MAX_SCORES = 20_000_000
# Fits are expensive, and Student's t accounts for the small number.
_FITTED_DRAWS = 8
# With more classes, and for structures with constraints, draws are fitted one by one.
_MAX_CLASSES = 150
# Nats per row: a draw starts at the fit, near its maximum.
_TOLERANCE = 1e-6
# A share is kept this far from 0 and 1, where log-odds are infinite.
_MIN_P = 1e-6
# With fewer verified labels, they say too little about the others, as in the fit.
_MIN_VERIFIED = 10


class Interval(NamedTuple):
    estimate: Array  # numbers, or arrays of the same shape
    low: Any  # None: unknown
    high: Any


class Intervals(NamedTuple):
    """Estimates with their lower and upper ends."""

    level: Any  # coverage; None: no intervals
    method: str
    mislabel_matrix: Interval  # (K, K)
    noise_rate: Interval
    wrong_by_label: Interval  # (K,) share of wrong labels among the rows with each label


class _Estimates(NamedTuple):
    matrix: Array  # (R, K, K)
    noise_rate: Array  # (R,)
    by_label: Array  # (R, K)


def intervals(judged: Judged, level: float, draws: int | None, seed: int) -> Intervals:
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, got {level!r}")
    if draws is None:
        draws = DRAWS if _uses_one_step(judged) or judged.training is None else _FITTED_DRAWS
    if draws < 2:
        raise ValueError(f"draws must be at least 2, got {draws!r}")
    estimate = _estimates(judged.counts[None], matrix_of(judged.counts[None], _structure(judged)))
    rows = _sample(judged, draws)
    n, m = judged.n_rows, rows.n_rows
    draw_estimates, inflation = _draw_estimates(judged, rows, Bootstrapped(_weights(judged), seed, draws))
    # entries with hardly any rows vary by at least one row more or less
    wrong = judged.counts.sum(axis=1) - np.diag(judged.counts)
    floors = _Estimates(*(1.0 / (expected + 1.0) for expected in (judged.counts, np.asarray(wrong.sum()), wrong)))
    # with many rows, with a sample or with other views, only the spread is known
    is_centred_on_draws = m == n < MANY_ROWS and judged.naive_bayes is None
    ends = [
        _interval(one[0], values[:-1], values[-1] if is_centred_on_draws else one[0], factor * m / n, level, floor)
        for one, values, factor, floor in zip(estimate, draw_estimates, inflation, floors, strict=True)
    ]
    recomputed = "scores, calibration and matrix" if can_relearn(judged) else "calibration and matrix"
    return Intervals(level, f"weighted-likelihood bootstrap, {draws} draws, {recomputed} recomputed", *ends)


def _draw_estimates(judged: Judged, rows: Rows, bootstrap: Bootstrapped) -> tuple[_Estimates, _Estimates]:
    """Statistics of every draw (the last has the original weights), and factors for their variances."""
    relearn, no_inflation = can_relearn(judged), _Estimates(*np.ones(3))
    if rows.n_rows < MANY_ROWS or not (relearn and _uses_one_step(judged)) or judged.has_verified:
        return _estimates_of_draws(judged, rows, bootstrap, relearn), no_inflation
    # many draws with the scores of the fit; a few relearn them, to show how much more they vary
    draw_estimates = _estimates_of_draws(judged, rows, bootstrap, False)
    few = bootstrap._replace(n_draws=min(_RELEARNED_DRAWS, bootstrap.n_draws))
    return draw_estimates, _inflation(draw_estimates, _estimates_of_draws(judged, rows, few, True))


def _inflation(kept_scores: _Estimates, relearned: _Estimates) -> _Estimates:
    """Ratio of the variances to those of draws that keep the scores, pooled over statistics of one kind."""

    def variances(values: Array, n_draws: int) -> Array:
        return np.asarray(_log_odds(values[:n_draws]).var(axis=0, ddof=1)).ravel() + 1e-12

    def pooled(kinds: tuple[str, ...]) -> Array:
        scale, kept_variance, own_variance = (
            np.concatenate([variances(getattr(of, kind), n_draws) for kind in kinds])
            for of, n_draws in ((kept_scores, n_all), (kept_scores, n_some), (relearned, n_some))
        )
        return np.asarray(np.clip((own_variance / scale).mean() / (kept_variance / scale).mean(), 1.0, _MAX_INFLATION))

    n_all, n_some = len(kept_scores.noise_rate) - 1, len(relearned.noise_rate) - 1
    by_label = pooled(("noise_rate", "by_label"))
    return _Estimates(pooled(("matrix",)), by_label, by_label)


def without_lower_ends(result: Intervals) -> Intervals:
    """If clean labels could look the same, no mistake is certain."""
    matrix, by_label = result.mislabel_matrix, result.wrong_by_label
    is_diagonal = np.eye(len(matrix.estimate), dtype=bool)
    widened = matrix._replace(low=np.where(is_diagonal, matrix.low, 0.0), high=np.where(is_diagonal, 1.0, matrix.high))
    rate = result.noise_rate._replace(low=np.zeros_like(result.noise_rate.low))
    return result._replace(
        mislabel_matrix=widened, noise_rate=rate, wrong_by_label=by_label._replace(low=np.zeros_like(by_label.low))
    )


def _structure(judged: Judged) -> Any:
    return Full(0.0) if judged.training is None else judged.training.robust_fit.problem.structure


def _weights(judged: Judged) -> Any:
    return None if judged.training is None else judged.training.robust_fit.last.weights


def _sample(judged: Judged, draws: int) -> Rows:
    K = len(judged.classes)
    if judged.training is None:
        return judged.data.sample(min(judged.n_rows, _MAX_ROWS), 0)
    n_scores = judged.training.robust_fit.calibration.temperature.shape[1]
    max_rows = min(_MAX_ROWS, max(2_000, _MAX_SCORES // (draws * K * n_scores)))
    return judged.sample.first(max_rows).rows


def _uses_one_step(judged: Judged) -> bool:
    few_classes = len(judged.classes) <= _MAX_CLASSES
    return judged.training is not None and isinstance(_structure(judged), Full) and few_classes


def _estimates_of_draws(judged: Judged, rows: Rows, bootstrap: Bootstrapped, relearn: bool) -> _Estimates:
    counts = _counts_of_draws(judged, make_draws(judged, rows, bootstrap, relearn))
    return _estimates(counts, matrix_of(counts, _structure(judged), _PSEUDO_ROWS))


def _counts_of_draws(judged: Judged, draws: Draws) -> Array:
    """(R + 1, K, K): posterior weight by observed and true label for every draw; the last has the original weights."""
    if _uses_one_step(judged):
        start, calibration = calibrations(judged, draws, _PSEUDO_ROWS)
        if not judged.has_verified:
            return np.maximum(draws.sums(calibration, start).counts, 0.0)
    else:
        fitted = _fit_matrix_only if judged.training is None else _fit_each_draw
        calibration = fitted(judged, draws)
    weighted = draws.weighted_labels
    true = posterior(calibration, draws.scores, weighted._replace(verified=None)).true
    return label_counts(_with_verified(judged, true, weighted), weighted)


def _fit_each_draw(judged: Judged, draws: Draws) -> Calibration:
    assert judged.training is not None
    robust_fit, scores, weighted = judged.training.robust_fit, draws.scores, draws.weighted_labels
    problem, penalty = robust_fit.problem, np.array([robust_fit.choice.offsets.penalty])

    def fitted(r: int) -> Calibration:
        labels = weighted._replace(weight=weighted.weight[:, r : r + 1])
        target = Target(scores[:, :, r : r + 1], labels, problem.structure, penalty, problem.config)
        return accelerate(target, robust_fit.calibration, _TOLERANCE, _PSEUDO_ROWS)

    fits = [fitted(r) for r in range(scores.shape[2])]
    return Calibration(*(np.concatenate(parts) for parts in zip(*fits, strict=True)))


def _fit_matrix_only(judged: Judged, draws: Draws) -> Calibration:
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
    posteriors = []
    for r in range(true.shape[1]):
        true_r = true[:, r]
        if judged.checks is not None and len(known) >= _MIN_VERIFIED:
            wrong = (observed[known] != verified[known]).astype(float)
            recalibration = recalibrate(1.0 - true_r[known, observed[known]], wrong, weighted.weight[known, r])
            true_r = adjust(true_r, observed, recalibration)
        posteriors.append(pin_verified(true_r, verified))
    return np.stack(posteriors, axis=1)


def _estimates(counts: Array, matrix: Array) -> _Estimates:
    given = np.maximum(counts.sum(axis=2), 1e-300)
    right = np.diagonal(counts, axis1=1, axis2=2)
    return _Estimates(matrix, 1.0 - right.sum(axis=1) / given.sum(axis=1), 1.0 - right / given)


def _log_odds(p: Array) -> Array:
    return np.asarray(logit(np.clip(p, _MIN_P, 1 - _MIN_P)))


def _interval(estimate: Array, draws: Array, centre: Array, factor: Array, level: float, floor: Array) -> Interval:
    """Extend the interval to include the reported estimate, which is more regularised than the draws."""
    spread = np.sqrt(np.maximum(factor * _log_odds(draws).var(axis=0, ddof=1), floor))
    # the spread is itself an estimate from this many draws
    half_width = stdtrit(len(draws) - 1, 0.5 + level / 2) * spread
    low, high = expit(_log_odds(centre) - half_width), expit(_log_odds(centre) + half_width)
    return Interval(estimate, np.minimum(low, estimate), np.maximum(high, estimate))
