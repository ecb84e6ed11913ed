"""How sure the numbers are: the weighted-likelihood bootstrap.

Every row gets a random weight (exponential, mean 1), and what the data say is found again: scores from sums with these
weights, out of fold, then calibration and matrix. Repeated, that spreads as the estimates would over other samples.
What the fit believed of the labels stays as it is. A draw is one pass over the rows, because statistics are sums.
Intervals are symmetric on the scale of log-odds, as wide as Student's t asks for.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, logit
from scipy.stats import t as student

from .._threads import in_threads
from ..model.calibration import Calibration, Labels, estimate_matrix, label_counts, matrix_of, posterior
from ..model.climbing import leap
from ..model.folded import take_rows
from ..model.tree import Array
from ..model.verified import adjust, pin_verified, recalibration_from
from .judge import Judged

DRAWS = 50
# Where rows are so many, intervals are narrow, and need not be known to a tenth of their width.
_MANY_ROWS = 100_000
_DRAWS_OF_MANY = 25
# The ten pseudo-rows of the fit steady one estimate; among many they would only narrow the spread.
_PSEUDO_ROWS = 1.0
# A draw starts at the fit and has little way to go; it must go it to the end, or all draws would look alike.
_TOLERANCE = 1e-6
# More rows than these are sampled, and the spread is scaled: it falls with the root of their number.
_MOST_ROWS = 10_000
_LEAST = 1e-6


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
    matrix: Array
    noise_rate: Array  # ()
    by_label: Array  # (K,)


def intervals(judged: Judged, level: float, draws: int | None, rng: np.random.Generator) -> Intervals:
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, got {level!r}")
    n = judged.n_rows
    if draws is None:
        draws = DRAWS if n <= _MANY_ROWS else _DRAWS_OF_MANY
    if draws < 2:
        raise ValueError(f"draws must be at least 2, got {draws!r}")
    estimate = _numbers(judged.counts, matrix_of(judged.counts, judged.structure))
    rows = np.arange(n) if n <= _MOST_ROWS else np.sort(rng.choice(n, _MOST_ROWS, replace=False))
    weights = rng.standard_exponential((draws, len(rows)))
    some = _Some(rows, take_rows(judged.design, rows), judged.scores.take(rows))
    # what the sample says as it is: where draws of a sample start from, since they learn from it alone
    whole, settled = _draw(judged, some, np.ones(len(rows)), None)
    start = settled if len(rows) < n else None
    drawn = [one for one, _ in in_threads(lambda w: _draw(judged, some, w, start), weights, _threads(judged))]
    # what is learned from a sample alone is a little worse, and finds more labels wrong: only its spread is of use
    centre = estimate if len(rows) < n else whole
    shrink = np.sqrt(len(rows) / n)
    # what hardly any row speaks of varies by what is not in the sample: at least as much as one row more or less
    wrong = judged.counts.sum(axis=1) - np.diag(judged.counts)
    floors = _Numbers(*(1.0 / (expected + 1.0) for expected in (judged.counts, np.asarray(wrong.sum()), wrong)))
    ends = [
        _interval(one, [draw[number] for draw in drawn], centre[number], shrink, level, floors[number])
        for number, one in enumerate(estimate)
    ]
    relearned = judged.fits is not None and judged.fits.found.learner.additive
    what = "scores, calibration and matrix found anew" if relearned else "calibration and matrix found anew"
    return Intervals(level, f"weighted-likelihood bootstrap, {draws} draws, {what}", *ends)


def _threads(judged: Judged) -> int:
    return 1 if judged.fits is None else judged.fits.found.learner.n_threads


class _Some(NamedTuple):
    """The rows that are drawn from."""

    rows: Array
    design: Any
    scores: Array  # (1, m, K), weighed


def _draw(judged: Judged, some: _Some, factor: Array, start: Calibration | None) -> tuple[_Numbers, Calibration]:
    """`start`: of the calibration, if not that of the fit."""
    labels = judged.labels.take(some.rows)
    labels = labels._replace(weight=labels.weight * factor)
    if judged.fits is not None and judged.fits.found.learner.additive:
        scores, fitted = judged.fits.rescored(some.design, some.rows, labels.weight), judged.fits.found.calibration
    else:
        scores, fitted = some.scores, judged.calibration
    calibration = _settle(judged, scores, labels, start or fitted)
    true = posterior(calibration, scores, labels._replace(verified=None)).true
    if judged.fits is not None:
        true = adjust(true, labels.observed, recalibration_from(true, labels))
    true = pin_verified(true, labels.verified)
    counts = label_counts(true, labels)
    return _numbers(counts, matrix_of(counts, judged.structure, _PSEUDO_ROWS)), calibration


def _settle(judged: Judged, scores: Array, labels: Labels, start: Calibration) -> Calibration:
    if judged.fits is None:  # only the matrix is open: the rows are new to the model
        for _ in range(20):
            true = posterior(start, scores, labels).true
            start = start._replace(mislabel=estimate_matrix(true, labels, judged.structure, _PSEUDO_ROWS))
        return start
    penalty = judged.fits.found.choice.offsets.penalty
    return leap(scores, labels, judged.structure, penalty, start, _PSEUDO_ROWS, _TOLERANCE)


def _numbers(counts: Array, matrix: Array) -> _Numbers:
    given = np.maximum(counts.sum(axis=1), 1e-300)
    right = np.diag(counts)
    return _Numbers(matrix, np.asarray(1.0 - right.sum() / given.sum()), 1.0 - right / given)


def _interval(
    estimate: Array, drawn: list[Array], centre: Array, shrink: float, level: float, floor: Array
) -> Interval:
    """The published estimate lies inside, though it is steadied more than the draws are."""

    def log_odds(p: Array) -> Array:
        return np.asarray(logit(np.clip(p, _LEAST, 1 - _LEAST)))

    spread = np.sqrt(np.maximum(shrink**2 * log_odds(np.array(drawn)).var(axis=0, ddof=1), floor))
    # the spread is itself an estimate, from as many draws
    reach = student.ppf(0.5 + level / 2, len(drawn) - 1) * spread
    low, high = expit(log_odds(centre) - reach), expit(log_odds(centre) + reach)
    return Interval(estimate, np.minimum(low, estimate), np.maximum(high, estimate))
