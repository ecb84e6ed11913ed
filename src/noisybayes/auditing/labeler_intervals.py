"""Intervals of labelers' error rates: the posterior of how careful each of them is, the true labels summed out.

The matrix of a labeler keeps its shape, and the log-odds of a right label move by one number, the same in all classes.
The likelihood of that number is that of the labeler's labels, each summed over what the columns, and other labels of
the row, leave open. So an interval is wide where labels are few, and where they cannot be told right from wrong. What
is known of labelers beforehand is that they are like all, give or take `CAREFUL_SPREAD`.

P(true | x) and the shape of the matrix are taken as given: where labelers differ, intervals hold the rate less often
than they say, least where columns are weak (docs/trust.md). A posterior of all entries of the matrix, each with a prior
of its own, covered less often still, on made tables whose P(true | x) is known.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..dataset.tree import Array
from ..robust.labeler_model import CAREFUL_SPREAD, LabelerModel, Matrices

# Log-odds by which a labeler may be more careful than the estimate, or less, and how many values in between are tried.
_FARTHEST, _VALUES = 8.0, 161
# Keeps log-odds of certain labels, and logarithms, finite.
_SMALL, _TINY = 1e-6, 1e-300


class RatePosteriors(NamedTuple):
    """Of the error rate of each labeler, on S values of how careful they are."""

    rate: Array  # (S, G), falling
    log_density: Array  # (S, G), up to a constant of each labeler

    def intervals(self, level: float) -> Array:
        """(2, G) lower and upper ends, with equal tails."""
        density = np.exp(self.log_density - self.log_density.max(axis=0))
        below = (density.cumsum(axis=0) - 0.5 * density) / density.sum(axis=0)
        tails = ((1.0 + level) / 2.0, (1.0 - level) / 2.0)  # the rate falls
        columns = list(zip(below.T, self.rate.T, strict=True))
        return np.array([[np.interp(tail, *column) for column in columns] for tail in tails])


def rate_posteriors(model: LabelerModel, found: Matrices) -> RatePosteriors:
    given, G = model.given, model.given.n_labelers
    right = np.clip(np.diagonal(found.of_labelers, axis1=1, axis2=2), _SMALL, 1.0 - _SMALL)  # (G + 1, K)
    logit, mix = np.log(right / (1.0 - right)), _class_shares(model.counts(found.true))
    if_right, if_wrong = _label_likelihoods(model, found)
    shifts = np.linspace(-_FARTHEST, _FARTHEST, _VALUES)
    log_density, rate = np.empty((_VALUES, G)), np.empty((_VALUES, G))
    for s, shift in enumerate(shifts.tolist()):
        moved = 1.0 / (1.0 + np.exp(-(logit + shift)))
        times = (1.0 - moved) / (1.0 - right)
        likelihood = if_right * moved[given.labeler, given.label] + (if_wrong * times[given.labeler]).sum(axis=1)
        log_density[s] = np.bincount(given.labeler, np.log(likelihood + _TINY), minlength=G + 1)[:G]
        rate[s] = (mix * (1.0 - moved)).sum(axis=1)[:G]
    of_all = (mix * (1.0 - right[-1])).sum(axis=1)[:G]
    like_all = np.array([np.interp(-of_all[g], -rate[:, g], shifts) for g in range(G)])
    log_density -= 0.5 * ((shifts[:, None] - like_all) / CAREFUL_SPREAD) ** 2
    return RatePosteriors(rate, log_density)


def _label_likelihoods(model: LabelerModel, found: Matrices) -> tuple[Array, Array]:
    """(m,) what the row says for the label; (m, K) for it being a mistake for another class, times the matrix."""
    given, at = model.given, np.arange(len(model.given.row))
    others = model.without_label(found)
    if_right = others[at, given.label].copy()
    if_wrong = others * found.of_labelers[given.labeler, given.label]
    if_wrong[at, given.label] = 0.0
    return if_right, if_wrong


def _class_shares(counts: Array) -> Array:
    """(G + 1, K) of the true classes among the rows of each labeler; a few rows are mixed as all are."""
    by_class = counts.sum(axis=1)
    of_all = by_class.sum(axis=0) / max(by_class.sum(), _TINY)
    by_class = by_class + len(of_all) * of_all
    return np.asarray(by_class / by_class.sum(axis=1, keepdims=True))
