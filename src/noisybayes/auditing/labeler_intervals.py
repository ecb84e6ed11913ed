"""Intervals of labelers' error rates, from draws of everything they depend on.

P(true | x) is calibrated on labels, so its temperature and offsets are drawn by a bootstrap of that fit, like the
overall matrix (`newton_step`). Given each draw, matrices and true labels are drawn by Gibbs sampling (`labeler_chain`).
The labelers' matrices do not update the calibration in turn: with a matrix each, they can explain the labels under a
wrong calibration too (rates were up to 6 points too low on simulated tables with 8 classes).

With many classes or labelers the chain would take minutes. Then P(true | x) and the shape of a labeler's matrix are
taken as given, and the log-odds of a right label shift by one number for all classes, whose posterior is computed with
the true labels marginalised. These intervals are too narrow if the columns are weak.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from ..dataset.tree import Array
from ..robust.calibration import Calibration, Labels
from ..robust.labeled_rows import LabeledRows
from ..robust.labeler_model import CAREFUL_SPREAD, LabelerModel, Matrices
from ..robust.old_model.mislabel import constant_rate
from .labeler_chain import LabelerChain
from .labeler_sample import Sizes, sizes_of, some_labels, some_rows
from .newton_step import Gradient, curvature, gradient_by_weights, step

# Burn-in sweeps, draws of the calibration, sweeps per draw, and how many of these are kept.
_WARM_UP, _CALIBRATIONS, _SWEEPS, _KEPT = 60, 25, 20, 10
# Numbers of matrix entries and of label probabilities beyond which the chain would take minutes.
_MOST_ENTRIES, _MOST_PROBABILITIES = 20_000, 400_000
# Penalty of the offsets and pseudo-rows of the matrix, which keep the step finite.
_PENALTY, _PSEUDO_ROWS = 1e-5, 1.0
# Maximum step in logarithms: far from the fit, its curvature is no guide.
_LONGEST_STEP = 1.0
# Range of log-odds by which a labeler may be more or less careful than the estimate, and size of the grid.
_FARTHEST, _VALUES = 8.0, 161
# Keeps log-odds of certain labels, and logarithms, finite.
_SMALL, _TINY = 1e-6, 1e-300


class RateDraws(NamedTuple):
    """Draws of the error rate of each labeler."""

    rate: Array  # (S, G)

    @property
    def mean(self) -> Array:
        return np.asarray(self.rate.mean(axis=0))

    def intervals(self, level: float) -> Array:
        """(2, G) lower and upper ends, with equal tails."""
        return np.asarray(np.quantile(self.rate, [(1.0 - level) / 2.0, (1.0 + level) / 2.0], axis=0))


class RatePosteriors(NamedTuple):
    """The posterior of the error rate of each labeler, on a grid of S values of how careful they are."""

    rate: Array  # (S, G), decreasing
    log_density: Array  # (S, G), up to a constant per labeler

    def intervals(self, level: float) -> Array:
        """(2, G) lower and upper ends, with equal tails."""
        density = np.exp(self.log_density - self.log_density.max(axis=0))
        below = (density.cumsum(axis=0) - 0.5 * density) / density.sum(axis=0)
        tails = ((1.0 + level) / 2.0, (1.0 - level) / 2.0)  # rates decrease along the grid
        columns = list(zip(below.T, self.rate.T, strict=True))
        return np.array([[np.interp(tail, *column) for column in columns] for tail in tails])


def error_rates(model: LabelerModel, found: Matrices, seed: int) -> RateDraws | RatePosteriors:
    if found.of_labelers.size > _MOST_ENTRIES:
        return rate_posteriors(model, found)
    rng, most = np.random.default_rng(seed), _MOST_PROBABILITIES // len(model.start)
    sizes = sizes_of(model.over_rows)
    factor, offset = _calibration_draws(model, some_rows(model.over_rows, sizes, most, seed), sizes, rng)
    rows = some_labels(model.over_rows, sizes, most, seed)
    chain = LabelerChain(rows.given, rows.expected(found.of_labelers)[0], rows.verified, rng)
    for _ in range(_WARM_UP):
        chain.sweep(rows.log_prior, adapt=True)
    rates = []
    for one, added in zip(factor.tolist(), offset, strict=True):
        drawn = one * rows.log_prior + added
        for sweep in range(_SWEEPS):
            chain.sweep(drawn)
            if sweep >= _SWEEPS - _KEPT:
                rates.append(chain.error_rates())
    return RateDraws(np.array(rates))


def _calibration_draws(model: LabelerModel, rows: LabeledRows, sizes: Sizes, rng: Generator) -> tuple[Array, Array]:
    """Factors (R,) and offsets (R, K) of log P(true | x) under random weights of the rows. rows : some of all"""
    assert rows.observed is not None
    n, K = rows.log_prior.shape
    labels = Labels(rows.observed, rows.verified, np.ones((n, 1)))
    at = Calibration(np.ones((1, 1)), np.zeros((1, K)), model.start[None], np.zeros((1, K)))
    scores = rows.log_prior[None, :, None]
    # weights less 1, since the remaining slope at the fit is not spread
    slope = gradient_by_weights(at, scores, labels, rng.exponential(size=(n, _CALIBRATIONS)) - 1.0)
    pseudo = _PSEUDO_ROWS * constant_rate(K, np.trace(model.start) / K)
    corner, _ = step(curvature(at, scores, labels, _PENALTY, pseudo), Gradient(*slope))
    corner = np.clip(corner * np.sqrt(n / float(sizes.n_rows)), -_LONGEST_STEP, _LONGEST_STEP)
    return np.exp(corner[:, 0]), corner[:, 1:]


def rate_posteriors(model: LabelerModel, found: Matrices) -> RatePosteriors:
    G = model.n_labelers
    right = np.clip(np.diagonal(found.of_labelers, axis1=1, axis2=2), _SMALL, 1.0 - _SMALL)  # (G + 1, K)
    mix, shifts = _class_shares(found.counts), np.linspace(-_FARTHEST, _FARTHEST, _VALUES)
    moved = 1.0 / (1.0 + np.exp(-(np.log(right / (1.0 - right)) + shifts[:, None, None])))  # (S, G + 1, K)
    log_density = model.over_rows(partial(_log_likelihoods, matrices=found.of_labelers, right=right, moved=moved))
    rate = (mix * (1.0 - moved)).sum(axis=2)[:, :G]
    of_all = (mix * (1.0 - right[-1])).sum(axis=1)[:G]
    like_all = np.array([np.interp(-of_all[g], -rate[:, g], shifts) for g in range(G)])
    return RatePosteriors(rate, log_density - 0.5 * ((shifts[:, None] - like_all) / CAREFUL_SPREAD) ** 2)


def _log_likelihoods(rows: LabeledRows, matrices: Array, right: Array, moved: Array) -> Array:
    """(S, G) of the labels of each labeler, if P(right) were as in `moved` (S, G + 1, K). right : (G + 1, K)"""
    given, at, G = rows.given, np.arange(len(rows.given.row)), rows.given.n_labelers
    if_wrong = rows.without_label(matrices)
    if_right = if_wrong[at, given.label].copy()
    if_wrong *= matrices[given.labeler, given.label]
    if_wrong[at, given.label] = 0.0
    found = np.empty((len(moved), G))
    for s, one in enumerate(moved):
        times = (1.0 - one) / (1.0 - right)
        likelihood = if_right * one[given.labeler, given.label] + (if_wrong * times[given.labeler]).sum(axis=1)
        found[s] = np.bincount(given.labeler, np.log(likelihood + _TINY), minlength=G + 1)[:G]
    return found


def _class_shares(counts: Array) -> Array:
    """(G + 1, K) shares of the true classes among the rows of each labeler, shrunk to the overall shares."""
    by_class = counts.sum(axis=1)
    of_all = by_class.sum(axis=0) / max(by_class.sum(), _TINY)
    by_class = by_class + len(of_all) * of_all
    return np.asarray(by_class / by_class.sum(axis=1, keepdims=True))
