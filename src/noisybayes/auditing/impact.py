"""What wrong labels cost: the paper's difference in accuracy, estimated without knowing the truth.

    delta = ACC - ACC*,  ACC: naive Bayes on the given labels,  ACC*: naive Bayes on the right labels

Binary features are simulated (`simulated_impact`). For other features, true labels are drawn from their posteriors;
naive Bayes is trained on them and on the given labels, both out of fold, and both are measured against the drawn
labels. That is circular if the posteriors are vague, so no cost is reported then.

The accuracies come from out-of-fold predictions: if C[y, p] counts given labels and predictions, and M is the
mislabeling matrix, then C = M J for the counts J of true labels and predictions, if mistakes do not depend on the row.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from .._shares import whole_percent
from ..dataset import Rows
from ..dataset.folds import uniform
from ..dataset.tree import Array
from ..model.families import Bernoulli
from ..robust.calibration import Calibration, Labels, posterior
from ..robust.fit import RobustFit
from ..robust.label_weights import FromFunction, Reweighted
from ..robust.recalibration import Recalibration, adjust, pin_verified
from ..robust.selection import calibrate_sample, offset_base
from .intervals import Interval
from .judged import Judged
from .simulated_impact import simulated_impact

# Each draw takes two passes; draws differ little compared with the spread over rows.
_DRAWS = 3
# With this many rows, draws differ by less than 0.2 points of accuracy, and one is enough.
_MANY_ROWS = 20_000


# If a larger share of the drawn labels may be wrong, naive Bayes on them differs from that on the right ones.
_MAX_UNCERTAINTY = 0.15
# Rows used to estimate that share.
_UNCERTAINTY_ROWS = 10_000
# Of a wider interval, only the ends are reported. It must be reported: if most intervals are wide, the few narrow ones
# are narrow by chance and on their own cover the truth too rarely (weak features: 53 % of those up to 0.2, 96 % of
# all).
_WIDE_INTERVAL = 0.15
# The uncertainty of the parameters, which the draws do not include: a factor and a minimum standard deviation.
_SPREAD_FACTOR, _MODEL_ERROR = 1.7 / 1.645, 0.01


class Impact(NamedTuple):
    accuracy: float  # of the fitted model
    as_given: float  # of naive Bayes on the given labels: ACC
    if_right: float  # of naive Bayes on the right labels: ACC*
    delta: float  # ACC - ACC*
    low: float
    high: float

    @property
    def is_wide(self) -> bool:
        """Whether the interval of `delta` is too wide for its midpoint to mean anything."""
        return self.high - self.low > _WIDE_INTERVAL


class DrawnLabels(NamedTuple):
    """A true label for each row, drawn from its posterior by the hash of its number."""

    fitted: Reweighted
    recalibration: Recalibration
    seed: int

    def __call__(self, rows: Rows) -> Array:
        return self.draw(rows, self.posterior(rows))[:, None]

    def posterior(self, rows: Rows) -> Array:
        """(n, K)"""
        labels = Labels.of(rows)._replace(verified=None)
        unverified = posterior(self.fitted.calibration, self.fitted.scorer.scores(rows), labels).true[:, 0]
        return pin_verified(adjust(unverified, rows.observed, self.recalibration), rows.verified)

    def draw(self, rows: Rows, true: Array) -> Array:
        edges = np.cumsum(true, axis=1)
        return np.asarray((uniform(self.seed, rows.number)[:, None] * edges[:, -1:] > edges).sum(axis=1))


def impact(judged: Judged, matrix: Interval, level: float, seed: int) -> tuple[Impact | None, str]:
    """The cost of mistakes, or None and the reason why it cannot be estimated. matrix : (K, K) with its interval"""
    if judged.training is None:
        return None, "the rows were not part of a robust fit"
    robust_fit = judged.training.robust_fit
    if not robust_fit.problem.source.additive:
        return None, "this classifier takes too long to refit many times"
    if not isinstance(robust_fit.problem.source.family, Bernoulli):
        uncertainty = float(np.mean(1.0 - judged.true(judged.some_rows(_UNCERTAINTY_ROWS)).max(axis=1)))
        if uncertainty > _MAX_UNCERTAINTY:
            share = whole_percent(uncertainty)
            return None, f"true labels are too uncertain: {share} of the most probable ones may be wrong"
        return _by_drawn_labels(judged, robust_fit, level, seed), ""
    delta, low, high = simulated_impact(judged, matrix, level, seed)
    accuracy, given = _accuracies(judged, robust_fit, matrix.estimate)
    return Impact(accuracy, given, float(np.clip(given - delta, 0.0, 1.0)), delta, low, high), ""


def _accuracies(judged: Judged, robust_fit: RobustFit, matrix: Array) -> tuple[float, float]:
    """Accuracy of the fit, and of naive Bayes on the given labels."""
    counts = judged.data.map_sum(partial(_confusion, fits=(judged.fitted, robust_fit.as_given)))
    of_fit, given = (true_accuracy_of(each, matrix) for each in counts)
    return of_fit, given


def true_accuracy_of(counts: Array, matrix: Array) -> float:
    """Accuracy against true labels, from counts (K, K) by given label and prediction."""
    joint = np.linalg.lstsq(matrix, counts, rcond=1e-3)[0]
    return float(np.clip(np.trace(joint) / max(counts.sum(), 1e-300), 0.0, 1.0))


def _confusion(rows: Rows, fits: tuple[Reweighted, ...]) -> Array:
    K = fits[0].calibration.offset.shape[1]
    there = np.flatnonzero(rows.observed < K)
    weight = np.ones(len(there)) if rows.weight is None else rows.weight[there]
    counts = np.zeros((len(fits), K, K))
    for i, each in enumerate(fits):
        np.add.at(counts[i], (rows.observed[there], _predicted(each.calibration, each, rows)[there]), weight)
    return counts


def _by_drawn_labels(judged: Judged, robust_fit: RobustFit, level: float, seed: int) -> Impact:
    draws = [_draw(judged, robust_fit, seed + i) for i in range(_DRAWS if judged.n_rows <= _MANY_ROWS else 1)]
    accuracy, given, right, differ = np.array(draws).T
    means = given - right
    within = (differ - means**2) / judged.n_rows  # the gain of a row is -1, 0 or 1
    between = means.var(ddof=1) if len(means) > 1 else 0.0
    half_width = float(_SPREAD_FACTOR * ndtri(0.5 + level / 2) * np.sqrt(within.mean() + between + _MODEL_ERROR**2))
    delta = float(means.mean())
    of_fit, as_given, if_right = (float(values.mean()) for values in (accuracy, given, right))
    return Impact(of_fit, as_given, if_right, delta, delta - half_width, delta + half_width)


def _draw(judged: Judged, robust_fit: RobustFit, seed: int) -> Array:
    """Shares of rows that are right: expected under the fit, by naive Bayes on the given labels, by naive Bayes on the
    drawn labels; and the share on which the last two differ."""
    choice = robust_fit.choice
    problem = replace(robust_fit.problem, config=choice.adjusted(robust_fit.problem.config))
    drawn_labels = DrawnLabels(judged.fitted, judged.posterior.recalibration, seed)
    learned = problem.source.learn(judged.data, FromFunction(drawn_labels), choice.model, False)
    sampled = judged.sample.first(problem.config.newton_rows)
    labeled = sampled._replace(rows=sampled.rows._replace(observed=drawn_labels(sampled.rows)[:, 0], verified=None))
    base, penalty = offset_base(choice.offsets, learned.shares, 1), np.array([choice.offsets.penalty])
    calibration = calibrate_sample(problem, labeled, learned.out_of_fold.scores(sampled.rows), base, penalty)
    if_right = Reweighted(learned.combined(calibration.temperature[0]), calibration.of_combined)
    fn = partial(_block_shares, drawn_labels=drawn_labels, as_given=robust_fit.as_given, if_right=if_right)
    *shares, weight = judged.data.map_sum(fn)
    return np.asarray(np.array(shares) / weight)


def _block_shares(rows: Rows, drawn_labels: DrawnLabels, as_given: Reweighted, if_right: Reweighted) -> Array:
    true = drawn_labels.posterior(rows)
    label = drawn_labels.draw(rows, true)
    predicted = _predicted(drawn_labels.fitted.calibration, drawn_labels.fitted, rows)
    given, right = (_predicted(each.calibration, each, rows) == label for each in (as_given, if_right))
    weight = np.ones(rows.n_rows) if rows.weight is None else rows.weight
    values = (true[np.arange(len(true)), predicted], given, right, given != right, np.ones(len(true)))
    return np.array([value @ weight for value in values])


def _predicted(calibration: Calibration, fitted: Reweighted, rows: Rows) -> Array:
    return np.asarray(calibration.log_joint(fitted.scorer.scores(rows))[:, 0].argmax(axis=1))
