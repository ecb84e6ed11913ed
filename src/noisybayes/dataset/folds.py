"""The fold of a row as a function of its number, and samples that depend on nothing else.

Any process that has a row can compute its fold, so no list of folds is needed. A hash of the row number splits many
rows evenly enough. Rows of small classes, and all rows of small tables, are assigned round-robin instead, in the order
of a hash of their features: a short table of their numbers and folds is kept with the seed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .tree import Array

# Below this many rows, folds are stratified by class.
_STRATIFY_BELOW = 10_000
# Always stratified for classes with fewer rows per fold than this.
_STRATIFY_BELOW_PER_FOLD = 20


def hashed(seed: int, number: Array) -> Array:
    """(n,) uint64: a random number for each row number (splitmix64)."""
    z = number.astype(np.uint64) + np.uint64(1)
    with np.errstate(over="ignore"):
        z = z * np.uint64(0x9E3779B97F4A7C15) + np.uint64((seed * 0xD1342543DE82EF95 + 1) % 2**64)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray(z ^ (z >> np.uint64(31)))


def uniform(seed: int, number: Array) -> Array:
    """(n,) a random number in (0, 1) for each row number."""
    return np.asarray(((hashed(seed, number) >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53)


class Folds(NamedTuple):
    seed: int
    n_folds: int
    assigned: Array  # (m,) sorted numbers of the rows whose fold is not their hash
    fold: Array  # (m,) their folds

    @classmethod
    def by_hash(cls, seed: int, n_folds: int) -> Folds:
        """Folds by hash alone."""
        return cls(seed, n_folds, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int16))

    def of(self, number: Array) -> Array:
        """(n,) the folds of rows by their numbers."""
        fold = (hashed(self.seed, number) % np.uint64(self.n_folds)).astype(np.int16)
        if len(self.assigned):
            where = np.minimum(np.searchsorted(self.assigned, number), len(self.assigned) - 1)
            is_assigned = self.assigned[where] == number
            fold[is_assigned] = self.fold[where[is_assigned]]
        return fold


# As many equal rows as this are spread over the folds. If their labels could not inform each other, wrong labels in
# data with few distinct rows would rank worse: Live Streaming has AP .59 with 0 or 5, .56 with 10, .52 without a limit.
_MIN_COPIES_TO_SPREAD = 5
# One fold is held out, and one of the rest again; fewer groups than twice three folds are assigned row by row.
_MIN_GROUPS = 6
# Seed of the keys of rows that are assigned one by one.
_SINGLE_ROW_SEED = 0x0DEA


class FoldKeys(NamedTuple):
    """What determines the folds of some rows."""

    number: Array  # (m,)
    label: Array  # (m,) class codes
    content: Array  # (m,) uint64: equal for rows with equal features
    weight: Array  # (m,)


def small_classes(counts: Array, n_folds: int) -> Array:
    """(K + 1,) bool: the classes (the last: no label) whose rows are assigned one by one, given their row counts.
    Rows without a label do not train the model, so their folds do not matter."""
    if counts.sum() < _STRATIFY_BELOW:
        return np.ones(len(counts), dtype=bool)
    small = counts < _STRATIFY_BELOW_PER_FOLD * n_folds
    small[-1] = False
    return np.asarray(small)


def stratified_folds(seed: int, n_folds: int, rows: FoldKeys, are_all: bool) -> Folds:
    """Folds that are stratified by label for these rows, and hashed for all others.

    A few equal rows share a fold, so that a row of weight 2 counts as two rows do. Many of them are spread over all
    folds: their labels are evidence for each other. There are no more folds than groups.

    are_all : whether these are all rows
    """
    key, first, group = _groups(rows)
    n_folds = min(n_folds, len(key)) if are_all else n_folds
    # equal rows are neighbours in this order, so they get different folds
    order = np.lexsort((key, hashed(seed, rows.content[first]), _majority_labels(rows, group)))
    fold = np.empty(len(order), dtype=np.int16)
    fold[order] = np.arange(len(order)) % n_folds
    by_number = np.argsort(rows.number, kind="stable")
    return Folds(seed, n_folds, rows.number[by_number], fold[group][by_number])


def _groups(rows: FoldKeys) -> tuple[Array, Array, Array]:
    """Groups of rows that share a fold, equal rows or a single row: for each group a key and its first row; for every
    row, its group."""
    _, group, size = np.unique(rows.content, return_inverse=True, return_counts=True)
    is_spread = size >= _MIN_COPIES_TO_SPREAD
    is_single = is_spread[group]
    if not is_spread.any() and len(size) < _MIN_GROUPS:
        is_single[:] = True
    key = np.where(is_single, hashed(_SINGLE_ROW_SEED, rows.number), rows.content)
    return np.unique(key, return_index=True, return_inverse=True)


def _majority_labels(rows: FoldKeys, group: Array) -> Array:
    """(number of groups,) the label with the largest weight in each group."""
    n_labels = int(rows.label.max(initial=0)) + 1
    pair, index = np.unique(group * n_labels + rows.label, return_inverse=True)
    weight = np.bincount(index, rows.weight)
    order = np.lexsort((weight, pair // n_labels))  # the last of each group is the heaviest
    last = np.flatnonzero(np.diff(pair[order] // n_labels, append=-1))
    return np.asarray(pair[order][last] % n_labels)
