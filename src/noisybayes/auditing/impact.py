"""What wrong labels cost: the paper's difference in accuracy, estimated without knowing the truth.

    delta = ACC - ACC*,  ACC: naive Bayes of the labels as given,  ACC*: naive Bayes of the right labels

True labels are drawn from their posteriors; naive Bayes is learned from them and from the labels as given, both out of
fold, and both are measured against the drawn labels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm

from ..model.calibration import Scores, total
from ..model.climbing import calibrate
from ..model.folded import gathered_rows
from ..model.tree import Array
from .judge import Judged

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


def impact(judged: Judged, level: float, rng: np.random.Generator) -> Impact | None:
    """None where scores cannot be learned anew cheaply: rows that are new, or a classifier of another kind."""
    fits = judged.fits
    if fits is None or not fits.found.learner.additive:
        return None
    n = judged.n_rows
    weight = judged.labels.weight / judged.labels.weight.sum()
    as_given = fits.found.out_of_fold
    right_of_given, right_of_right, within = [], [], []
    for _ in range(_DRAWS if n <= _MANY_ROWS else 1):
        drawn = _sample(judged, rng.random(n))
        given, right = as_given == drawn, _predicted(judged, drawn, rng) == drawn
        right_of_given.append(given @ weight)
        right_of_right.append(right @ weight)
        # the gain of a row is -1, 0 or 1
        within.append(((given != right) @ weight - (right_of_given[-1] - right_of_right[-1]) ** 2) / n)
    means = np.array(right_of_given) - np.array(right_of_right)
    between = means.var(ddof=1) if len(means) > 1 else 0.0
    reach = float(norm.ppf(0.5 + level / 2) * np.sqrt(np.mean(within) + between))
    delta = float(means.mean())
    return Impact(
        _accuracy(judged, weight),
        float(np.mean(right_of_given)),
        float(np.mean(right_of_right)),
        delta,
        delta - reach,
        delta + reach,
    )


def _accuracy(judged: Judged, weight: Array) -> float:
    """Expected accuracy of the fitted model from the features alone."""

    def right(rows: Any, scores: Array) -> Array:
        ours = judged.calibration.log_joint(scores).argmax(axis=1)
        return np.array([judged.true(rows, scores)[np.arange(len(ours)), ours] @ weight[rows]])

    return float(total(judged.scores.map(right))[0])


def _predicted(judged: Judged, label: Array, rng: np.random.Generator) -> Array:
    """(n,) classes by naive Bayes that was learned from `label`, calibrated as that of the labels as given was."""
    fits, folded = judged.fits, judged.folded
    assert fits is not None
    assert folded is not None
    choice = fits.found.choice
    scores = fits.relearned(folded, label)
    K = len(judged.classes)
    share = np.bincount(label, weights=judged.labels.weight, minlength=K)
    base = np.log((share + 1.0) / (share.sum() + K)) if choice.offsets.from_shares else np.zeros(K)
    labels = judged.labels._replace(observed=label, verified=None)
    calibration = calibrate(scores, labels, judged.structure, choice.offsets.penalty, base, None, rng, fine=False)
    weighed = scores.weighed(calibration.temperature)
    return _by_rows(judged, weighed, lambda rows, some: calibration.of_weighed.log_joint(some).argmax(axis=1))


def _sample(judged: Judged, uniform: Array) -> Array:
    """One class of each row, drawn from its posterior by a number between 0 and 1."""

    def draw(rows: Any, scores: Array) -> Array:
        edges = np.cumsum(judged.true(rows, scores), axis=1)
        return np.asarray((uniform[rows][:, None] * edges[:, -1:] > edges).sum(axis=1))

    return _by_rows(judged, judged.scores, draw)


def _by_rows(judged: Judged, scores: Scores, fn: Callable[[Any, Array], Array]) -> Array:
    """(n,) class codes from fn(rows, scores)."""
    small = np.min_scalar_type(len(judged.classes))
    return gathered_rows(judged.n_rows, scores.map(lambda rows, some: (fn(rows, some).astype(small),)))[0]
