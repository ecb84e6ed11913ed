"""Recalibrates P(wrong) with verified labels, which may be wrong themselves.

If mistakes are on ambiguous rows, no model of (features, label) alone can know how many there are, but some verified
rows can. P(wrong) is recalibrated as a function of itself: logit P'(wrong) = intercept + slope * logit P(wrong).
The slope is positive, so the ranking does not change. Given its score, whether a row is wrong does not depend on why it
was reviewed, so rows from the top of a list can be used too.

People make mistakes: a reviewer working through a list sometimes keeps a wrong label. So a verdict is evidence, not a
fact: P(verdict "wrong") = (1 - careless) P'(wrong). The opposite mistake is not modelled: with it, every verdict that
contradicts the model could be explained away, and the estimates were too high.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from ..dataset import Dataset, Rows
from ..dataset.tree import Array, Pieces
from .calibration import Labels
from .constants import DEFAULT
from .label_weights import Reweighted

# Standard deviations of the priors of the intercept and of the slope's logarithm: a handful of rows moves little.
_SPREAD = np.array([2.0, 0.5])
# Starts of the search: the model is right, or its P(wrong) is far too high. There may be two maxima.
_STARTS = ((0.0, 0.0), (-3.0, 0.0))
# P(wrong) is kept this far from 0 and 1, where the logit is infinite.
_MIN_P = 1e-6
# With fewer verified labels, P(wrong) is not recalibrated.
_MIN_VERIFIED = 10
# Maximum distance between the end of the search and the root of the gradient.
_MAX_ROOT_DISTANCE = 0.01


class Recalibration(NamedTuple):
    intercept: float = 0.0
    slope: float = 1.0

    def __call__(self, p_wrong: Array) -> Array:
        return np.asarray(expit(self.intercept + self.slope * _safe_logit(p_wrong)))


def _safe_logit(p: Array) -> Array:
    return np.asarray(logit(np.clip(p, _MIN_P, 1 - _MIN_P)))


def recalibrate(p_wrong: Array, wrong: Array, weight: Array) -> Recalibration:
    """From P(wrong) of verified rows and the verdicts, whether they were wrong: the mode of the posterior."""
    from scipy.optimize import minimize, root  # takes a quarter of a second to import

    x = _safe_logit(p_wrong)
    fits = [minimize(_loss, start, (x, wrong, weight), jac=True, method="BFGS") for start in _STARTS]
    best = min(fits, key=lambda fit: float(fit.fun)).x
    # the root of the gradient is exact, while a search by values stops anywhere on a flat top; the order of the rows,
    # which differs on a cluster, must not matter
    exact = root(lambda beta: _loss(beta, x, wrong, weight)[1], best, tol=1e-13).x
    intercept, log_slope = exact if np.abs(exact - best).max() < _MAX_ROOT_DISTANCE else best
    return Recalibration(float(intercept), float(np.exp(log_slope)))


def _loss(beta: Array, x: Array, wrong: Array, weight: Array) -> tuple[float, Array]:
    """Minus the log-posterior of intercept and log slope, and its gradient."""
    slope = np.exp(np.clip(beta[1], -5.0, 5.0))
    p = np.clip(expit(beta[0] + slope * x), 1e-12, 1.0 - 1e-12)
    p_verdict = (1.0 - DEFAULT.reviewer_miss_rate) * p
    log_p = np.where(wrong > 0, np.log(p_verdict), np.log1p(-p_verdict))
    value = -(weight @ log_p) + 0.5 * ((beta / _SPREAD) ** 2).sum()
    residual = weight * np.where(wrong > 0, 1.0 - p, -p_verdict * (1.0 - p) / (1.0 - p_verdict))
    return float(value), np.array([-residual.sum(), -slope * (residual @ x)]) + beta / _SPREAD**2


def recalibration_of(data: Dataset, fitted: Reweighted) -> Recalibration:
    """The recalibration estimated from the verified rows."""
    if not data.has_verified:
        return Recalibration()
    blocks = data.map_sum(partial(_verified_rows, fitted=fitted)).items
    p_wrong, wrong, weight = (np.concatenate(values) for values in zip(*blocks, strict=True))
    return Recalibration() if len(wrong) < _MIN_VERIFIED else recalibrate(p_wrong, wrong, weight)


def _verified_rows(rows: Rows, fitted: Reweighted) -> Pieces:
    """P(wrong) of the verified rows of a block as if they were not, whether they are wrong, and their weights."""
    K = fitted.calibration.offset.shape[1]
    verified_rows = rows.take(np.flatnonzero((rows.verified >= 0) & (rows.observed < K)))  # type: ignore[operator]
    if not verified_rows.n_rows:
        none = np.zeros(0)
        return Pieces([(none, none, none)])
    true = fitted.reported(fitted.unverified(verified_rows), verified_rows.observed)
    p_wrong = 1.0 - true[np.arange(len(true)), verified_rows.observed]
    wrong = (verified_rows.observed != verified_rows.verified).astype(float)
    return Pieces([(p_wrong, wrong, Labels.of(verified_rows).weight[:, 0])])


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
    given_label = (np.arange(len(labeled)), observed[labeled])
    proba = true[labeled]
    p_wrong = recalibration(1.0 - proba[given_label])
    proba[given_label] = 0.0
    # divided by their own sum, not by 1 - P(label), which is 0 if they are below rounding
    total = proba.sum(axis=1, keepdims=True)
    proba = np.divide(proba, total, out=np.full_like(proba, 1.0 / (n_classes - 1)), where=total > 0)
    proba *= p_wrong[:, None]
    proba[given_label] = 1.0 - p_wrong
    adjusted = true.copy()
    adjusted[labeled] = proba
    return adjusted
