"""What wrong labels cost: the paper's difference in accuracy, estimated without knowing the truth.

    delta = ACC - ACC*,  ACC: naive Bayes of the labels as given,  ACC*: naive Bayes of the right labels

True labels are drawn from their posteriors; naive Bayes is learned from them and from the labels as given, both out of
fold, and both are measured against the drawn labels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import norm

from ..model.calibration import calibrate
from ..model.tree import Array
from .judge import Judged

_DRAWS = 3


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
    n = len(judged.true)
    weight = judged.labels.weight / judged.labels.weight.sum()
    ours = fits.found.calibration.log_joint(judged.scores).argmax(axis=1)
    as_given = fits.found.out_of_fold
    gains, right_of_given, right_of_right = [], [], []
    for _ in range(_DRAWS):
        drawn = _sample(judged.true, rng)
        if_right = _predicted(judged, drawn, rng)
        gains.append((as_given == drawn).astype(float) - (if_right == drawn))
        right_of_given.append((as_given == drawn) @ weight)
        right_of_right.append((if_right == drawn) @ weight)
    means = np.array([gain @ weight for gain in gains])
    within = np.mean([((gain - mean) ** 2) @ weight / n for gain, mean in zip(gains, means, strict=True)])
    reach = float(norm.ppf(0.5 + level / 2) * np.sqrt(within + means.var(ddof=1)))
    delta = float(means.mean())
    return Impact(
        float(judged.true[np.arange(n), ours] @ weight),
        float(np.mean(right_of_given)),
        float(np.mean(right_of_right)),
        delta,
        delta - reach,
        delta + reach,
    )


def _predicted(judged: Judged, label: Array, rng: np.random.Generator) -> Array:
    """(n,) classes by naive Bayes that was learned from `label`, calibrated as that of the labels as given was."""
    fits = judged.fits
    assert fits is not None
    choice = fits.found.choice
    scores = fits.relearned(judged.design, label)
    K = scores.shape[2]
    share = np.bincount(label, weights=judged.labels.weight, minlength=K)
    base = np.log((share + 1.0) / (share.sum() + K)) if choice.variant.shares else np.zeros(K)
    labels = judged.labels._replace(observed=label, verified=None)
    calibration, _ = calibrate(scores, labels, judged.structure, choice.penalty, base, None, rng)
    return np.asarray(calibration.log_joint(scores).argmax(axis=1))


def _sample(true: Array, rng: np.random.Generator) -> Array:
    """One class of each row, drawn from its posterior."""
    edges = np.cumsum(true, axis=1)
    return np.asarray((rng.random(len(true))[:, None] * edges[:, -1:] > edges).sum(axis=1))
