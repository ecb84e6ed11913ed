"""A mislabeling matrix for each labeler, shrunk towards the common one; rows have one label, several, or none.

    P(label l | true k, labeler g) = matrix_g[l, k],    column k of matrix_g ~ Dirichlet(strength_g * habits_g[:, k])

where habits_g is the common matrix adjusted for how often the labeler is right and which wrong labels they favour. A
labeler with five labels borrows from the others, and one with five thousand is estimated almost alone; with many
classes, a hundred labels show how careful a labeler is, but not 20 x 20 entries. strength_g is one of `STRENGTHS`: most
labelers may follow their habits while one swaps two classes. How common each strength is maximises the probability of
the expected counts of all labelers. The labels of a row are independent given its true label (Dawid and Skene, 1979),
and the features are additional evidence (Raykar et al., 2010). Matrices are fitted by EM over the true labels, with
P(true | x) fixed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln

from ..dataset import Rows
from ..dataset.tree import Array
from .calibration import matrix_of
from .labeled_rows import TINY, InMemory, LabeledRows, OverRows

#: Weight of the common matrix in the matrix of each labeler, in rows; from almost no shrinkage to almost full.
STRENGTHS = 2.0 ** np.arange(1, 13)
# Labelers differ if their matrices explain held-out labels better by this many standard errors.
_STANDARD_ERRORS = 2.0
# Maximum rounds of EM, and the gain per row, in nats, below which it stops.
_ROUNDS, _TOLERANCE = 200, 1e-7
# Change of the factor of log P(true | x) below which its fit stops.
_FACTOR_TOLERANCE = 1e-4
# Standard deviation, in log-odds, of how careful labelers are: they may be nearly perfect, or nearly random.
CAREFUL_SPREAD = 2.0
# Newton steps for that parameter, whose likelihood has one maximum.
_NEWTON_STEPS = 8
# Steps of EM for how common each strength is: its likelihood is concave, and labelers are few.
_MIXTURE_STEPS = 50
# Weight of the common preferences among wrong labels, in wrong labels of a labeler.
_FAVOUR_ROWS = 10.0


class Matrices(NamedTuple):
    mislabel: Array  # (K, K) of all
    of_labelers: Array  # (G + 1, K, K); the last, common one is for labels whose labeler is unknown
    counts: Array  # (G + 1, K, K) expected labels by labeler, label and true label
    strengths: Array | None  # (S,) how common each of STRENGTHS is; None: one common matrix


class _Expected(NamedTuple):
    counts: Array  # (G + 1, K, K)
    log_likelihood: Array  # sum over the rows
    n_rows: Array


@dataclass(frozen=True)
class LabelerModel:
    over_rows: OverRows  # labels and P(true | x), out of fold
    n_labelers: int
    n_folds: int
    start: Array  # (K, K)
    structure: Any

    @classmethod
    def of_rows(cls, rows: LabeledRows, start: Array, structure: Any) -> LabelerModel:
        """For rows in memory."""
        return cls(InMemory([rows]), rows.given.n_labelers, int(rows.fold.max()) + 1, start, structure)

    def as_started(self) -> Matrices:
        """One common matrix, as at the start."""
        matrices = np.repeat(self.start[None], self.n_labelers + 1, axis=0)
        return Matrices(self.start, matrices, self._expected(matrices).counts, None)

    def solved(self) -> Matrices:
        current, last = self.as_started(), -np.inf
        counts = current.counts
        for _ in range(_ROUNDS):
            current = self._of_counts(counts)
            found = self._expected(current.of_labelers)
            counts, height = found.counts, float(found.log_likelihood / found.n_rows)
            if height - last < _TOLERANCE:
                break
            last = height
        return current._replace(counts=counts)

    def _of_counts(self, counts: Array) -> Matrices:
        mislabel = matrix_of(counts.sum(axis=0)[None], self.structure)[0]
        habits = _habits(mislabel, counts)
        log_probability = _log_probabilities(counts, habits)
        strengths = _shares_of_strengths(log_probability[:-1])
        posterior = _strength_posterior(log_probability, strengths)
        return Matrices(mislabel, _drawn_to(mislabel, habits, counts, posterior), counts, strengths)

    def differ(self, found: Matrices) -> bool:
        """Whether out-of-fold matrices explain the labels better than one common matrix."""
        if self.n_labelers < 2:
            return False
        n, total, squares = self.over_rows(
            partial(_gain, matrices=self.out_of_fold(found), mislabel=found.mislabel)
        ).tolist()
        spread = np.sqrt(max(squares / n - (total / n) ** 2, 0.0))
        return bool(total / n > _STANDARD_ERRORS * spread / np.sqrt(n))

    def out_of_fold(self, found: Matrices) -> Array:
        """(F, G + 1, K, K) matrices without the rows of each fold."""
        by_fold = self.over_rows(partial(_counts_by_fold, matrices=found.of_labelers, n_folds=self.n_folds))
        return np.stack([_without(found, own) for own in by_fold])

    def _expected(self, matrices: Array) -> _Expected:
        expected: _Expected = self.over_rows(partial(_expected_counts, matrices=matrices))
        return expected


@dataclass(frozen=True)
class LabelerTerms:
    """(n, K) contribution of the labeler to log P(true) of rows with one label each, beyond the label under the common
    matrix; mean 0."""

    matrices: Array  # (F, G + 1, K, K) log P(label | true, labeler) out of fold, less that of the common matrix
    column: int  # of the labelers in `Rows.groups`

    @classmethod
    def of(cls, model: LabelerModel, found: Matrices, column: int) -> LabelerTerms:
        return cls(np.log(model.out_of_fold(found) + TINY) - np.log(found.mislabel + TINY), column)

    def __call__(self, rows: Rows) -> Array:
        K = self.matrices.shape[-1]
        added, there = np.zeros((rows.n_rows, K)), np.flatnonzero(rows.observed < K)
        labeler = rows.groups[there, self.column]
        added[there] = self.matrices[rows.fold[there], labeler, rows.observed[there]]
        return np.asarray(added - added.mean(axis=1, keepdims=True))


def _expected_counts(rows: LabeledRows, matrices: Array) -> _Expected:
    true, log_likelihood = rows.expected(matrices)
    return _Expected(rows.counts(true), np.asarray(log_likelihood.sum()), np.asarray(float(len(true))))


def _counts_by_fold(rows: LabeledRows, matrices: Array, n_folds: int) -> Array:
    return rows.counts_by_fold(rows.expected(matrices)[0], n_folds)


def _gain(rows: LabeledRows, matrices: Array, mislabel: Array) -> Array:
    """Number of rows with labels, and the sum and the sum of squares of the nats gained by a matrix per labeler."""
    gain = rows.log_likelihood(rows.label_likelihood_out_of_fold(matrices)) - rows.log_likelihood(
        mislabel[rows.given.label]
    )
    gain = gain[np.unique(rows.given.row)]
    return np.array([len(gain), gain.sum(), (gain**2).sum()])


def _without(found: Matrices, own: Array) -> Array:
    """(G + 1, K, K) the matrices without the counts `own` (G + 1, K, K)."""
    assert found.strengths is not None
    counts = np.maximum(found.counts - own, 0.0)
    habits = _habits(found.mislabel, counts)
    posterior = _strength_posterior(_log_probabilities(counts, habits), found.strengths)
    return _drawn_to(found.mislabel, habits, counts, posterior)


def _drawn_to(mislabel: Array, habits: Array, counts: Array, strengths: Array) -> Array:
    """(G + 1, K, K) posterior means; the last is the common matrix. strengths : (G + 1, S) posterior of each labeler"""
    drawn = np.zeros_like(counts)
    for share, strength in zip(strengths.T, STRENGTHS, strict=True):
        of_strength = counts + strength * habits
        drawn += share[:, None, None] * of_strength / of_strength.sum(axis=1, keepdims=True)
    drawn[-1] = mislabel
    return drawn


def _habits(mislabel: Array, counts: Array) -> Array:
    """(G + 1, K, K) the common matrix, adjusted for each labeler's care and favoured wrong labels.

    In log-odds against the right label, an entry is that of all, plus how much the labeler favours the label, less how
    careful they are: who favours one class is rarely wrong about its rows.
    """
    K = len(mislabel)
    off = 1.0 - np.eye(K)
    right = np.clip(np.diag(mislabel), 1e-6, 1.0 - 1e-6)
    of_all = (mislabel + TINY) * off
    share = of_all.sum(axis=1) / of_all.sum()  # of the labels among wrong ones
    wrong = (counts * off).sum(axis=2)
    n_wrong = wrong.sum(axis=1, keepdims=True)
    favours = (wrong + _FAVOUR_ROWS * share) / ((n_wrong + _FAVOUR_ROWS) * np.maximum(share, TINY))
    others = of_all * favours[:, :, None]
    more = np.maximum(others.sum(axis=1) / of_all.sum(axis=0), TINY)  # (G + 1, K) times the odds of a wrong label
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


def _log_probabilities(counts: Array, habits: Array) -> Array:
    """(G, S) log P(expected counts (G, K, K) of each labeler), with each of STRENGTHS."""
    by_column = counts.sum(axis=1)

    def of_strength(strength: float) -> Array:
        prior = strength * habits + 1e-9
        total = prior.sum(axis=1)
        columns = gammaln(total) - gammaln(total + by_column)
        return np.asarray(columns.sum(axis=1) + (gammaln(prior + counts) - gammaln(prior)).sum(axis=(1, 2)))

    return np.column_stack([of_strength(strength) for strength in STRENGTHS])


def _strength_posterior(log_probability: Array, shares: Array) -> Array:
    """(G, S) of the strength of each labeler."""
    log_joint = log_probability + np.log(shares + TINY)
    joint = np.exp(log_joint - log_joint.max(axis=1, keepdims=True))
    return np.asarray(joint / joint.sum(axis=1, keepdims=True))


def _shares_of_strengths(log_probability: Array) -> Array:
    """(S,) how common each strength is: the maximum of the likelihood of a mixture, by EM."""
    shares = np.full(len(STRENGTHS), 1.0 / len(STRENGTHS))
    for _ in range(_MIXTURE_STEPS):
        shares = _strength_posterior(log_probability, shares).mean(axis=0)
    return shares
