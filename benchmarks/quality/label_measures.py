"""Measures per given label: is suspicion higher for the labels that are wrong more often?

A ranking of all rows hides this: with unbalanced classes, a method may rank well within each label and still rank all
rows of one label too high or too low.
"""

from __future__ import annotations

import numpy as np
from sklearn.metrics import average_precision_score

from .tasks import Array

_STANDARD_ERRORS = 2


def average_precision_within(y: Array, wrong: Array, p_wrong: Array) -> float:
    """Average precision among the rows of one given label, averaged over the labels with both right and wrong rows."""
    rows_of = [y == label for label in np.unique(y)]
    by_label = [average_precision_score(wrong[rows], p_wrong[rows]) for rows in rows_of if 0 < wrong[rows].mean() < 1]
    return float(np.mean(by_label)) if by_label else np.nan


def means_by_label(y: Array, values: Array) -> Array:
    """(K,) mean of the values for each given label 0..K-1; nan for a label that is never given."""
    counts = np.bincount(y)
    with np.errstate(invalid="ignore"):  # 0 / 0
        return np.asarray(np.bincount(y, values) / counts)


def label_order(y: Array, wrong: Array, p_wrong: Array) -> float:
    """The share of pairs of given labels in which the label that is wrong more often has the higher mean P(wrong).

    Only pairs whose error rates differ by more than two standard errors count; nan if there are none.
    """
    errors, suspicion = means_by_label(y, wrong), means_by_label(y, p_wrong)
    with np.errstate(divide="ignore", invalid="ignore"):  # a label that is never given is nan throughout
        variance = errors * (1.0 - errors) / np.bincount(y)
    wrong_more_often = errors[:, None] - errors > _STANDARD_ERRORS * np.sqrt(variance[:, None] + variance)
    if not wrong_more_often.any():
        return np.nan
    return float((suspicion[:, None] > suspicion)[wrong_more_often].mean())


def in_one_cell(values: Array) -> str:
    """Numbers for one cell of the stored rows."""
    return " ".join(f"{value:.3g}" for value in values)


def from_one_cell(cell: object) -> Array:
    return np.array([float(part) for part in str(cell).split()])
