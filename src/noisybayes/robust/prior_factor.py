"""How much P(true | x) is worth where rows have several labels.

With one label per row, an error of the columns and an error of the label look alike, and the fit may have mistaken one
for the other. Labels that agree with each other and not with the columns tell them apart. So one factor,

    log P(true | x) = factor * (that of the fit),  normalised,

is fitted together with the matrices of the labelers, by one Newton step in each round of their EM. The class shares
are not: with noisy labelers, EM drifts to solutions in which one class explains nearly all labels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..dataset.tree import Array
from .labeled_rows import LabeledRows, OverRows

# Standard deviation of the normal prior around 1; it matters only for tables of a few rows.
_SPREAD = 0.5
# The columns cannot count against themselves, nor for many times what the fit found.
_LEAST, _MOST = 0.0, 3.0
# Early rounds, with matrices far from their final values, must not carry it far away.
_LARGEST_STEP = 0.5


def rescaled(rows: LabeledRows, factor: float) -> LabeledRows:
    joint = factor * rows.log_prior
    joint -= joint.max(axis=1, keepdims=True)
    return rows._replace(log_prior=joint - np.log(np.exp(joint).sum(axis=1, keepdims=True)))


@dataclass(frozen=True)
class Rescaled:
    """Maps a function of a block with the factor to its sum over all blocks."""

    over_rows: OverRows
    factor: float

    def __call__(self, fn: Callable[[LabeledRows], Any]) -> Any:
        return self.over_rows(partial(_of_rescaled, fn=fn, factor=self.factor))


def _of_rescaled(rows: LabeledRows, fn: Callable[[LabeledRows], Any], factor: float) -> Any:
    return fn(rescaled(rows, factor))


class Slope(NamedTuple):
    """Derivatives of the expected log P(true | x) by the factor, over the rows with several labels. Can be added up."""

    gradient: Array
    curvature: Array  # positive

    @classmethod
    def of(cls, rows: LabeledRows, prior: Array, true: Array) -> Slope:
        """rows : as the fit left them; prior, true : (n, K) P(true | x) with the factor, and P(true | x, labels)"""
        tells = np.bincount(rows.given.row, minlength=len(true)) > 1
        if rows.verified is not None:
            tells |= rows.verified >= 0
        score, prior, true = rows.log_prior[tells], prior[tells], true[tells]
        mean = (prior * score).sum(axis=1)
        variance = (prior * score**2).sum() - (mean**2).sum()
        return cls(np.asarray(((true - prior) * score).sum()), np.asarray(variance))

    def newton_step(self, factor: float) -> float:
        """The factor after a step towards the maximum."""
        step = (self.gradient - (factor - 1.0) / _SPREAD**2) / (self.curvature + _SPREAD**-2.0)
        return float(np.clip(factor + np.clip(step, -_LARGEST_STEP, _LARGEST_STEP), _LEAST, _MOST))
