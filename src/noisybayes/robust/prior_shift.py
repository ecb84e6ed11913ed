"""Corrects P(true | x) where rows have several labels.

With one label per row, an error of the columns and an error of the label look alike, and the fit may have mistaken one
for the other. Labels that agree with each other and not with the columns tell them apart:

    log P(true | x) = factor * (that of the fit) + offset,  normalised

is fitted together with the matrices of the labelers, by one Newton step in each round of their EM.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..dataset.tree import Array
from .labeled_rows import LabeledRows

# Standard deviations of the normal prior around no change; it matters only for tables of a few rows.
_SPREAD_OF_FACTOR, _SPREAD_OF_OFFSET = 0.5, 1.0
# The columns cannot count against themselves, nor for many times what the fit found.
_FACTORS = (0.0, 3.0)
# The largest change of a parameter in one step.
_LARGEST_STEP = 0.5


class PriorShift(NamedTuple):
    factor: float
    offset: Array  # (K,)

    @classmethod
    def none(cls, n_classes: int) -> PriorShift:
        return cls(1.0, np.zeros(n_classes))

    def __call__(self, rows: LabeledRows) -> LabeledRows:
        joint = self.factor * rows.log_prior + self.offset
        joint = joint - joint.max(axis=1, keepdims=True)
        return rows._replace(log_prior=joint - np.log(np.exp(joint).sum(axis=1, keepdims=True)))

    def after_step(self, slope: Slope) -> PriorShift:
        """The parameters after a Newton step towards the maximum."""
        precision = np.array([_SPREAD_OF_FACTOR**-2.0, *np.full(len(self.offset), _SPREAD_OF_OFFSET**-2.0)])
        change = np.array([self.factor - 1.0, *self.offset])
        step = np.linalg.solve(slope.curvature + np.diag(precision), slope.gradient - precision * change)
        step = np.clip(step, -_LARGEST_STEP, _LARGEST_STEP)
        return PriorShift(float(np.clip(self.factor + step[0], *_FACTORS)), self.offset + step[1:])


class Slope(NamedTuple):
    """Of the expected log P(true | x) by factor and offset, over the rows with several labels. Can be added up."""

    gradient: Array  # (1 + K,)
    curvature: Array  # (1 + K, 1 + K), positive

    @classmethod
    def of(cls, rows: LabeledRows, shifted: LabeledRows, true: Array) -> Slope:
        """true : (n, K) P(true | x, labels)"""
        tells = np.bincount(rows.given.row, minlength=len(true)) > 1
        if rows.verified is not None:
            tells |= rows.verified >= 0
        score, prior = rows.log_prior[tells], np.exp(shifted.log_prior[tells])
        gap, weighted = true[tells] - prior, prior * score
        mean = weighted.sum(axis=1, keepdims=True)
        by_factor = float((weighted * score).sum() - (mean**2).sum())
        mixed = (weighted - prior * mean).sum(axis=0)
        by_offset = np.diag(prior.sum(axis=0)) - prior.T @ prior
        return cls(
            np.array([(gap * score).sum(), *gap.sum(axis=0)]),
            np.block([[np.array([[by_factor]]), mixed[None]], [mixed[:, None], by_offset]]),
        )
