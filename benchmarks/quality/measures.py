"""Measures of a method's result on a task. A measure that does not apply to a task is nan."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

from .label_measures import average_precision_within, in_one_cell, label_order, means_by_label
from .methods.outcome import Outcome
from .tasks import Array, Task

_BINS = 10


def measure(task: Task, outcome: Outcome) -> dict[str, float]:
    """All measures; `task` includes the true labels."""
    if task.true is None or task.y_test is None:
        raise ValueError(f"{task.name}: measures need the true labels")
    wrong = task.y != task.true
    corrected = np.where(outcome.flagged, outcome.suggested, task.y)
    return {
        "average_precision": _if_any(wrong, average_precision_score, outcome.p_wrong),
        "auroc": _if_any(wrong, roc_auc_score, outcome.p_wrong),
        "f1_flagged": _if_any(wrong, f1, outcome.flagged),
        "f1_review": _if_any(wrong, f1, outcome.review),
        "precision_at_errors": _if_any(wrong, precision_at_errors, outcome.p_wrong),
        "corrected_accuracy": float((corrected == task.true).mean()),
        "given_accuracy": float((~wrong).mean()),
        "test_accuracy": float((outcome.test_pred == task.y_test).mean()),
        "calibration_error": calibration_error(wrong, outcome.p_wrong) if outcome.calibrated else np.nan,
        "noise_rate_estimated": outcome.noise_rate,
        "noise_rate_true": float(wrong.mean()),
        "flagged_share": float(outcome.flagged.mean()),
        "review_share": float(outcome.review.mean()),
        "n_parameters": outcome.n_parameters,
        "average_precision_within": average_precision_within(task.y, wrong, outcome.p_wrong),
        "label_order": label_order(task.y, wrong, outcome.p_wrong),
    }


def measure_by_label(task: Task, outcome: Outcome) -> dict[str, str]:
    """One number for each given label: its share of wrong labels, and its mean P(wrong)."""
    return {
        "wrong_by_label": in_one_cell(means_by_label(task.y, task.y != task.true)),
        "p_wrong_by_label": in_one_cell(means_by_label(task.y, outcome.p_wrong)),
    }


def f1(wrong: Array, flagged: Array) -> float:
    return float(2 * (wrong & flagged).sum() / (wrong.sum() + flagged.sum()))


def precision_at_errors(wrong: Array, score: Array) -> float:
    """The share of wrong labels among as many top rows as there are wrong labels."""
    top = np.argsort(-score, kind="stable")[: wrong.sum()]
    return float(wrong[top].mean())


def calibration_error(wrong: Array, p_wrong: Array) -> float:
    """Expected calibration error: |mean p - share of wrong labels| over ten bins of equal width, weighted by rows."""
    bins = np.minimum((p_wrong * _BINS).astype(np.intp), _BINS - 1)
    gaps = np.bincount(bins, p_wrong, minlength=_BINS) - np.bincount(bins, wrong, minlength=_BINS)
    return float(np.abs(gaps).sum() / len(wrong))


def _if_any(wrong: Array, fn: Callable[[Array, Array], float], answer: Array) -> float:
    return float(fn(wrong, answer)) if wrong.any() else np.nan
