"""The true accuracy of a classifier, from its predictions on rows whose labels may be wrong.

Measured on the given labels, a good classifier looks bad: wherever the label is wrong, a right prediction counts as an
error. The true labels are unknown, but the audit has P(true | x, label) for every row:

    accuracy = mean of P(true = prediction | x, label)

This is correct if these probabilities are: if mistakes depend on the class only, and the classifier does not share the
errors of the model. If people make mistakes on ambiguous rows, fewer of the disagreements are errors of the classifier;
its accuracy is then at most its agreement with the model's predictions from the features alone. With rows checked at
random no assumption is needed: errors are counted, with the model's probability of an error as the control variate.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from ..dataset.tree import Array
from ..robust.recalibration import pin_verified
from .judged import Judged
from .noise_rate import from_checks
from .result import Audit

# Rows at a time, so that posteriors of many rows and classes stay small.
_BATCH_ROWS = 20_000
# Typical error of the model's probabilities if nothing was checked.
_MODEL_ERROR = 0.01

ASSUMPTION = (
    "Without rows checked at random this is a range: the estimate assumes that mistakes do not depend on the row, "
    "the upper end that people make mistakes on ambiguous rows, and both that the classifier does not share the "
    "errors of the audit's own model."
)


class TrueAccuracy(NamedTuple):
    accuracy: float  # against the true labels
    low: float
    high: float
    level: float | None  # coverage of the interval; None: a plausible range
    as_given: float  # against the given labels
    recall: Array  # (K,) by true class
    macro_f1: float
    n_rows: int
    n_checked: int  # rows checked at random
    assumes: str  # empty if rows were checked at random


def true_accuracy(y_pred: Any, found: Audit, level: float = 0.9) -> TrueAccuracy:
    """Accuracy, recall by class and macro-F1 of a classifier against the true labels.

    Parameters
    ----------
    y_pred : array-like of shape (n_samples,)
        Its predictions for the rows of the audit, in order; it should not have been trained on these rows.
    found : Audit
        The audit of the rows.
    level : float, default 0.9
        Coverage of the interval.
    """
    judged = found.findings.judged
    if judged.observed is None:
        raise ValueError("the rows of this audit are on a cluster; audit without engine= to score predictions")
    predicted = _codes(y_pred, judged)
    labeled = np.flatnonzero(judged.observed < len(judged.classes))
    joint, p_right, by_features = _joint(judged, predicted, labeled)
    as_given = float(np.mean(predicted[labeled] == judged.observed[labeled]))
    checked = None
    if judged.checks is not None:
        rows, label, weight = judged.checks
        expected = 1.0 - p_right[np.searchsorted(labeled, rows)]
        checked = Checked((predicted[rows] != label).astype(float), expected, weight)
    return assemble(joint, as_given, by_features, float(p_right.mean()), checked, noise_rate_std(found), level)


def noise_rate_std(audit: Audit) -> float:
    """Standard deviation of the noise rate, if mistakes do not depend on the row."""
    rate = audit.intervals.noise_rate
    return float(rate.high - rate.low) / (2 * float(ndtri(0.5 + audit.intervals.level / 2)))


class Checked(NamedTuple):
    """Rows checked at random."""

    error: Array  # (m,) 1 where the prediction is wrong
    expected: Array  # (m,) the model's probability of an error, without the check
    weight: Array | None = None  # (m,) of the rows in the sample


def assemble(
    joint: Array,
    as_given: float,
    by_features: float,
    expected: float,
    checked: Checked | None,
    spread: float,
    level: float,
) -> TrueAccuracy:
    """joint : (K, K) expected rows by true class and prediction; by_features : share of the predictions that
    agree with the model's from the features alone; expected : mean P(the prediction is right), without the checks;
    spread : standard deviation of the noise rate, if nothing was checked"""
    n = round(float(joint.sum()))
    true, predicted, right = joint.sum(axis=1), joint.sum(axis=0), np.diag(joint)
    present = true > 1e-9
    f1 = 2 * right / np.maximum(true + predicted, 1e-300)
    if checked is None:
        accuracy = float(right.sum() / max(n, 1))
        error = np.sqrt(accuracy * (1 - accuracy) / max(n, 1) + spread**2 + _MODEL_ERROR**2)
        half_width = float(ndtri(0.5 + level / 2) * error)
        low, high = max(accuracy - half_width, 0.0), min(max(accuracy, by_features) + half_width, 1.0)
    else:
        error_rate = from_checks(checked.error, checked.expected, 1.0 - expected, n, level, checked.weight)
        accuracy, high, low = (1.0 - value for value in error_rate)
    m = 0 if checked is None else len(checked.error)
    recall = np.where(present, right / np.maximum(true, 1e-300), np.nan)
    reported_level, assumes = (level, "") if m else (None, ASSUMPTION)
    return TrueAccuracy(accuracy, low, high, reported_level, as_given, recall, float(f1[present].mean()), n, m, assumes)


def _codes(y_pred: Any, judged: Judged) -> Array:
    predictions = np.asarray(y_pred)
    if predictions.shape != (judged.n_rows,):
        raise ValueError(f"y_pred has the shape {predictions.shape}, but the audit has {judged.n_rows} rows")
    code_of = {str(label): code for code, label in enumerate(judged.classes.tolist())}
    codes = np.array([code_of.get(str(label), -1) for label in predictions.tolist()])
    if (codes < 0).any():
        row = int(np.argmax(codes < 0))
        raise ValueError(
            f"row {row + 1}: the prediction {predictions.tolist()[row]!r} is not one of the labels "
            f"({', '.join(map(repr, list(code_of)[:12]))})"
        )
    return codes


def _joint(judged: Judged, predicted: Array, numbers: Array) -> tuple[Array, Array, float]:
    """(K, K) expected rows by true class and prediction; P(the prediction is right) of every row without the checks;
    and the share of predictions that are the most probable classes given the features alone."""
    K = len(judged.classes)
    joint, p_right, n_agreeing = np.zeros((K, K)), np.empty(len(numbers)), 0
    for start in range(0, len(numbers), _BATCH_ROWS):
        batch = numbers[start : start + _BATCH_ROWS]
        rows, order = judged.take(batch)
        unverified, codes = judged.unverified(rows), predicted[batch[order]]
        np.add.at(joint.T, codes, pin_verified(unverified, rows.verified))
        p_right[start + order] = unverified[np.arange(len(batch)), codes]
        n_agreeing += int((judged.fitted.unverified(rows).prior[:, 0].argmax(axis=1) == codes).sum())
    return joint, p_right, n_agreeing / max(len(numbers), 1)
