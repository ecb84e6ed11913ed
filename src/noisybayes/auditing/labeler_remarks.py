"""Remarks on labelers: those whose labels carry hardly any information, those who confuse one class with another, and
those whose mistakes are mostly one label."""

from __future__ import annotations

import numpy as np

from ..dataset.tree import Array
from .judged import Labelers

# Labels with less than this share of the possible information are hardly better than chance.
_MIN_INFORMATION = 0.05
# Minimum labels of a labeler, and minimum rows of a class among them, for a remark.
_FEWEST_LABELS, _FEWEST_ROWS = 20, 10
# Minimum share of a labeler's mistakes that are one label, and its minimum ratio to that of the others.
_FAVOURED_SHARE, _FAVOURED_TIMES = 0.5, 1.5


def remarks(found: Labelers, classes: list[str]) -> list[str | None]:
    """A short remark on every labeler, or None."""
    of_all = found.counts.sum(axis=0)
    return [
        _remark(matrix, counts, of_all - counts, classes)
        for matrix, counts in zip(found.matrices, found.counts, strict=True)
    ]


def _remark(matrix: Array, counts: Array, of_others: Array, classes: list[str]) -> str | None:
    """matrix : (K, K) P(label | true); counts : (K, K) expected rows by label and true label"""
    by_class = counts.sum(axis=0)
    if by_class.sum() < _FEWEST_LABELS:
        return None
    if _share_of_information(matrix * by_class / by_class.sum()) < _MIN_INFORMATION:
        return "hardly better than chance"
    mostly = matrix.argmax(axis=0)
    taken = np.flatnonzero((mostly != np.arange(len(classes))) & (by_class >= _FEWEST_ROWS))
    if not len(taken):
        return _favourite(counts, of_others, classes)
    true = taken[np.argmax(by_class[taken])]
    return f"gives {classes[mostly[true]]!r} for {classes[true]!r} more often than not"


def _favourite(counts: Array, of_others: Array, classes: list[str]) -> str | None:
    """With two classes, a mistake can only be the other one."""
    wrong, others = ((each * (1.0 - np.eye(len(each)))).sum(axis=1) for each in (counts, of_others))
    if len(classes) < 3 or wrong.sum() < _FEWEST_ROWS:
        return None
    label = int(wrong.argmax())
    share, usual = wrong[label] / wrong.sum(), others[label] / max(others.sum(), 1.0)
    if share < _FAVOURED_SHARE or share < _FAVOURED_TIMES * usual:
        return None
    return f"most mistakes are {classes[label]!r}"


def _share_of_information(joint: Array) -> float:
    """Mutual information of label and true label, as a share of the entropy of the latter; 1 if there is one class."""
    label, true = joint.sum(axis=1, keepdims=True), joint.sum(axis=0, keepdims=True)
    some = joint > 0
    information = (joint[some] * np.log(joint[some] / (label * true)[some])).sum()
    entropy = -(true[true > 0] * np.log(true[true > 0])).sum()
    return float(information / entropy) if entropy > 0 else 1.0
