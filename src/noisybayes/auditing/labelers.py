"""Who gave the labels: a mislabeling matrix for each labeler, drawn towards that of all.

    P(label l | true k, labeler g) = matrix_g[l, k],    column k of matrix_g ~ Dirichlet(strength * mislabel[:, k])

so that a labeler with five rows borrows from the others and one with five thousand stands alone. Matrices and strength
(under which the expected counts of all labelers are most probable) are fitted by EM over the true labels, with
P(true | x) as the fit has it. A row is judged by the matrix of its labeler without the row's fold. If that does not
explain the labels better than one matrix for all, beyond chance, labelers do not differ, and the audit stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from scipy.special import gammaln

from ..data.cells import as_text
from ..data.errors import InputError
from ..dataset import Rows
from ..dataset.tree import Array
from ..robust.calibration import matrix_of
from ..robust.recalibration import pin_verified
from .careful_fit import scores_of
from .judged import Judged, Labelers
from .row_evidence import RowEvidence, judged_with
from .table import Table
from .view_options import check_in_memory

if TYPE_CHECKING:
    from .pipeline import FitOptions

# Rows that the matrix of all counts for in the matrix of each labeler; from nearly none to nearly all.
_STRENGTHS = 2.0 ** np.arange(1, 13)
# Labelers differ if their matrices explain labels that they were not fitted to better by this many standard errors.
_STANDARD_ERRORS = 2.0
# A bound on the rounds of EM, and the gain per row, in nats, below which it ends.
_ROUNDS, _TOLERANCE = 200, 1e-7
# More labelers than this share of the rows: that is an identifier.
_MOST_LABELERS = 0.5


def check_labelers(table: Table, options: FitOptions) -> None:
    if table.roles.labeler is None:
        return
    check_in_memory("--labeler", options)
    _names_and_codes(table, table.roles.labeler)  # a wrong column should not be found out after the fit


def join_labelers(judged: Judged, table: Table) -> tuple[Judged, tuple[str, ...]]:
    """What the fit says once it knows who gave each label, and sentences about it."""
    column = table.roles.labeler
    if column is None:
        return judged, ()
    if judged.training is None:
        return judged, ("labelers are left out: rows are too few for them",)
    names, code = _names_and_codes(table, column)
    problem = _Problem.of(judged, code, len(names))
    found = problem.solved()
    if not problem.differ(found):
        told = problem.described(column, names, problem.pooled())
        note = f"labelers: {column!r} ({len(names)}; their mistakes do not differ beyond chance)"
        return replace(judged, labelers=told), (note,)
    words = tuple(f"labeled by {name}" for name in names)
    evidence = RowEvidence(problem.log_evidence(found), np.where(problem.is_labeled, code, len(names)), words)
    told = problem.described(column, names, found)
    note = f"labelers: {column!r} ({len(names)}, each with a mislabeling matrix of its own)"
    return replace(judged_with(judged, evidence, found.mislabel), labelers=told), (note,)


def _names_and_codes(table: Table, column: str) -> tuple[tuple[str, ...], Array]:
    """Names of the labelers, and that of every row; len(names) where it is missing."""
    assert isinstance(table.source, pl.DataFrame)
    given = as_text(table.source[column]).str.strip_chars().replace("", None)
    names = given.drop_nulls().unique().sort()
    if not len(names):
        raise InputError(f"--labeler: the column {column!r} is empty in every row")
    if len(names) > max(2, _MOST_LABELERS * len(given)):
        raise InputError(
            f"--labeler: the column {column!r} has {len(names):,} distinct values in {len(given):,} rows, and looks "
            "like an identifier; name the column that tells who labeled a row"
        )
    code = given.cast(pl.Enum(names)).to_physical().cast(pl.Int64).fill_null(len(names)).to_numpy()
    return tuple(names.to_list()), np.asarray(code)


class _Matrices(NamedTuple):
    mislabel: Array  # (K, K) of all
    of_labelers: Array  # (G + 1, K, K); the last, of all, is that of rows whose labeler is not known
    true: Array  # (n, K) P(true | x, label, labeler)
    strength: float


@dataclass(frozen=True)
class _Problem:
    log_prior: Array  # (n, K) log P(true | x)
    observed: Array
    verified: Array | None
    labeler: Array  # (n,) codes; G where it is missing
    n_labelers: int
    fold: Array
    start: Array  # (K, K)
    structure: Any

    @classmethod
    def of(cls, judged: Judged, labeler: Array, n_labelers: int) -> _Problem:
        assert judged.training is not None
        assert judged.observed is not None
        assert judged.data.folds is not None
        (scores,) = judged.data.collect(partial(_scores, fitted=judged.fitted))
        return cls(
            _log_normalised(scores), judged.observed, judged.verified, labeler, n_labelers,
            judged.data.folds.of(np.arange(judged.n_rows)), judged.fitted.calibration.mislabel[0],
            judged.training.found.problem.structure,
        )  # fmt: skip

    @property
    def is_labeled(self) -> Array:
        return np.asarray(self.observed < len(self.start))

    def pooled(self) -> _Matrices:
        """One matrix for all."""
        matrices = np.repeat(self.start[None], self.n_labelers + 1, axis=0)
        return _Matrices(self.start, matrices, self._expected(matrices)[0], np.inf)

    def solved(self) -> _Matrices:
        true, last = self.pooled().true, -np.inf
        for _ in range(_ROUNDS):
            counts = self._counts(true)
            mislabel = matrix_of(counts.sum(axis=0)[None], self.structure)[0]
            strength = _best_strength(counts[:-1], mislabel)
            matrices = _drawn_to(mislabel, counts, strength)
            true, height = self._expected(matrices)
            if height - last < _TOLERANCE:
                break
            last = height
        return _Matrices(mislabel, matrices, true, strength)

    def differ(self, found: _Matrices) -> bool:
        """Whether matrices without the row's fold explain its label better than one matrix for all."""
        there = np.flatnonzero(self.is_labeled)
        prior = np.exp(self.log_prior[there])
        alike = (prior * found.mislabel[self.observed[there]]).sum(axis=1)
        own = (prior * self._without_fold(found)[there]).sum(axis=1)
        gain = np.log(own + 1e-300) - np.log(alike + 1e-300)
        return bool(gain.mean() > _STANDARD_ERRORS * gain.std() / np.sqrt(len(gain)))

    def log_evidence(self, found: _Matrices) -> Array:
        """(n, K) what is added to log P(true) by who gave the label."""
        added = np.zeros_like(self.log_prior)
        there = np.flatnonzero(self.is_labeled)
        own, of_all = self._without_fold(found)[there], found.mislabel[self.observed[there]]
        added[there] = np.log(own + 1e-300) - np.log(of_all + 1e-300)
        return np.asarray(added - added.mean(axis=1, keepdims=True))

    def _without_fold(self, found: _Matrices) -> Array:
        """(n, K) P(label | true, labeler) of every row with a label, from the other folds."""
        total, own = self._counts(found.true), np.ones_like(self.log_prior)
        for fold in np.unique(self.fold).tolist():
            here = np.flatnonzero((self.fold == fold) & self.is_labeled)
            counts = np.maximum(total - self._counts(found.true, here), 0.0)
            matrices = _drawn_to(found.mislabel, counts, found.strength)
            own[here] = matrices[self.labeler[here], self.observed[here]]
        return own

    def described(self, column: str, names: tuple[str, ...], found: _Matrices) -> Labelers:
        there = np.flatnonzero(self.is_labeled & (self.labeler < self.n_labelers))
        labeler, weight = self.labeler[there], 1.0 - found.true[there, self.observed[there]]
        n_rows = np.bincount(labeler, minlength=self.n_labelers)
        n_wrong = np.bincount(labeler, weights=weight, minlength=self.n_labelers)
        counts = self._counts(found.true)[:-1]
        return Labelers(
            column, names, n_rows, n_wrong / np.maximum(n_rows, 1), counts, found.of_labelers[:-1],
            bool(np.isfinite(found.strength)),
        )  # fmt: skip

    def _counts(self, true: Array, rows: Array | None = None) -> Array:
        """(G + 1, K, K): P(true) added up by labeler and label."""
        K = len(self.start)
        rows = np.flatnonzero(self.is_labeled) if rows is None else rows
        cell = self.labeler[rows] * K + self.observed[rows]
        size = (self.n_labelers + 1) * K
        sums = [np.bincount(cell, weights=true[rows, k], minlength=size) for k in range(K)]
        return np.stack(sums, axis=1).reshape(self.n_labelers + 1, K, K)

    def _expected(self, matrices: Array) -> tuple[Array, float]:
        """P(true | x, label, labeler), and the mean log-likelihood of the labels."""
        joint = self.log_prior.copy()
        there = np.flatnonzero(self.is_labeled)
        joint[there] += np.log(matrices[self.labeler[there], self.observed[there]] + 1e-300)
        top = joint.max(axis=1, keepdims=True)
        true = np.exp(joint - top)
        total = true.sum(axis=1, keepdims=True)
        return pin_verified(true / total, self.verified), float((np.log(total) + top).mean())


def _drawn_to(mislabel: Array, counts: Array, strength: float) -> Array:
    """(G + 1, K, K); the last is that of all."""
    drawn = counts + strength * mislabel
    drawn[-1] = mislabel
    return np.asarray(drawn / drawn.sum(axis=1, keepdims=True))


def _log_normalised(scores: Array) -> Array:
    top = scores.max(axis=1, keepdims=True)
    return np.asarray(scores - top - np.log(np.exp(scores - top).sum(axis=1, keepdims=True)))


def _best_strength(counts: Array, mislabel: Array) -> float:
    each = [_log_probability(counts, strength * mislabel) for strength in _STRENGTHS]
    return float(_STRENGTHS[int(np.argmax(each))])


def _log_probability(counts: Array, prior: Array) -> float:
    """Of (expected) counts (G, K, K) under a Dirichlet prior (K, K) on every column."""
    prior = prior + 1e-9
    totals = gammaln(prior.sum(axis=0)) - gammaln(prior.sum(axis=0) + counts.sum(axis=1))
    return float(totals.sum() + (gammaln(prior + counts) - gammaln(prior)).sum())


def _scores(rows: Rows, fitted: Any) -> tuple[Array]:
    return (scores_of(fitted, rows),)
