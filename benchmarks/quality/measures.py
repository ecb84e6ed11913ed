"""Measures of a method's answer to a task. A measure that does not apply to a task is nan."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

from .tasks import Array, Outcome, Task

_BINS = 10
_STANDARD_ERRORS = 2


def measure(task: Task, outcome: Outcome) -> dict[str, float]:
    """All measures; `task` includes the true labels."""
    if task.true is None or task.y_test is None:
        raise ValueError(f"{task.name}: measures need the true labels")
    wrong, p_wrong = task.y != task.true, outcome.p_wrong
    applied = np.where(outcome.flagged, outcome.suggested, task.y)  # every suggestion
    corrected = np.nan if outcome.corrected is None else float((outcome.corrected == task.true).mean())
    return {
        "average_precision": _if_any(wrong, average_precision_score, p_wrong),
        "auroc": _if_any(wrong, roc_auc_score, p_wrong),
        "f1_flagged": _if_any(wrong, _f1, outcome.flagged),
        "precision_at_errors": _if_any(wrong, _precision_at_errors, p_wrong),
        "corrected_accuracy": float((applied == task.true).mean()),
        "gain": corrected - float((~wrong).mean()),
        "given_accuracy": float((~wrong).mean()),
        "test_accuracy": float((outcome.test_pred == task.y_test).mean()),
        "calibration_error": calibration_error(wrong, p_wrong) if outcome.calibrated else np.nan,
        "noise_rate_estimated": outcome.noise_rate,
        "noise_rate_true": float(wrong.mean()),
        "flagged_share": float(outcome.flagged.mean()),
        "average_precision_within": average_precision_within(task.y, wrong, p_wrong),
        "label_order": label_order(task.y, wrong, p_wrong),
    }


def calibration_error(wrong: Array, p_wrong: Array) -> float:
    """Expected calibration error: |mean p - share of wrong labels| over ten bins of equal width, weighted by rows."""
    bins = np.minimum((p_wrong * _BINS).astype(np.intp), _BINS - 1)
    gaps = np.bincount(bins, p_wrong, minlength=_BINS) - np.bincount(bins, wrong, minlength=_BINS)
    return float(np.abs(gaps).sum() / len(wrong))


def average_precision_within(y: Array, wrong: Array, p_wrong: Array) -> float:
    """Average precision among the rows of one given label, averaged over the labels with both right and wrong rows.

    With unbalanced classes, a method may rank well within each label and still rank all rows of one label too high.
    """
    rows_of = [y == label for label in np.unique(y)]
    by_label = [average_precision_score(wrong[rows], p_wrong[rows]) for rows in rows_of if 0 < wrong[rows].mean() < 1]
    return float(np.mean(by_label)) if by_label else np.nan


def label_order(y: Array, wrong: Array, p_wrong: Array) -> float:
    """The share of pairs of given labels in which the label that is wrong more often has the higher mean P(wrong).

    Only pairs whose error rates differ by more than two standard errors count; nan if there are none.
    """
    counts = np.bincount(y)
    with np.errstate(divide="ignore", invalid="ignore"):  # a label that is never given is nan throughout
        errors, suspicion = np.bincount(y, wrong) / counts, np.bincount(y, p_wrong) / counts
        variance = errors * (1.0 - errors) / counts
    wrong_more_often = errors[:, None] - errors > _STANDARD_ERRORS * np.sqrt(variance[:, None] + variance)
    if not wrong_more_often.any():
        return np.nan
    return float((suspicion[:, None] > suspicion)[wrong_more_often].mean())


def _f1(wrong: Array, flagged: Array) -> float:
    return float(2 * (wrong & flagged).sum() / (wrong.sum() + flagged.sum()))


def _precision_at_errors(wrong: Array, score: Array) -> float:
    """The share of wrong labels among as many top rows as there are wrong labels."""
    top = np.argsort(-score, kind="stable")[: wrong.sum()]
    return float(wrong[top].mean())


def _if_any(wrong: Array, fn: Callable[[Array, Array], float], answer: Array) -> float:
    return float(fn(wrong, answer)) if wrong.any() else np.nan
