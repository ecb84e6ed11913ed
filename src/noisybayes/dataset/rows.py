"""Rows as the model sees them: checked features, coded labels, weights, folds; cut into chunks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .._threads import in_threads, n_cores
from .csr import row_view
from .folds import Folds
from .tree import Array, tree_map

#: A dense array, a CSR array, or a tuple of such (one per block of a mixed family).
Design = Any

# A chunk's scores should stay in the cache of one core.
_CHUNK_BYTES = 2 << 20
# So should its entries between two products; and long rows of few classes should be shared by the cores.
_CHUNK_ENTRIES = 1 << 20
# Fewer rows than this are copied before threads would have started.
_MIN_ROWS_FOR_THREADS = 100_000


class Rows(NamedTuple):
    X: Design
    observed: Array  # (n,) class codes; K where the label is missing
    verified: Array | None  # (n,) class codes; -1 where the true label is not known
    weight: Array | None  # (n,) or None when every row counts once
    number: Any = None  # (n,) which of all rows these are; None until needed
    fold: Any = None  # (n,) ascending; None before folds are assigned
    groups: Any = None  # (n, C) codes of the labeler and the sources of each label, or of several labels; or None

    @property
    def n_rows(self) -> int:
        return len(self.observed)

    def take(self, index: Array) -> Rows:
        """Copy the rows of `index`."""
        return Rows(*(_take(part, index) for part in self))

    def view(self, start: int, stop: int) -> Rows:
        """The rows from `start` to `stop`, sharing memory."""
        return Rows(*(_slice(part, start, stop) for part in self))

    @property
    def has_verified(self) -> bool:
        return self.verified is not None

    def load(self) -> Rows:
        """These rows, which are already in memory."""
        return self

    def blocks(self) -> list[Rows]:
        return [self]

    def numbered(self) -> Rows:
        return self if self.number is not None else self._replace(number=np.arange(self.n_rows))

    def in_folds(self, folds: Folds) -> Rows:
        """A copy in the order of the folds."""
        rows, order = self.with_folds(folds)
        return rows.take(order)

    def with_folds(self, folds: Folds) -> tuple[Rows, Array]:
        """These rows with their folds, and the order that sorts them by fold."""
        rows = self.numbered()
        fold = folds.of(rows.number)
        return rows._replace(fold=fold), np.argsort(fold, kind="stable")

    def with_groups(self, groups: Array) -> Rows:
        """groups : (n, C) of all rows, of which these are some"""
        return self._replace(groups=groups[self.number])

    def by_fold(self) -> Iterator[tuple[int, Rows]]:
        """The folds that occur, each with its rows."""
        edges = np.flatnonzero(np.diff(self.fold, prepend=-1, append=-1))
        for start, stop in pairwise(edges.tolist()):
            yield int(self.fold[start]), self.view(start, stop)


def concatenated(parts: Sequence[Rows]) -> Rows:
    """Rows concatenated."""
    if len(parts) == 1:
        return parts[0]
    return Rows(*(_stack(same) for same in zip(*parts, strict=True)))


def _stack(parts: Sequence[Any]) -> Any:
    if parts[0] is None:
        return None
    if isinstance(parts[0], tuple):
        return tuple(_stack(same) for same in zip(*parts, strict=True))
    if hasattr(parts[0], "stacked"):  # rows that only a classifier can interpret
        return parts[0].stacked(parts)
    return sparse.csr_array(sparse.vstack(parts, format="csr")) if sparse.issparse(parts[0]) else np.concatenate(parts)


def _take(part: Any, index: Array) -> Any:
    return None if part is None else tree_map(lambda leaf: leaf[index], part)


def _slice(part: Any, start: int, stop: int) -> Any:
    return None if part is None else row_slice(part, start, stop)


def row_slice(design: Design, start: int, stop: int) -> Design:
    """The rows from `start` to `stop` of a design, sharing memory."""
    return tree_map(lambda leaf: row_view(leaf, start, stop) if sparse.issparse(leaf) else leaf[start:stop], design)


def leaves(design: Design) -> list[Any]:
    return [leaf for part in design for leaf in leaves(part)] if isinstance(design, tuple) else [design]


def n_entries(design: Design) -> int:
    """Number of stored entries of a design."""
    return sum(int(leaf.nnz if hasattr(leaf, "nnz") else leaf.size) for leaf in leaves(design))


def score_dtype(design: Design) -> np.dtype[Any]:
    """Single precision only if all of X is: the caller chooses the precision by that of X."""
    return np.result_type(*(leaf.dtype for leaf in leaves(design)))


def split(rows: Rows, n_components: int) -> list[Rows]:
    """Cut rows into chunks (views)."""
    return [rows.view(start, stop) for start, stop in pairwise(_chunk_edges(rows, n_components))]


def split_in_folds(rows: Rows, folds: Folds, n_components: int) -> list[Rows]:
    """Chunks of a copy in the order of the folds."""
    numbered, order = rows.with_folds(folds)
    pieces = [order[start:stop] for start, stop in pairwise(_chunk_edges(rows, n_components))]
    return list(in_threads(numbered.take, pieces, copy_threads(rows.n_rows)))


def copy_threads(n_rows: int) -> int:
    """Number of threads to copy arrays with: a single core does not saturate the memory bandwidth."""
    return n_cores() if n_rows >= _MIN_ROWS_FOR_THREADS else 1


def _chunk_edges(rows: Rows, n_components: int) -> Array:
    """Chunk boundaries. They depend only on the data, so the number of threads does not change any result."""
    size = _CHUNK_BYTES // (score_dtype(rows.X).itemsize * n_components)
    for leaf in leaves(rows.X):
        if sparse.issparse(leaf):
            rows_per_entry = rows.n_rows / max(leaf.nnz, 1)
            size = min(size, int(_CHUNK_ENTRIES * rows_per_entry))
            # every chunk returns sums over all columns: it should hold about as many entries as there are columns
            size = max(size, int(leaf.shape[1] * rows_per_entry))
    size = max(size, 256)
    n_chunks = max(1, -(-rows.n_rows // size))
    return np.linspace(0, rows.n_rows, n_chunks + 1).astype(int)
