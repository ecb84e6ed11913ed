"""The vote of the labelers of each row, which the model is fitted to: the most probable label given only the labels,
each weighted by how well its labeler agrees with the others (the model of labelers without any columns).

Given the labelers' matrices, the vote of a row depends only on its labels, so a table can be voted on block by block.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from ..data.errors import InputError
from ..data.label_variants import Variants, label_variants
from ..data.roles import check_number_of_labels, label_texts
from ..dataset.folds import hashed
from ..dataset.tree import Array
from ..robust.labeled_rows import CodedLabels, LabeledRows, row_codes
from ..robust.labeler_model import LabelerModel
from ..robust.old_model.mislabel import Full, constant_rate
from ..text.coded_columns import Codes, positions
from ..text.tally import Tally

#: With more rows, the labelers' matrices are fitted to this many labeled rows, drawn by a hash of their numbers.
MOST_ROWS = 200_000
# Labels are mostly right: the overall matrix starts here.
_START_DIAGONAL = 0.8
# Seed of the hash that draws rows, different from those of folds and other samples.
_SEED = 0x564F


@dataclass(frozen=True)
class LabelCoder:
    """The labels in the columns of a frame, one column for each labeler, as codes."""

    columns: tuple[str, ...]
    values: tuple[str, ...]  # the V labels that occur, sorted, one spelling each
    variants: Variants
    missing_label: str | None

    def __call__(self, frame: pl.DataFrame) -> Array:
        """(n, C) labeler * V + value; -1 where a cell is empty"""
        return self.of_cells(label_cells(frame, self.columns, self.missing_label))

    def of_cells(self, cells: Sequence[Codes]) -> Array:
        values = pl.Series(self.values, dtype=pl.String)
        columns = []
        for labeler, one in enumerate(cells):
            value = positions(self.variants.applied(one.values), values).astype(np.int32)
            columns.append(np.append(value + np.int32(labeler * len(values)), np.int32(-1))[one.codes])
        return np.stack(columns, axis=1)


def label_cells(frame: pl.DataFrame, columns: Sequence[str], missing_label: str | None) -> list[Codes]:
    return [Codes.of(label_texts(frame[name], missing_label)) for name in columns]


class CountedLabels(NamedTuple):
    """The labels of a table, wherever its rows are."""

    coder: LabelCoder
    counts: Array  # (V,) how often each value occurs

    @classmethod
    def of(
        cls, total: pl.DataFrame, columns: Sequence[str], missing_label: str | None, keep_variants: bool
    ) -> CountedLabels:
        """total : columns `value` and `count`"""
        check_number_of_labels(int(total["count"].sum()), total.height, columns)
        by_label = dict(total.iter_rows())
        variants = label_variants(by_label, keep_variants)
        counts = dict(sorted(variants.merged(by_label).items()))
        coder = LabelCoder(tuple(columns), tuple(counts), variants, missing_label)
        return cls(coder, np.array(list(counts.values()), dtype=float))

    def check(self) -> None:
        if not len(self.counts):
            names = ", ".join(map(repr, self.coder.columns))
            raise InputError(f"the label columns {names} are empty in every row; choose others with --label")


def counted_labels(
    frames: Iterable[pl.DataFrame], columns: Sequence[str], missing_label: str | None, keep_variants: bool
) -> tuple[CountedLabels, Array]:
    """The labels of a table that this process reads, and their codes (n, C)."""
    tally, cells = Tally(), []
    for frame in frames:
        cells.append(label_cells(frame, columns, missing_label))
        for one in cells[-1]:
            tally.add(one.values, one.counts)
    counted = CountedLabels.of(tally.total(), columns, missing_label, keep_variants)
    return counted, np.concatenate([counted.coder.of_cells(each) for each in cells])


class VoteModel(NamedTuple):
    log_shares: Array  # (V,) of the labels
    matrices: Array  # (G + 1, V, V) P(label | true) of each labeler

    @classmethod
    def fit(cls, codes: Any, counts: Array, n_labelers: int) -> VoteModel:
        """codes : of all rows or of a sample (`rows_to_fit`); counts : (V,) of the labels of all rows"""
        log_shares = np.log(counts / counts.sum())
        rows = _labeled(codes, log_shares, n_labelers)
        model = LabelerModel.of_rows(rows, constant_rate(len(counts), _START_DIAGONAL), Full())
        # rows with one label say nothing about labelers, and neither does the only label
        comparable = len(counts) > 1 and (np.bincount(rows.given.row) > 1).any()
        found = model.solved() if comparable else model.as_started()
        return cls(log_shares, found.of_labelers)

    def __call__(self, codes: Any) -> Array:
        """(n,) the value that each row is voted to have; -1 if it has no label."""
        true, _ = _labeled(codes, self.log_shares, len(self.matrices) - 1).expected(self.matrices)
        return np.where(_has_label(codes), true.argmax(axis=1), -1)


def _labeled(codes: Any, log_shares: Array, n_labelers: int) -> LabeledRows:
    n_rows, n_values = codes.shape[0], len(log_shares)
    given = CodedLabels(np.arange(n_values), n_labelers, n_values).of_codes(codes)
    return LabeledRows(np.tile(log_shares, (n_rows, 1)), given, np.zeros(n_rows, dtype=int))


def _has_label(codes: Any) -> Array:
    """(n,) bool"""
    return np.bincount(row_codes(codes)[0], minlength=codes.shape[0]) > 0


def rows_to_fit(number: Array, has_label: Array, n_rows: int) -> Array:
    """Ascending positions of the rows that a vote is fitted to: all, or the labeled ones with the lowest hashes.

    Of some of the rows, these are the ones that may be among the rows to fit. number, has_label : (m,); n_rows : of all
    """
    if n_rows <= MOST_ROWS:
        return np.arange(len(number))
    labeled = np.flatnonzero(has_label)
    if len(labeled) <= MOST_ROWS:
        return labeled
    lowest = np.argpartition(hashed(_SEED, number[labeled]), MOST_ROWS)[:MOST_ROWS]
    return np.sort(labeled[lowest])


def fitted_vote(codes: Any, counts: Array, n_labelers: int) -> VoteModel:
    """codes : of all rows"""
    n_rows = codes.shape[0]
    return VoteModel.fit(codes[rows_to_fit(np.arange(n_rows), _has_label(codes), n_rows)], counts, n_labelers)


def named(values: Sequence[str], codes: Array) -> pl.Series:
    """(n,) labels; null where the code is negative."""
    at = pl.Series(codes, dtype=pl.Int64)
    return pl.Series(values, dtype=pl.String).gather(at.set(at < 0, None))


@dataclass(frozen=True)
class AddVote:
    """Adds the vote to each frame of a table as one more column."""

    coder: LabelCoder
    model: VoteModel
    column: str

    def __call__(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame.with_columns(named(self.coder.values, self.model(self.coder(frame))).alias(self.column))
