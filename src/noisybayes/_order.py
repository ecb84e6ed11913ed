"""The largest of many numbers that nobody holds all of: by counts and sums of ever finer ranges, pass after pass.

A number is a key of 64 bits in the same order. Each pass looks only at the ranges that the last one left open, and
brings back how many numbers lie in each part of them, and their sum. After the last pass a range is one number, so
that the answers are exact, however the numbers are divided among those who hold them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

#: Bits that each pass decides.
WIDTHS = (16, 12, 12, 12, 12)
_SIGN = np.uint64(1 << 63)
_ALL = np.uint64(2**64 - 1)


class Query(Protocol):
    """Where a list of the largest numbers ends."""

    def ends(self, count: Array, total: Array) -> Array:
        """Whether it ends within a range, given how many numbers there are up to its lower end, and their sum."""

    def ties(self, above: int, total: float, value: float) -> float:
        """How many numbers equal to `value` belong to it, given how many are larger, and their sum."""


class Rank(NamedTuple):
    """So many numbers."""

    rank: int

    def ends(self, count: Array, total: Array) -> Array:
        return np.asarray(count >= self.rank)

    def ties(self, above: int, total: float, value: float) -> float:
        return self.rank - above


class Cut(NamedTuple):
    """The end of a list of the largest numbers."""

    key: int
    above: int  # how many are larger
    total: float  # their sum
    ties: int  # how many that are equal belong to the list

    @property
    def value(self) -> float:
        """Of keys that stand for floats."""
        bits = np.array([self.key], dtype=np.uint64)
        return float((np.where(bits & _SIGN, bits ^ _SIGN, bits ^ _ALL)).view(np.float64)[0])

    @property
    def sum(self) -> float:
        return self.total + self.ties * self.value


def keys_of(numbers: Array) -> Array:
    """(n,) uint64 in the order of floats."""
    bits = (np.asarray(numbers, dtype=np.float64) + 0.0).view(np.uint64)  # -0.0 is 0.0
    return np.asarray(np.where(bits & _SIGN, bits ^ _ALL, bits ^ _SIGN))


def range_sums(keys: Array, numbers: Array, level: int, open_ranges: Array) -> Array:
    """(2, ranges, parts of a range): how many numbers lie in each, and their sum."""
    width = WIDTHS[level]
    shift = np.uint64(64 - sum(WIDTHS[: level + 1]))
    where = np.zeros(len(keys), dtype=np.intp)
    if level:
        prefix = keys >> np.uint64(int(shift) + width)
        where = np.minimum(np.searchsorted(open_ranges, prefix), len(open_ranges) - 1)
        inside = open_ranges[where] == prefix
        keys, numbers, where = keys[inside], numbers[inside], where[inside]
    parts = (where << width) + ((keys >> shift) & np.uint64(2**width - 1)).astype(np.intp)
    n_parts = len(open_ranges) << width
    sums = (np.bincount(parts, weights, minlength=n_parts) for weights in (None, numbers))
    return np.stack([part.astype(np.float64).reshape(len(open_ranges), -1) for part in sums])


def select(over: Callable[[int, Array], Array], queries: Sequence[Query]) -> list[Cut | None]:
    """Where each list ends; None if all numbers belong to it. over : (level, open ranges) to the sum of `range_sums`"""
    searches = [_Search(query) for query in queries]
    for level, width in enumerate(WIDTHS):
        still_open = [search for search in searches if search.is_open]
        if not still_open:
            break
        ranges = np.unique(np.array([search.prefix for search in still_open], dtype=np.uint64))
        counts, sums = over(level, ranges)
        for search in still_open:
            row = int(np.searchsorted(ranges, np.uint64(search.prefix)))
            search.narrow(counts[row], sums[row], width)
    return [search.cut for search in searches]


class _Search:
    def __init__(self, query: Query) -> None:
        self.query, self.prefix, self.above, self.total = query, 0, 0, 0.0
        self.level, self.n_equal, self.is_open = 0, 0, True

    def narrow(self, counts: Array, sums: Array, width: int) -> None:
        counts, sums = counts[::-1], sums[::-1]
        count, total = self.above + np.cumsum(counts), self.total + np.cumsum(sums)
        ends = self.query.ends(count, total) & (counts > 0)
        if not ends.any():
            if self.level == 0:
                self.is_open = False
                return
            ends = counts > 0  # sums of parts may differ from their whole in the last digit
            at = int(np.flatnonzero(ends)[-1])
        else:
            at = int(ends.argmax())
        if at:
            self.above, self.total = int(count[at - 1]), float(total[at - 1])
        self.n_equal = int(counts[at])
        self.prefix = (self.prefix << width) | (2**width - 1 - at)
        self.level += 1

    @property
    def cut(self) -> Cut | None:
        if not self.is_open:
            return None
        key = Cut(self.prefix, self.above, self.total, 0)
        ties = self.query.ties(self.above, self.total, key.value)
        return key._replace(ties=int(min(max(ties, 0), self.n_equal)))


def order_statistics(over: Callable[[int, Array], Array], ranks: Sequence[int]) -> list[float]:
    """The numbers of these ranks, the largest first; there must be as many."""
    found = select(over, [Rank(rank) for rank in ranks])
    return [cut.value for cut in found if cut is not None]
