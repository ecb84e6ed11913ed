"""The fold of a row as a function of its number, and samples that depend on nothing else.

Whoever holds a row can tell its fold, so that nobody has to keep a list of them. A hash deals many rows evenly enough;
the rows of small classes are dealt out one by one instead, in the order of their hashes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .tree import Array

# Below this many rows, folds are stratified by class.
_FEW_ROWS = 10_000
# And always for classes with fewer rows per fold than this.
_FEW_ROWS_PER_FOLD = 20


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
    dealt: Array  # (m,) row numbers, sorted, whose fold is not left to their hash
    fold: Array  # (m,) their folds

    def of(self, number: Array) -> Array:
        """(n,) the folds of rows by their numbers."""
        fold = (hashed(self.seed, number) % np.uint64(self.n_folds)).astype(np.int16)
        if len(self.dealt):
            where = np.minimum(np.searchsorted(self.dealt, number), len(self.dealt) - 1)
            found = self.dealt[where] == number
            fold[found] = self.fold[where[found]]
        return fold


def small_classes(counts: Array, n_folds: int) -> Array:
    """(K + 1,) bool: the classes (the last: no label) whose rows are dealt out one by one, given their numbers of rows.
    Rows without a label teach nothing, and may fall where they will."""
    small = counts < _FEW_ROWS_PER_FOLD * n_folds if counts.sum() >= _FEW_ROWS else np.ones(len(counts), dtype=bool)
    small[-1] &= counts.sum() < _FEW_ROWS
    return np.asarray(small)


def deal_folds(seed: int, n_folds: int, number: Array, label: Array) -> Folds:
    """Folds in which the rows `number`, with these labels, are spread evenly by label; others go by their hash."""
    # by label, then at random
    order = np.lexsort((hashed(seed, number), label))
    fold = np.empty(len(number), dtype=np.int16)
    fold[order] = np.arange(len(number)) % n_folds
    by_number = np.argsort(number, kind="stable")
    return Folds(seed, n_folds, number[by_number], fold[by_number])
