"""Verified labels put P(wrong) right.

Where mistakes sit on ambiguous rows, no model of (features, label) alone can know how many there are; some verified
rows can tell. P(wrong) is recalibrated as a function of itself: logit P'(wrong) = intercept + slope * logit P(wrong).
Given its score, whether a row is wrong does not depend on why it was looked at, so that rows from the top of a list
serve too; but they say little of the rows far below, and more of them are needed than of rows drawn at random.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from ..dataset import Dataset, Rows
from ..dataset.tree import Array, Pieces
from .calibration import Labels, posterior
from .label_weights import Reweighted

# Priors of intercept (0) and slope (1), as standard deviations: a handful of verified rows moves little.
_SPREAD = np.array([2.0, 0.5])
# P(wrong) is kept this far from 0 and 1, where the logit has no end.
_LEAST = 1e-6
# Fewer verified labels than this say too little of the others.
_FEWEST_VERIFIED = 10


class Recalibration(NamedTuple):
    intercept: float = 0.0
    slope: float = 1.0

    def __call__(self, p_wrong: Array) -> Array:
        return np.asarray(expit(self.intercept + self.slope * _safe_logit(p_wrong)))


def _safe_logit(p: Array) -> Array:
    return np.asarray(logit(np.clip(p, _LEAST, 1 - _LEAST)))


def recalibrate(p_wrong: Array, wrong: Array, weight: Array) -> Recalibration:
    """From P(wrong) of verified rows and whether they were wrong: penalised logistic regression, by Newton."""
    design = np.column_stack([np.ones(len(p_wrong)), _safe_logit(p_wrong)])
    centre = np.array([0.0, 1.0])
    beta = centre.copy()
    for _ in range(50):
        p = expit(design @ beta)
        gradient = design.T @ (weight * (wrong - p)) - (beta - centre) / _SPREAD**2
        hessian = (design * (weight * p * (1 - p))[:, None]).T @ design + np.diag(1 / _SPREAD**2)
        step = np.linalg.solve(hessian, gradient)
        beta += np.clip(step, -1.0, 1.0)
        if np.abs(step).max() < 1e-8:
            break
    return Recalibration(float(beta[0]), float(beta[1]))


def recalibration_of(data: Dataset, fitted: Reweighted) -> Recalibration:
    """What the verified rows ask for."""
    if not data.has_verified:
        return Recalibration()
    found = data.map_sum(partial(_verified_rows, fitted=fitted)).items
    p_wrong, wrong, weight = (np.concatenate(values) for values in zip(*found, strict=True))
    return Recalibration() if len(wrong) < _FEWEST_VERIFIED else recalibrate(p_wrong, wrong, weight)


def _verified_rows(rows: Rows, fitted: Reweighted) -> Pieces:
    """P(wrong) of the verified rows of a block as if they were not, whether they are wrong, and their weights."""
    K = fitted.calibration.offset.shape[1]
    some = rows.take(np.flatnonzero((rows.verified >= 0) & (rows.observed < K)))  # type: ignore[operator]
    if not some.n_rows:
        none = np.zeros(0)
        return Pieces([(none, none, none)])
    labels = Labels.of(some)
    true = posterior(fitted.calibration, fitted.scorer.scores(some), labels._replace(verified=None)).true[:, 0]
    p_wrong = 1.0 - true[np.arange(len(true)), some.observed]
    return Pieces([(p_wrong, (some.observed != some.verified).astype(float), labels.weight[:, 0])])


def pin_verified(true: Array, verified: Array | None) -> Array:
    """Verified rows have the label that was verified."""
    if verified is None:
        return true
    known = np.flatnonzero(verified >= 0)
    true = true.copy()
    true[known] = 0.0
    true[known, verified[known]] = 1.0
    return true


def adjust(true: Array, observed: Array, recalibration: Recalibration) -> Array:
    """Posteriors (n, K) with P(wrong) recalibrated; the other classes keep their proportions."""
    n_classes = true.shape[1]
    if recalibration == Recalibration() or n_classes == 1:
        return true
    labeled = np.flatnonzero(observed < n_classes)
    own = (np.arange(len(labeled)), observed[labeled])
    others = true[labeled]
    p_wrong = recalibration(1.0 - others[own])
    others[own] = 0.0
    # by their own sum, not by 1 - P(label): that is 0 where they are below rounding, and would blow them up
    total = others.sum(axis=1, keepdims=True)
    others = np.divide(others, total, out=np.full_like(others, 1.0 / (n_classes - 1)), where=total > 0)
    others *= p_wrong[:, None]
    others[own] = 1.0 - p_wrong
    adjusted = true.copy()
    adjusted[labeled] = others
    return adjusted
