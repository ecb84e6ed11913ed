"""Agreement between several labelers of the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..audit.columns import Array
from ..audit.group_rates import alpha, disagreement


def krippendorff_alpha(row: Sequence[int] | Array, label: Sequence[Any] | Array) -> float:
    """Krippendorff's alpha for nominal labels: 1 is perfect agreement, 0 is chance.

    Parameters
    ----------
    row, label : (m,)
        The row of each label, and the label; rows with one label are ignored. The result is nan if no row has two
        labels or all labels are the same.
    """
    value = np.unique(np.asarray(label).astype(str), return_inverse=True)[1]
    found = alpha(disagreement(np.asarray(row), value))
    return float("nan") if found is None else found


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
