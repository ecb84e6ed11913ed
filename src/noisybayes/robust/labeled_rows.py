"""Labels of some rows by labelers, and the sums over them that the labelers' matrices are fitted to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..dataset import Dataset, Rows
from ..dataset.folds import hashed
from ..dataset.tree import Array, Pieces, summed
from .label_weights import Reweighted
from .recalibration import pin_verified

# Avoids nan for a label that is impossible for every class.
TINY = 1e-300


class GivenLabels(NamedTuple):
    """Labels of rows by labelers, in any order."""

    row: Array  # (m,) positions
    label: Array  # (m,) codes
    labeler: Array  # (m,) codes; n_labelers if unknown
    n_labelers: int

    def take(self, which: Array) -> GivenLabels:
        return GivenLabels(self.row[which], self.label[which], self.labeler[which], self.n_labelers)


class LabeledRows(NamedTuple):
    """A block of rows; each has one label, several, or none."""

    log_prior: Array  # (n, K) log P(true | x)
    given: GivenLabels
    fold: Array  # (n,)
    verified: Array | None = None  # (n,) codes; -1 where unknown
    observed: Array | None = None  # (n,) codes of the labels that P(true | x) was calibrated on; K where missing
    number: Array | None = None  # (n,) which of all rows these are; None: these are all

    @property
    def numbers(self) -> Array:
        return np.arange(len(self.log_prior)) if self.number is None else self.number

    def expected(self, matrices: Array) -> tuple[Array, Array]:
        """(n, K) P(true | x, labels, labelers), and (n,) the log-likelihood of the labels. matrices : (G + 1, K, K)"""
        joint = self.log_prior + self.by_row(np.log(matrices[self.given.labeler, self.given.label] + TINY))
        top = joint.max(axis=1, keepdims=True)
        true = np.exp(joint - top)
        total = true.sum(axis=1, keepdims=True)
        return pin_verified(true / total, self.verified), np.asarray((np.log(total) + top)[:, 0])

    def counts(self, true: Array, which: Array | slice = slice(None)) -> Array:
        """(G + 1, K, K): P(true) added up by labeler and label. which : of the labels"""
        given, K = self.given, true.shape[1]
        cell = (given.labeler * K + given.label)[which]
        row, size = given.row[which], (given.n_labelers + 1) * K
        sums = [np.bincount(cell, weights=true[row, k], minlength=size) for k in range(K)]
        return np.stack(sums, axis=1).reshape(given.n_labelers + 1, K, K)

    def counts_by_fold(self, true: Array, n_folds: int) -> Array:
        """(F, G + 1, K, K)"""
        fold = self.fold[self.given.row]
        return np.stack([self.counts(true, np.flatnonzero(fold == each)) for each in range(n_folds)])

    def log_likelihood(self, likelihood: Array) -> Array:
        """(n,) of the labels of every row. likelihood : (m, K) P(label | true)"""
        joint = self.log_prior + self.by_row(np.log(likelihood + TINY))
        top = joint.max(axis=1)
        return np.asarray(np.log(np.exp(joint - top[:, None]).sum(axis=1)) + top)

    def label_likelihood_out_of_fold(self, matrices: Array) -> Array:
        """(m, K) P(label | true, labeler) of every label. matrices : (F, G + 1, K, K) without the rows of each fold"""
        given = self.given
        return np.asarray(matrices[self.fold[given.row], given.labeler, given.label])

    def without_label(self, matrices: Array) -> Array:
        """(m, K) P(true | x, the other labels of the row) of the row of every label; verified rows have their label."""
        log_likelihood = np.log(matrices[self.given.labeler, self.given.label] + TINY)
        joint = (self.log_prior + self.by_row(log_likelihood))[self.given.row] - log_likelihood
        true = np.exp(joint - joint.max(axis=1, keepdims=True))
        verified = None if self.verified is None else self.verified[self.given.row]
        return pin_verified(true / true.sum(axis=1, keepdims=True), verified)

    def by_row(self, values: Array) -> Array:
        """(n, K) sums over the labels of each row. values : (m, K)"""
        return sums_by_row(self.given.row, values, len(self.log_prior))

    def label_keys(self, seed: int) -> Array:
        """(m,) uint64: a random number for each label, the same wherever its row is."""
        return hashed(seed, self.numbers[self.given.row] * (self.given.n_labelers + 1) + self.given.labeler)

    def take(self, rows: Array, which: Array) -> LabeledRows:
        """Some rows and some of their labels, by ascending positions."""
        given = self.given.take(which)
        return LabeledRows(
            self.log_prior[rows], given._replace(row=np.searchsorted(rows, given.row)), self.fold[rows],
            None if self.verified is None else self.verified[rows],
            None if self.observed is None else self.observed[rows], self.numbers[rows],
        )  # fmt: skip


def sums_by_row(row: Array, values: Array, n_rows: int) -> Array:
    """(n, K) sums over the labels of each row. row : (m,) positions; values : (m, K)"""
    return np.stack([np.bincount(row, weights=column, minlength=n_rows) for column in values.T], axis=1)


#: Maps a function of a block to its sum over all blocks, wherever they are.
OverRows = Callable[[Callable[[LabeledRows], Any]], Any]


@dataclass(frozen=True)
class InMemory:
    """Blocks of rows that this process holds."""

    blocks: Sequence[LabeledRows]

    def __call__(self, fn: Callable[[LabeledRows], Any]) -> Any:
        return summed(map(fn, self.blocks))


def joined(blocks: Sequence[LabeledRows]) -> LabeledRows:
    """Blocks as one, with the rows in order."""
    sizes = [len(block.log_prior) for block in blocks]
    before = np.cumsum([0, *sizes[:-1]])
    number = np.concatenate([block.numbers for block in blocks])
    place = np.empty(len(number), dtype=np.intp)
    order = np.argsort(number, kind="stable")
    place[order] = np.arange(len(number))

    def together(name: str) -> Array | None:
        values = [getattr(block, name) for block in blocks]
        return None if values[0] is None else np.concatenate(values)[order]

    row, label, labeler = (
        np.concatenate([getattr(block.given, name) + (first if name == "row" else 0) for block, first in
                        zip(blocks, before.tolist(), strict=True)])
        for name in ("row", "label", "labeler")
    )  # fmt: skip
    by_row = np.argsort(place[row], kind="stable")
    given = GivenLabels(place[row][by_row], label[by_row], labeler[by_row], blocks[0].given.n_labelers)
    return LabeledRows(
        np.concatenate([block.log_prior for block in blocks])[order], given,
        np.concatenate([block.fold for block in blocks])[order], together("verified"), together("observed"),
        number[order],
    )  # fmt: skip


@dataclass(frozen=True)
class OneLabel:
    """Each row has one label, which the model was fitted to; a column of the groups says who gave it."""

    column: int  # of the labelers in `Rows.groups`
    n_labelers: int
    n_classes: int

    def __call__(self, rows: Rows) -> GivenLabels:
        there = np.flatnonzero(rows.observed < self.n_classes)
        labeler = rows.groups[there, self.column].astype(np.intp)
        return GivenLabels(there, rows.observed[there].astype(np.intp), labeler, self.n_labelers)


def row_codes(codes: Any) -> tuple[Array, Array]:
    """(m,) the row of each label, and its code.

    codes : (n, C) with -1 where there is none; or CSR with 1 added, if some rows have many more labels than others
    """
    if sparse.issparse(codes):
        return np.repeat(np.arange(codes.shape[0]), np.diff(codes.indptr)), codes.data.astype(np.intp) - 1
    row, column = np.nonzero(codes >= 0)
    return row, codes[row, column].astype(np.intp)


@dataclass(frozen=True)
class CodedLabels:
    """The groups have the labels of each row, as labeler * V + value (see `row_codes`)."""

    class_of: Array  # (V,) the class of each value; `n_classes` if it is none of them
    n_labelers: int
    n_classes: int

    def __call__(self, rows: Rows) -> GivenLabels:
        return self.of_codes(rows.groups)

    def of_codes(self, codes: Any) -> GivenLabels:
        row, code = row_codes(codes)
        labeler, value = np.divmod(code, len(self.class_of))
        label = self.class_of[value]
        return GivenLabels(row, label, labeler, self.n_labelers).take(np.flatnonzero(label < self.n_classes))


@dataclass(frozen=True)
class ToLabeledRows:
    """Turns a block of rows into labels by labelers."""

    fitted: Reweighted
    labels: OneLabel | CodedLabels

    def __call__(self, rows: Rows) -> LabeledRows:
        log_prior, given = log_prior_of_rows(rows, self.fitted), self.labels(rows)
        return LabeledRows(log_prior, given, rows.fold, rows.verified, rows.observed, rows.number)


def held_here(data: Dataset, to_labeled: ToLabeledRows) -> InMemory:
    """The rows of a fit, all in the memory of this process."""
    return InMemory(data.map_sum(partial(_as_piece, to_labeled=to_labeled)).items)


def _as_piece(rows: Rows, to_labeled: ToLabeledRows) -> Pieces:
    return Pieces([to_labeled(rows)])


def log_prior_of(data: Dataset, fitted: Reweighted) -> Array:
    """(n, K) log P(true | x) of all rows, in their order."""
    (found,) = data.collect(partial(_log_prior, fitted=fitted))
    return found


def _log_prior(rows: Rows, fitted: Reweighted) -> tuple[Array]:
    return (log_prior_of_rows(rows, fitted),)


def log_prior_of_rows(rows: Rows, fitted: Reweighted) -> Array:
    """(n, K) log P(true | x)."""
    joint = fitted.calibration.log_joint(fitted.scorer.scores(rows))[:, 0].astype(np.float64)
    top = joint.max(axis=1, keepdims=True)
    return np.asarray(joint - top - np.log(np.exp(joint - top).sum(axis=1, keepdims=True)))
