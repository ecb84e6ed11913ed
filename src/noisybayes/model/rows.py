"""Rows as the model sees them: checked features, coded labels, weights; cut into chunks, or merged when equal."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .csr import row_view
from .tree import Array, tree_map

#: A dense array, a CSR array, or a tuple of such (one per block of a mixed family).
Design = Any

# A chunk's scores should stay in the cache of one core.
_CHUNK_BYTES = 2 << 20
# So should its entries, from the one product to the other; and long rows of few classes should be shared by the cores.
_CHUNK_ENTRIES = 1 << 20
# Below this many rows an iteration costs less than looking for equal rows.
_FEWEST_ROWS_TO_MERGE = 1_000
_ROWS_TO_PROBE = 4_096


class Rows(NamedTuple):
    X: Design
    observed: Array  # (n,) class codes; K where the label is missing
    verified: Array | None  # (n,) class codes; -1 where the true label is not known
    weight: Array | None  # (n,) or None when every row counts once

    @property
    def n_rows(self) -> int:
        return len(self.observed)

    def take(self, index: Array) -> Rows:
        """Copy the rows of `index`."""
        return Rows(*(_pick(part, index) for part in self))

    def view(self, start: int, stop: int) -> Rows:
        """The rows from `start` to `stop`, sharing memory."""
        return Rows(*(_view(part, start, stop) for part in self))

    def load(self) -> Rows:
        """These rows: they are in memory already."""
        return self


def _pick(part: Any, index: Array) -> Any:
    return None if part is None else tree_map(lambda leaf: leaf[index], part)


def _view(part: Any, start: int, stop: int) -> Any:
    return None if part is None else row_slice(part, start, stop)


def row_slice(design: Design, start: int, stop: int) -> Design:
    """The rows from `start` to `stop` of a design, sharing memory."""
    return tree_map(lambda leaf: row_view(leaf, start, stop) if sparse.issparse(leaf) else leaf[start:stop], design)


def leaves(design: Design) -> list[Any]:
    return [leaf for part in design for leaf in leaves(part)] if isinstance(design, tuple) else [design]


def n_entries(design: Design) -> int:
    """How many numbers of a design are stored."""
    return sum(int(leaf.nnz if hasattr(leaf, "nnz") else leaf.size) for leaf in leaves(design))


def score_dtype(design: Design) -> np.dtype[Any]:
    """Single precision only if all of X is: the caller chose the precision by choosing that of X."""
    return np.result_type(*(leaf.dtype for leaf in leaves(design)))


def split(rows: Rows, n_components: int) -> list[Rows]:
    """Cut rows into chunks (views). The cut depends on the data alone, so the number of threads changes no result."""
    size = _CHUNK_BYTES // (score_dtype(rows.X).itemsize * n_components)
    for leaf in leaves(rows.X):
        if sparse.issparse(leaf):
            rows_per_entry = rows.n_rows / max(leaf.nnz, 1)
            size = min(size, int(_CHUNK_ENTRIES * rows_per_entry))
            # every chunk returns sums over all columns: it should hold about as many entries as there are columns
            size = max(size, int(leaf.shape[1] * rows_per_entry))
    size = max(size, 256)
    n_chunks = max(1, -(-rows.n_rows // size))
    edges = np.linspace(0, rows.n_rows, n_chunks + 1).astype(int)
    return [rows.view(start, stop) for start, stop in pairwise(edges)]


def merge_equal(rows: Rows, when: bool | str = "auto") -> Rows:
    """Replace rows that agree in features, label and verified label by one row with their weight.

    With few binary columns millions of rows are a few thousand patterns, and an EM iteration then costs as much
    as its patterns. Rows are compared by a 64-bit hash: two different rows among m patterns are taken for equal
    with a probability of about m^2 / 2^65 (less than one in a million at five million patterns).
    """
    if when is False or (when == "auto" and not _merging_pays(rows)):
        return rows
    _, first, group = np.unique(_row_hash(rows), return_index=True, return_inverse=True)
    weight = np.bincount(group, weights=rows.weight, minlength=len(first))
    return rows.take(first)._replace(weight=weight)


def _merging_pays(rows: Rows) -> bool:
    if rows.n_rows < _FEWEST_ROWS_TO_MERGE:
        return False
    probe = np.linspace(0, rows.n_rows - 1, min(rows.n_rows, _ROWS_TO_PROBE)).astype(int)
    return len(np.unique(_row_hash(rows.take(probe)))) < len(probe) / 2


def _row_hash(rows: Rows) -> Array:
    parts = leaves(rows.X)
    columns = [part.shape[1] for part in parts]
    keys = np.random.default_rng(0).integers(1, 2**63, size=sum(columns) + 2, dtype=np.uint64) | np.uint64(1)
    *column_keys, label_keys = np.split(keys, np.cumsum(columns))
    total = _mix(rows.observed.astype(np.float64)) * label_keys[0]
    if rows.verified is not None:
        total += _mix(rows.verified.astype(np.float64)) * label_keys[1]
    for part, key in zip(parts, column_keys, strict=True):
        total += _csr_hash(part, key) if sparse.issparse(part) else _dense_hash(part, key)
    return np.asarray(total)


def _mix(values: Array) -> Array:
    """Spread the bits of floating point numbers over 64 bits; zero stays zero, so that absent entries do not count."""
    # adding zero turns -0.0 into 0.0
    bits = (values.astype(np.float64) + 0.0).view(np.uint64)
    bits ^= bits >> np.uint64(32)
    bits *= np.uint64(0xD6E8FEB86659FD93)
    bits ^= bits >> np.uint64(32)
    return bits


def _dense_hash(X: Array, key: Array) -> Array:
    total = np.zeros(len(X), dtype=np.uint64)
    for column, k in zip(X.T, key, strict=True):
        total += _mix(column) * k
    return total


def _csr_hash(X: Any, key: Array) -> Array:
    total = np.zeros(X.shape[0], dtype=np.uint64)
    for start in range(0, X.shape[0], 65_536):
        part = row_view(X, start, min(start + 65_536, X.shape[0]))
        filled = np.flatnonzero(np.diff(part.indptr))
        if len(filled):
            hashes = _mix(part.data) * key[part.indices]
            total[start + filled] = np.add.reduceat(hashes, part.indptr[filled])
    return total
