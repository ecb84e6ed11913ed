"""What wrong labels cost: the paper's difference in accuracy, estimated without knowing the truth.

    delta = ACC - ACC*,  ACC: naive Bayes of the labels as given,  ACC*: naive Bayes of the right labels

True labels are drawn from their posteriors; naive Bayes is learned from them and from the labels as given, both out of
fold, and both are measured against the drawn labels.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from ..dataset import Rows
from ..dataset.folds import uniform
from ..dataset.tree import Array
from ..robust.calibration import Calibration, Labels, posterior
from ..robust.fit import RobustFit
from ..robust.label_weights import Given, Reweighted
from ..robust.recalibration import Recalibration, adjust, pin_verified
from ..robust.selection import base_of, calibrated
from .judged import Judged

# Each draw costs two passes; their differences are small against the spread over rows.
_DRAWS = 3
# Draws differ by less than a tenth of a point of accuracy where rows are so many, and one is enough.
_MANY_ROWS = 200_000


class Impact(NamedTuple):
    accuracy: float  # of the fitted model
    as_given: float  # of naive Bayes of the labels as given: ACC
    if_right: float  # of naive Bayes of the right labels: ACC*
    delta: float  # ACC - ACC*
    low: float
    high: float


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
        alone = posterior(self.fitted.calibration, self.fitted.scorer.scores(rows), labels).true[:, 0]
        return pin_verified(adjust(alone, rows.observed, self.recalibration), rows.verified)

    def draw(self, rows: Rows, true: Array) -> Array:
        edges = np.cumsum(true, axis=1)
        return np.asarray((uniform(self.seed, rows.number)[:, None] * edges[:, -1:] > edges).sum(axis=1))


def impact(judged: Judged, level: float, seed: int) -> Impact | None:
    """None where scores cannot be learned again cheaply: rows that are new, or a classifier of another kind."""
    if judged.training is None or not judged.training.found.problem.source.additive:
        return None
    found = judged.training.found
    draws = [_draw(judged, found, seed + i) for i in range(_DRAWS if judged.n_rows <= _MANY_ROWS else 1)]
    accuracy, given, right, differ = np.array(draws).T
    means = given - right
    within = (differ - means**2) / judged.n_rows  # the gain of a row is -1, 0 or 1
    between = means.var(ddof=1) if len(means) > 1 else 0.0
    reach = float(ndtri(0.5 + level / 2) * np.sqrt(within.mean() + between))
    delta = float(means.mean())
    return Impact(float(accuracy.mean()), float(given.mean()), float(right.mean()), delta, delta - reach, delta + reach)


def _draw(judged: Judged, found: RobustFit, seed: int) -> Array:
    """Shares of rows: expected to be right by the fit, right by the labels as given, by the drawn ones, and of which
    the last two differ."""
    problem, choice = found.problem, found.choice
    drawn_labels = DrawnLabels(judged.fitted, judged.posterior.recalibration, seed)
    learned = problem.source.learn(judged.data, Given(drawn_labels), choice.model, False)
    drawn = judged.sample.first(problem.config.newton_rows)
    labeled = drawn._replace(rows=drawn.rows._replace(observed=drawn_labels(drawn.rows)[:, 0], verified=None))
    base, penalty = base_of(choice.offsets, learned.shares, 1), np.array([choice.offsets.penalty])
    calibration = calibrated(problem, labeled, learned.out_of_fold.scores(drawn.rows), base, penalty)
    if_right = Reweighted(learned.combined(calibration.temperature[0]), calibration.of_combined)
    fn = partial(_shares, drawn_labels=drawn_labels, as_given=found.as_given, if_right=if_right)
    *shares, weight = judged.data.map_sum(fn)
    return np.asarray(np.array(shares) / weight)


def _shares(rows: Rows, drawn_labels: DrawnLabels, as_given: Reweighted, if_right: Reweighted) -> Array:
    true = drawn_labels.posterior(rows)
    label = drawn_labels.draw(rows, true)
    ours = _predicted(drawn_labels.fitted.calibration, drawn_labels.fitted, rows)
    given, right = (_predicted(each.calibration, each, rows) == label for each in (as_given, if_right))
    weight = np.ones(rows.n_rows) if rows.weight is None else rows.weight
    values = (true[np.arange(len(true)), ours], given, right, given != right, np.ones(len(true)))
    return np.array([value @ weight for value in values])


def _predicted(calibration: Calibration, fitted: Reweighted, rows: Rows) -> Array:
    return np.asarray(calibration.log_joint(fitted.scorer.scores(rows))[:, 0].argmax(axis=1))
