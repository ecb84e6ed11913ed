"""Gibbs sampling of the labelers' mislabeling matrices and the true labels.

    column k of matrix_g ~ Dirichlet(strength * habits_g[:, k])
    log-odds of habits_g[l, k] against habits_g[k, k] = those of the overall matrix - careful_g + favours_g[l]
    careful_g ~ normal(0, spread), favours_g[l] ~ normal(0, another spread)

A sweep draws each of these given all others: habits by Metropolis steps with the matrices marginalised, spreads, the
strength, matrices, and true labels given P(true | x). EM (`robust.labeler_model`) finds the most probable matrices and
treats expected counts as counts, which makes labelers look more alike than they are. The chain shows how uncertain the
matrices are. Here all labelers share one strength: with one each, as in EM, intervals covered the truth no more often.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.special import gammaln

from ..dataset.short_rows import row_max
from ..dataset.tree import Array
from ..robust.labeled_rows import GivenLabels
from ..robust.labeler_model import STRENGTHS
from ..robust.recalibration import pin_verified

# Step sizes are adapted until this share of Metropolis steps is accepted.
_TAKEN, _ADAPTED = 0.4, 0.2
# Maximum number of labels whose `favours` are updated in one sweep; with more classes, they are drawn.
_LABELS_AT_ONCE = 8
# Bounds for the log-odds of a wrong label against the right one, and for shares.
_FARTHEST, _LEAST = 8.0, 1e-6
# Shape of the inverse gamma prior of a squared spread, and twice its scale: as two more values with sum of squares 1.
_SPREAD_SHAPE, _SPREAD_SQUARES = 1.0, 1.0
# Pseudo-rows of each column of the overall matrix.
_PSEUDO_ROWS = 0.5
# Avoids nan if a share is drawn as 0.
_TINY = 1e-300


class Cells(NamedTuple):
    """Counts (G, K, K) that are not 0. The others are most of them, and add nothing to a marginal likelihood."""

    place: Array  # (m,) in the flattened counts
    group: Array  # (m,)
    n_rows: Array  # (m,)
    by_column: Array  # (G, K) sums over the labels, zeros included

    @classmethod
    def of(cls, counts: Array) -> Cells:
        flat = counts.reshape(-1)
        place = np.flatnonzero(flat)
        return cls(place, place // counts[0].size, flat[place], counts.sum(axis=1))


class LabelerChain:
    """The state of the chain and its updates."""

    def __init__(self, given: GivenLabels, true: Array, verified: Array | None, rng: Generator) -> None:
        """true : (n, K) P(true) at the start of the chain"""
        self._given, self._verified, self._rng = given, verified, rng
        self.n_classes, self.n_groups = true.shape[1], given.n_labelers + 1  # the last: unknown labelers
        shape = (self.n_groups, self.n_classes)
        self._careful, self._favours = np.zeros(self.n_groups), np.zeros(shape)
        self._careful_step, self._favours_step = np.full(self.n_groups, 0.3), np.full(shape, 0.5)
        self._careful_spread = self._favours_spread = 1.0
        self._strength = float(STRENGTHS[3])
        self._alone = bool(len(given.row) == len(true) and (given.row == np.arange(len(true))).all())
        self.true = _drawn_classes(true, rng)  # (n,) codes
        self.counts = self._count()  # (G + 1, K, K) rows by labeler, label and true label
        self._cells = Cells.of(self.counts)
        self.matrices = np.empty((self.n_groups, self.n_classes, self.n_classes))

    def sweep(self, log_prior: Array, adapt: bool = False) -> None:
        """log_prior : (n, K) log P(true | x), up to a constant per row. adapt : adapt the step sizes (burn-in)"""
        base = self._base()
        self._step_habits(base, adapt)
        habits = _habits(base, self._careful, self._favours)
        self._strength = self._drawn_strength(habits)
        drawn = self._rng.standard_gamma(self.counts + self._strength * habits) + _TINY
        self.matrices = drawn / drawn.sum(axis=1, keepdims=True)
        joint = log_prior + self._by_row(np.log(self.matrices)[self._given.labeler, self._given.label])
        true = np.exp(joint - row_max(joint)[:, None])
        self.true = _drawn_classes(pin_verified(true, self._verified), self._rng)
        self.counts = self._count()
        self._cells = Cells.of(self.counts)

    def error_rates(self) -> Array:
        """(G,) by the matrices and drawn class shares of each labeler's rows, shrunk to the overall shares."""
        by_class = self.counts.sum(axis=1)
        shares = self._rng.standard_gamma(by_class + self.n_classes * by_class.sum(axis=0) / by_class.sum()) + _TINY
        wrong = 1.0 - np.diagonal(self.matrices, axis1=1, axis2=2)
        return np.asarray((shares * wrong).sum(axis=1) / shares.sum(axis=1))[:-1]

    def _count(self) -> Array:
        K, given = self.n_classes, self._given
        cell = (given.labeler * K + given.label) * K + self.true[given.row]
        return np.bincount(cell, minlength=self.n_groups * K * K).reshape(self.n_groups, K, K).astype(float)

    def _base(self) -> Array:
        """(K, K) log-odds of each label against the right one, in the overall matrix."""
        of_all = self.counts.sum(axis=0) + _PSEUDO_ROWS / self.n_classes
        return np.asarray(np.clip(np.log(of_all) - np.log(np.diag(of_all)), -_FARTHEST, _FARTHEST))

    def _step_habits(self, base: Array, adapt: bool) -> None:
        rng, G = self._rng, self.n_groups
        height = self._height(base, self._careful, self._favours)
        moved = self._careful + self._careful_step * rng.normal(size=G)
        there = self._height(base, moved, self._favours)
        gain = there - height - 0.5 * (moved**2 - self._careful**2) / self._careful_spread**2
        taken = np.log(rng.random(G)) < gain
        self._careful, height = np.where(taken, moved, self._careful), np.where(taken, there, height)
        if adapt:
            self._careful_step *= np.exp(_ADAPTED * (taken - _TAKEN))
        for label in self._labels_of_sweep():
            favours = self._favours.copy()
            favours[:, label] += self._favours_step[:, label] * rng.normal(size=G)
            there = self._height(base, self._careful, favours)
            squares = favours[:, label] ** 2 - self._favours[:, label] ** 2
            taken = np.log(rng.random(G)) < there - height - 0.5 * squares / self._favours_spread**2
            self._favours[taken], height = favours[taken], np.where(taken, there, height)
            if adapt:
                self._favours_step[:, label] *= np.exp(_ADAPTED * (taken - _TAKEN))
        self._careful_spread = _drawn_spread(self._careful, rng)
        self._favours_spread = _drawn_spread(self._favours, rng)

    def _labels_of_sweep(self) -> list[int]:
        if self.n_classes <= _LABELS_AT_ONCE:
            return list(range(self.n_classes))
        return [int(label) for label in self._rng.choice(self.n_classes, _LABELS_AT_ONCE, replace=False)]

    def _height(self, base: Array, careful: Array, favours: Array) -> Array:
        return _log_probability(self._cells, self._strength * _habits(base, careful, favours))

    def _drawn_strength(self, habits: Array) -> float:
        each = np.array([_log_probability(self._cells, strength * habits).sum() for strength in STRENGTHS])
        share = np.exp(each - each.max())
        return float(self._rng.choice(STRENGTHS, p=share / share.sum()))

    def _by_row(self, values: Array) -> Array:
        """(n, K) sums over the labels of each row. values : (m, K)"""
        if self._alone:
            return values
        n = len(self.true)
        sums = [np.bincount(self._given.row, values[:, k], minlength=n) for k in range(self.n_classes)]
        return np.stack(sums, axis=1)


def _habits(base: Array, careful: Array, favours: Array) -> Array:
    """(G, K, K)"""
    logit = base - careful[:, None, None] + favours[:, :, None]
    diagonal = np.arange(len(base))
    logit[:, diagonal, diagonal] = 0.0
    share = np.exp(logit - logit.max(axis=1, keepdims=True))
    return np.asarray(np.maximum(share / share.sum(axis=1, keepdims=True), _LEAST))


def _log_probability(cells: Cells, prior: Array) -> Array:
    """(G,) log marginal likelihood of counts under a Dirichlet prior (G, K, K) on every column."""
    total, own = prior.sum(axis=1), prior.reshape(-1)[cells.place]
    columns = gammaln(total) - gammaln(total + cells.by_column)
    terms = gammaln(own + cells.n_rows) - gammaln(own)
    return np.asarray(columns.sum(axis=1) + np.bincount(cells.group, terms, minlength=len(prior)))


def _drawn_spread(values: Array, rng: Generator) -> float:
    """Draw the spread of a normal distribution with mean 0, given values drawn from it."""
    squares = _SPREAD_SQUARES + (values**2).sum()
    return float(np.sqrt(0.5 * squares / rng.gamma(_SPREAD_SHAPE + 0.5 * values.size)))


def _drawn_classes(share: Array, rng: Generator) -> Array:
    """(n,) codes. share : (n, K) up to a factor per row"""
    below = share.cumsum(axis=1)
    drawn = (rng.random((len(share), 1)) * below[:, -1:] > below).sum(axis=1)
    return np.asarray(np.minimum(drawn, share.shape[1] - 1))
