"""Agreement between several labelers of the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..dataset.tree import Array
from .several_labels import SeveralLabels


def krippendorff_alpha(row: Sequence[int] | Array, label: Sequence[Any] | Array) -> float:
    """Krippendorff's alpha for nominal labels: 1 is perfect agreement, 0 is chance.

    Parameters
    ----------
    row, label : (m,)
        The row of each label, and the label; rows with one label are ignored. The result is nan if no row has two
        labels or all labels are the same.
    """
    _, row = np.unique(row, return_inverse=True)
    classes, label = np.unique(np.asarray(label).astype(str), return_inverse=True)
    counts = np.zeros((int(row.max(initial=-1)) + 1, len(classes)))
    np.add.at(counts, (row, label), 1.0)
    counts = counts[counts.sum(axis=1) > 1]
    by_row, by_label = counts.sum(axis=1), counts.sum(axis=0)
    n = by_row.sum()
    expected = (n**2 - (by_label**2).sum()) / max(n * (n - 1), 1)
    if not expected:
        return float("nan")
    observed = ((by_row**2 - (counts**2).sum(axis=1)) / (by_row - 1)).sum() / n
    return float(1.0 - observed / expected)


def cohen_kappa(one: Sequence[Any] | Array, other: Sequence[Any] | Array) -> float:
    """Cohen's kappa of two labelers' labels (m,) of the same rows: 1 is perfect agreement, 0 is chance.

    nan if both always gave the same single label.
    """
    classes, code = np.unique(np.asarray([*one, *other]).astype(str), return_inverse=True)
    table = np.zeros((len(classes), len(classes)))
    np.add.at(table, (code[: len(one)], code[len(one) :]), 1.0)
    share = table / max(table.sum(), 1.0)
    by_chance = float(share.sum(axis=1) @ share.sum(axis=0))
    if by_chance >= 1.0 or not len(one):
        return float("nan")
    return float((np.trace(share) - by_chance) / (1.0 - by_chance))


def share_agreeing(several: SeveralLabels, label: Array) -> tuple[Array, Array]:
    """(n,) number of labels of each row, and the share of them that equal `label` (n,); nan if a row has none."""
    n_labels = np.bincount(several.row, minlength=len(label))
    same = np.bincount(several.row, weights=several.label == label[several.row], minlength=len(label))
    return n_labels, np.divide(same, n_labels, out=np.full(len(label), np.nan), where=n_labels > 0)
