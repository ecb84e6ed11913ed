"""Agreement between several labelers of the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..dataset import Rows
from ..dataset.tree import Array
from ..robust.labeled_rows import row_codes


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
    return AgreementSums.of(row, label, int(row.max(initial=-1)) + 1, len(classes)).alpha


class AgreementSums(NamedTuple):
    """Sums over rows from which Krippendorff's alpha is computed."""

    n_labels: Array
    n_rows: Array  # with at least one label
    by_label: Array  # (V,) labels in rows that have at least two
    different: Array  # pairs of different labels of a row, divided by the number of its labels less 1

    @classmethod
    def of(cls, row: Array, label: Array, n_rows: int, n_values: int) -> AgreementSums:
        """row, label : (m,) position and code of each label"""
        counts = np.bincount(row * n_values + label, minlength=n_rows * n_values).reshape(n_rows, n_values)
        n_labels = counts.sum(axis=1)
        pairs = counts[n_labels > 1].astype(float)
        by_row = pairs.sum(axis=1)
        different = ((by_row**2 - (pairs**2).sum(axis=1)) / (by_row - 1)).sum()
        return cls(
            np.asarray(float(len(row))), np.asarray(float((n_labels > 0).sum())), pairs.sum(axis=0),
            np.asarray(different),
        )  # fmt: skip

    @property
    def alpha(self) -> float:
        n = float(self.by_label.sum())
        expected = (n**2 - float((self.by_label**2).sum())) / max(n * (n - 1), 1)
        return float(1.0 - float(self.different) / n / expected) if expected else float("nan")


def agreement_of_rows(rows: Rows, n_values: int) -> AgreementSums:
    """The sums of a block of rows with several labels (`SeveralLabels.codes`)."""
    row, code = row_codes(rows.groups)
    return AgreementSums.of(row, code % n_values, rows.n_rows, n_values)


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


def share_agreeing(codes: Any, value: Array, n_values: int) -> tuple[Array, Array]:
    """(n,) number of labels of each row, and the share of them that equal `value` (n,); nan if a row has none.

    codes : as in `SeveralLabels`
    """
    row, code = row_codes(codes)
    n_labels = np.bincount(row, minlength=len(value))
    same = np.bincount(row, weights=code % n_values == value[row], minlength=len(value))
    return n_labels, np.divide(same, n_labels, out=np.full(len(value), np.nan), where=n_labels > 0)
