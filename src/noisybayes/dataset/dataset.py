"""Passes over the rows: `map_sum` through an engine, whether they are in memory, on disk or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, Literal, Protocol

import numpy as np

from .._threads import in_threads
from .folds import FoldKeys, Folds, hashed, small_classes, stratified_folds
from .merge import content_hash
from .rows import Rows, concatenated, copy_threads, n_entries, score_dtype, split, split_in_folds
from .stored import StoredDesign, stored_parts
from .tree import Array, Pieces, summed

#: The seam to the engines: map_sum(fn, parts) = fn(parts[0]) + fn(parts[1]) + ..., added up by `tree.summed`
MapSum = Callable[[Callable[[Any], Any], Sequence[Any]], Any]

# Samples and folds are hashes of row numbers, with different seeds.
_SAMPLE_SEED = 0x5A4D
_LABEL_FIELDS = ("observed", "verified", "weight")
# Maximum number of rows from which a family takes its constants: any rows near the data will do.
_MAX_FIRST_ROWS = 10_000


class Part(Protocol):
    """Rows, wherever they are."""

    @property
    def has_verified(self) -> bool: ...

    def load(self) -> Any:
        """An object with `blocks()`, each of them `Rows`; cached by the process that computes on them."""


@dataclass(frozen=True)
class PartSum:
    """A function of rows as a function of a part: the sum over its blocks."""

    fn: Callable[[Rows], Any]

    def __call__(self, part: Any) -> Any:
        return sum_over_blocks(self.fn, part)


@dataclass(frozen=True)
class PartSumByFold:
    """The same, fold by fold; None for a fold without rows in this part."""

    fn: Callable[[Rows], Any]
    n_folds: int

    def __call__(self, part: Any) -> Any:
        return sum_over_blocks(self._of_block, part)

    def _of_block(self, block: Rows) -> tuple[Any, ...]:
        sums: list[Any] = [None] * self.n_folds
        for fold, rows in block.by_fold():
            sums[fold] = self.fn(rows)
        return tuple(sums)


def sum_over_blocks(fn: Callable[[Rows], Any], part: Any) -> Any:
    results = map(fn, part.load().blocks())
    first, second = next(results, None), next(results, None)
    return first if second is None else summed(chain((first, second), results))


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows to pass over. A pass returns only statistics, except for `collect`."""

    parts: Sequence[Part]
    engine: MapSum
    n_rows: int
    n_entries: int
    dtype: np.dtype[Any]  # of scores
    folds: Folds | None = None
    rows: Rows | None = None  # all of them, in their original order, if they are in memory
    is_remote: bool = False  # labels and results for single rows stay where the parts are

    @classmethod
    def of(cls, rows: Rows, engine: MapSum, n_components: int) -> Dataset:
        """Rows in memory, cut into cache-sized chunks, or rows whose X is `StoredDesign`."""
        n, entries, dtype = rows.n_rows, n_entries(rows.X), score_dtype(rows.X)
        if isinstance(rows.X, StoredDesign):
            return cls(stored_parts(rows, None), engine, n, entries, dtype, None, None)
        return cls(split(rows.numbered(), n_components), engine, n, entries, dtype, None, rows.numbered())

    @property
    def has_verified(self) -> bool:
        """Whether true labels of some rows are known."""
        return self.parts[0].has_verified

    @property
    def n_counted(self) -> float:
        """Total weight of the rows, where each counts as at least one."""
        weights = [getattr(part, "weight", None) for part in self.parts]
        return max(self.n_rows, sum(float(weight.sum()) for weight in weights if weight is not None))

    def map_sum(self, fn: Callable[[Rows], Any], by: Literal["fold"] | None = None) -> Any:
        """The sum of fn(rows) over all blocks; by="fold": a tuple with one sum for the rows of each fold."""
        if by is None:
            return self.engine(PartSum(fn), self.parts)
        assert self.folds is not None
        return self.engine(PartSumByFold(fn, self.folds.n_folds), self.parts)

    def collect(self, fn: Callable[[Rows], Sequence[Array]]) -> list[Array]:
        """Arrays with one entry per row, in the order of the rows, from a function that returns those of a block."""
        pieces = self.map_sum(partial(_numbered_values, fn)).items
        return in_row_order(pieces, self.n_rows)

    def labels(self) -> tuple[Array | None, Array | None, Array | None]:
        """Observed and verified labels and weights of all rows, in order, if they are in this process."""
        if self.is_remote:
            return None, None, None
        if self.rows is not None:
            return self.rows.observed, self.rows.verified, self.rows.weight
        return tuple(_concatenated([getattr(part, name) for part in self.parts]) for name in _LABEL_FIELDS)  # type: ignore[return-value]

    def first_rows(self) -> Rows:
        """Some rows, to take constants from."""
        if self.is_remote:
            return self.engine(_first_rows, self.parts[:1]).items[0]  # type: ignore[no-any-return]
        return self.parts[0].load()  # type: ignore[no-any-return]

    def label_counts(self, n_classes: int) -> Array:
        """(K + 1,) number of rows with each label; last, without one."""
        counts: Array = self.map_sum(partial(_count_labels, n_classes=n_classes))
        return counts

    def in_folds(self, seed: int, n_folds: int, n_classes: int) -> Dataset:
        """The same rows, each with a fold."""
        counts = self.label_counts(n_classes)
        small = small_classes(counts, n_folds)
        if not small.any():
            return self.with_folds(Folds.by_hash(seed, n_folds), n_classes)
        pieces = self.map_sum(partial(_fold_keys, small=small)).items
        keys = FoldKeys(*(np.concatenate(values) for values in zip(*pieces, strict=True)))
        folds = stratified_folds(seed, n_folds, keys, are_all=bool(small.all()))
        return self.with_folds(folds, n_classes)

    def with_folds(self, folds: Folds, n_classes: int) -> Dataset:
        if self.rows is None:
            parts: Sequence[Part] = [part.with_folds(folds) for part in self.parts]  # type: ignore[attr-defined]
            return replace(self, parts=parts, folds=folds)
        return replace(self, parts=split_in_folds(self.rows, folds, n_classes), folds=folds)

    def with_groups(self, groups: Any) -> Dataset:
        """The same rows, each with the codes of its labeler and sources.

        groups : (n, C) codes of all rows; of rows on a cluster, how the workers find them
        """
        parts: Sequence[Part] = [part.with_groups(groups) for part in self.parts]  # type: ignore[attr-defined]
        return replace(self, parts=parts, rows=None if self.rows is None else self.rows.with_groups(groups))

    def sample(self, size: int, seed: int) -> Rows:
        """At most `size` rows chosen at random, in random order: the first rows of a sample are a sample too. Whether
        a row is chosen depends only on its number and the seed."""
        if self.rows is not None:
            key = hashed(seed ^ _SAMPLE_SEED, self.rows.number)
            return self._with_fold(self.rows.take(_lowest_keys(key, size)))
        # almost surely enough rows are below the limit: their number has a standard deviation below sqrt(size)
        share = (size + 6 * size**0.5 + 10) / self.n_rows
        limit = 2**64 - 1 if share >= 1 else int(2**64 * share)
        parts = self.map_sum(partial(_rows_below, seed=seed ^ _SAMPLE_SEED, limit=limit)).items
        rows = concatenated(parts)
        return rows.take(_lowest_keys(hashed(seed ^ _SAMPLE_SEED, rows.number), size))

    def _with_fold(self, rows: Rows) -> Rows:
        return rows if self.folds is None else rows._replace(fold=self.folds.of(rows.number))


def _lowest_keys(keys: Array, size: int) -> Array:
    """Positions of the lowest keys, in their order; no two keys are equal."""
    if size >= len(keys):
        return np.argsort(keys)
    lowest = np.argpartition(keys, size)[:size]
    return np.asarray(lowest[np.argsort(keys[lowest])])


def _concatenated(parts: Sequence[Array | None]) -> Array | None:
    return None if parts[0] is None else np.concatenate(parts)  # type: ignore[arg-type]


def in_row_order(pieces: Sequence[tuple[Array, Sequence[Array]]], n_rows: int) -> list[Array]:
    """Values of blocks, each with the numbers of its rows, as whole arrays."""
    first = pieces[0][1]
    arrays = [np.empty((n_rows, *np.shape(value)[1:]), dtype=value.dtype) for value in first]

    def fill(piece: tuple[Array, Sequence[Array]]) -> None:
        number, values = piece
        for array, value in zip(arrays, values, strict=True):
            array[number] = value

    for _ in in_threads(fill, pieces, copy_threads(n_rows)):
        pass
    return arrays


def _numbered_values(fn: Callable[[Rows], Sequence[Array]], rows: Rows) -> Pieces:
    return Pieces([(rows.number, tuple(fn(rows)))])


def _first_rows(part: Part) -> Pieces:
    rows = next(iter(part.load().blocks()))
    return Pieces([rows.view(0, min(rows.n_rows, _MAX_FIRST_ROWS))])


def _count_labels(rows: Rows, n_classes: int) -> Array:
    return np.bincount(rows.observed, minlength=n_classes + 1).astype(np.float64)


def _fold_keys(rows: Rows, small: Array) -> Pieces:
    chosen = np.flatnonzero(small[rows.observed])
    taken = rows if len(chosen) == rows.n_rows else rows.take(chosen)
    weight = np.ones(len(chosen)) if taken.weight is None else taken.weight
    # in single precision: the last digits of computed features depend on the processor, and folds must not
    content = content_hash(taken, np.float32)
    return Pieces([FoldKeys(taken.number, taken.observed, content, weight)])


def _rows_below(rows: Rows, seed: int, limit: int) -> Pieces:
    return Pieces([rows.take(np.flatnonzero(hashed(seed, rows.number) <= np.uint64(limit)))])
