"""A mislabeling matrix for each labeler, shrunk towards the common one; rows have one label, several, or none.

    P(label l | true k, labeler g) = matrix_g[l, k],    column k of matrix_g ~ Dirichlet(strength * habits_g[:, k])

where habits_g is the common matrix adjusted for how often the labeler is right and which wrong labels they favour. A
labeler with five labels borrows from the others, and one with five thousand is estimated almost alone; with many
classes, a hundred labels show how careful a labeler is, but not 20 x 20 entries. The labels of a row are independent
given its true label (Dawid and Skene, 1979), and the features are additional evidence (Raykar et al., 2010). Matrices
and strength (which maximises the probability of the expected counts of all labelers) are fitted by EM over the true
labels, with P(true | x) fixed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln

from ..dataset import Dataset, Rows
from ..dataset.tree import Array
from .calibration import matrix_of
from .label_weights import Reweighted
from .recalibration import pin_verified

#: Weight of the common matrix in the matrix of each labeler, in rows; from almost no shrinkage to almost full.
STRENGTHS = 2.0 ** np.arange(1, 13)
# Labelers differ if their matrices explain held-out labels better by this many standard errors.
_STANDARD_ERRORS = 2.0
# Maximum rounds of EM, and the gain per row, in nats, below which it stops.
_ROUNDS, _TOLERANCE = 200, 1e-7
# Standard deviation, in log-odds, of how careful labelers are: they may be nearly perfect, or nearly random.
CAREFUL_SPREAD = 2.0
# Newton steps for that parameter, whose likelihood has one maximum.
_NEWTON_STEPS = 8
# Weight of the common preferences among wrong labels, in wrong labels of a labeler.
_FAVOUR_ROWS = 10.0
# Avoids nan for a label that is impossible for every class.
_TINY = 1e-300


class GivenLabels(NamedTuple):
    """Labels of rows by labelers, in any order."""

    row: Array  # (m,) positions
    label: Array  # (m,) codes
    labeler: Array  # (m,) codes; n_labelers if unknown
    n_labelers: int

    def take(self, which: Array) -> GivenLabels:
        return GivenLabels(self.row[which], self.label[which], self.labeler[which], self.n_labelers)


class Matrices(NamedTuple):
    mislabel: Array  # (K, K) of all
    of_labelers: Array  # (G + 1, K, K); the last, common one is for labels whose labeler is unknown
    true: Array  # (n, K) P(true | x, labels, labelers)
    strength: float  # inf: one common matrix


@dataclass(frozen=True)
class LabelerModel:
    log_prior: Array  # (n, K) log P(true | x)
    given: GivenLabels
    fold: Array  # (n,)
    start: Array  # (K, K)
    structure: Any
    verified: Array | None = None

    @classmethod
    def of(
        cls, data: Dataset, fitted: Reweighted, structure: Any, given: GivenLabels, verified: Array | None
    ) -> LabelerModel:
        """For rows in their folds, with out-of-fold P(true | x) from a robust fit."""
        assert data.folds is not None
        log_prior = log_prior_of(data, fitted)
        fold = data.folds.of(np.arange(data.n_rows))
        return cls(log_prior, given, fold, fitted.calibration.mislabel[0], structure, verified)

    def as_started(self) -> Matrices:
        """One common matrix, as at the start."""
        matrices = np.repeat(self.start[None], self.given.n_labelers + 1, axis=0)
        return Matrices(self.start, matrices, self._expected(matrices)[0], np.inf)

    def pooled(self) -> Matrices:
        """One common matrix, fitted."""
        return self._solved(pooled=True)

    def solved(self) -> Matrices:
        return self._solved(pooled=False)

    def _solved(self, pooled: bool) -> Matrices:
        true, last, strength = self.as_started().true, -np.inf, np.inf
        for _ in range(_ROUNDS):
            counts = self.counts(true)
            mislabel = matrix_of(counts.sum(axis=0)[None], self.structure)[0]
            habits = _habits(mislabel, counts)
            strength = np.inf if pooled else _best_strength(counts[:-1], habits[:-1])
            matrices = _drawn_to(mislabel, habits, counts, strength)
            true, height = self._expected(matrices)
            if height - last < _TOLERANCE:
                break
            last = height
        return Matrices(mislabel, matrices, true, strength)

    def differ(self, found: Matrices) -> bool:
        """Whether out-of-fold matrices explain the labels better than one common matrix."""
        if self.given.n_labelers < 2:
            return False
        rows = np.unique(self.given.row)
        of_all = found.mislabel[self.given.label]
        gain = (self._log_likelihood(self._without_fold(found)) - self._log_likelihood(of_all))[rows]
        return bool(gain.mean() > _STANDARD_ERRORS * gain.std() / np.sqrt(len(gain)))

    def added_evidence(self, found: Matrices, observed: Array, mislabel: Array) -> Array:
        """(n, K) contribution of labels and labelers to log P(true), beyond the fit's label under `mislabel`; mean 0.

        observed : (n,) codes of the labels of the fit, K where there is none
        """
        added = self.log_evidence(found)
        there = np.flatnonzero(observed < len(mislabel))
        added[there] -= np.log(mislabel[observed[there]] + _TINY)
        return np.asarray(added - added.mean(axis=1, keepdims=True))

    def log_evidence(self, found: Matrices) -> Array:
        """(n, K) log P(labels | true, labelers) of every row, from out-of-fold matrices."""
        return self._by_row(np.log(self._without_fold(found) + _TINY))

    def without_label(self, found: Matrices) -> Array:
        """(m, K) P(true | x, the other labels of the row) of the row of every label; verified rows have their label."""
        told = np.log(found.of_labelers[self.given.labeler, self.given.label] + _TINY)
        joint = (self.log_prior + self._by_row(told))[self.given.row] - told
        true = np.exp(joint - joint.max(axis=1, keepdims=True))
        verified = None if self.verified is None else self.verified[self.given.row]
        return pin_verified(true / true.sum(axis=1, keepdims=True), verified)

    def counts(self, true: Array, which: Array | slice = slice(None)) -> Array:
        """(G + 1, K, K): P(true) added up by labeler and label. which : of the labels"""
        given, K = self.given, len(self.start)
        cell = (given.labeler * K + given.label)[which]
        row, size = given.row[which], (given.n_labelers + 1) * K
        sums = [np.bincount(cell, weights=true[row, k], minlength=size) for k in range(K)]
        return np.stack(sums, axis=1).reshape(given.n_labelers + 1, K, K)

    def _without_fold(self, found: Matrices) -> Array:
        """(m, K) P(label | true, labeler) of every label, from the rows of other folds."""
        given, fold = self.given, self.fold[self.given.row]
        total, own = self.counts(found.true), np.empty((len(given.row), len(self.start)))
        for each in np.unique(fold).tolist():
            here = np.flatnonzero(fold == each)
            counts = np.maximum(total - self.counts(found.true, here), 0.0)
            matrices = _drawn_to(found.mislabel, _habits(found.mislabel, counts), counts, found.strength)
            own[here] = matrices[given.labeler[here], given.label[here]]
        return own

    def _expected(self, matrices: Array) -> tuple[Array, float]:
        """P(true | x, labels, labelers), and the mean log-likelihood of the labels."""
        told = matrices[self.given.labeler, self.given.label]
        joint = self.log_prior + self._by_row(np.log(told + _TINY))
        top = joint.max(axis=1, keepdims=True)
        true = np.exp(joint - top)
        total = true.sum(axis=1, keepdims=True)
        return pin_verified(true / total, self.verified), float((np.log(total) + top).mean())

    def _log_likelihood(self, told: Array) -> Array:
        """(n,) of the labels of every row. told : (m, K) P(label | true)"""
        joint = self.log_prior + self._by_row(np.log(told + _TINY))
        top = joint.max(axis=1)
        return np.asarray(np.log(np.exp(joint - top[:, None]).sum(axis=1)) + top)

    def _by_row(self, values: Array) -> Array:
        """(n, K) sums over the labels of each row. values : (m, K)"""
        n, K = self.log_prior.shape
        return np.stack([np.bincount(self.given.row, weights=values[:, k], minlength=n) for k in range(K)], axis=1)


def _drawn_to(mislabel: Array, habits: Array, counts: Array, strength: float) -> Array:
    """(G + 1, K, K); the last is the common one."""
    if np.isinf(strength):
        return np.repeat(mislabel[None], len(counts), axis=0)
    drawn = counts + strength * habits
    drawn[-1] = mislabel
    return np.asarray(drawn / drawn.sum(axis=1, keepdims=True))


def _habits(mislabel: Array, counts: Array) -> Array:
    """(G + 1, K, K) the common matrix, adjusted for each labeler's care and favoured wrong labels.

    In log-odds against the right label, an entry is that of all, plus how much the labeler favours the label, less how
    careful they are: who favours one class is rarely wrong about its rows.
    """
    K = len(mislabel)
    off = 1.0 - np.eye(K)
    right = np.clip(np.diag(mislabel), 1e-6, 1.0 - 1e-6)
    of_all = (mislabel + _TINY) * off
    share = of_all.sum(axis=1) / of_all.sum()  # of the labels among wrong ones
    wrong = (counts * off).sum(axis=2)
    n_wrong = wrong.sum(axis=1, keepdims=True)
    favours = (wrong + _FAVOUR_ROWS * share) / ((n_wrong + _FAVOUR_ROWS) * np.maximum(share, _TINY))
    others = of_all * favours[:, :, None]
    more = np.maximum(others.sum(axis=1) / of_all.sum(axis=0), _TINY)  # (G + 1, K) times the odds of a wrong label
    own = _right(right, more, np.diagonal(counts, axis1=1, axis2=2), counts.sum(axis=1))
    others *= ((1.0 - own) / others.sum(axis=1))[:, None, :]
    return np.asarray(others + own[:, None, :] * np.eye(K))


def _right(right: Array, more: Array, n_right: Array, n_rows: Array) -> Array:
    """(G, K) P(label is right | true class) of each labeler: logit = that of all - log(more) + how careful they are.

    The maximum of a binomial likelihood with a normal prior, by Newton's steps. right : (K,); the others : (G, K)
    """
    base, careful = np.log(right / (1.0 - right)) - np.log(more), np.zeros((len(n_rows), 1))
    for _ in range(_NEWTON_STEPS):
        own = 1.0 / (1.0 + np.exp(-(base + careful)))
        slope = (n_right - n_rows * own).sum(axis=1, keepdims=True) - careful / CAREFUL_SPREAD**2
        curvature = (n_rows * own * (1.0 - own)).sum(axis=1, keepdims=True) + 1.0 / CAREFUL_SPREAD**2
        careful = careful + np.clip(slope / curvature, -1.0, 1.0)
    return np.asarray(1.0 / (1.0 + np.exp(-(base + careful))))


def _best_strength(counts: Array, habits: Array) -> float:
    each = [_log_probability(counts, strength * habits) for strength in STRENGTHS]
    return float(STRENGTHS[int(np.argmax(each))])


def _log_probability(counts: Array, prior: Array) -> float:
    """Of (expected) counts (G, K, K) under a Dirichlet prior (G, K, K) on every column."""
    prior = prior + 1e-9
    totals = gammaln(prior.sum(axis=1)) - gammaln(prior.sum(axis=1) + counts.sum(axis=1))
    return float(totals.sum() + (gammaln(prior + counts) - gammaln(prior)).sum())


def log_prior_of(data: Dataset, fitted: Reweighted) -> Array:
    """(n, K) log P(true | x) of all rows, in their order."""
    (found,) = data.collect(partial(_log_prior, fitted=fitted))
    return found


def _log_prior(rows: Rows, fitted: Reweighted) -> tuple[Array]:
    """(n, K) log P(true | x)."""
    joint = fitted.calibration.log_joint(fitted.scorer.scores(rows))[:, 0].astype(np.float64)
    top = joint.max(axis=1, keepdims=True)
    return (np.asarray(joint - top - np.log(np.exp(joint - top).sum(axis=1, keepdims=True))),)
