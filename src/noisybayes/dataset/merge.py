"""Equal rows merged into one weighted row: millions of rows may be a few thousand patterns."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .csr import row_view
from .rows import Rows, leaves
from .tree import Array

# Below this many rows an iteration is cheaper than searching for equal rows.
_MIN_ROWS_TO_MERGE = 1_000
# Rows are merged if that halves a sample of this size.
_PROBE_ROWS = 4_096


def merge_equal(rows: Rows, when: bool | str = "auto") -> Rows:
    """Replace rows that agree in features, label and verified label by one row with their weight.

    With few binary columns millions of rows are a few thousand patterns, and the cost of an EM iteration depends only
    on the patterns. Rows are compared by a 64-bit hash: two different rows among m patterns are considered equal with a
    probability of about m^2 / 2^65 (less than one in a million at five million patterns).
    """
    if when is False or (when == "auto" and not _is_worth_merging(rows)):
        return rows
    _, first, group = np.unique(_row_hash(rows), return_index=True, return_inverse=True)
    weight = np.bincount(group, weights=rows.weight, minlength=len(first))
    return rows.take(first)._replace(weight=weight)


def _is_worth_merging(rows: Rows) -> bool:
    if rows.n_rows < _MIN_ROWS_TO_MERGE:
        return False
    probe = np.linspace(0, rows.n_rows - 1, min(rows.n_rows, _PROBE_ROWS)).astype(int)
    return len(np.unique(_row_hash(rows.take(probe)))) < len(probe) / 2


def content_hash(rows: Rows, dtype: type[np.floating[Any]] = np.float64) -> Array:
    """(n,) uint64: the same for rows with the same features, in this precision."""
    total = np.zeros(rows.n_rows, dtype=np.uint64)
    for number, part in enumerate(leaves(rows.X)):
        if hasattr(part, "content_hash"):  # rows that only a classifier can interpret
            total += part.content_hash()
        else:
            key = _keys(number, part.shape[1])
            total += _csr_hash(part, key, dtype) if sparse.issparse(part) else _dense_hash(part, key, dtype)
    return total


def all_rows_equal(rows: Rows) -> bool:
    """Whether all rows have the same features."""
    probe = content_hash(rows.view(0, min(rows.n_rows, _PROBE_ROWS)))
    return bool((probe == probe[0]).all() and (content_hash(rows) == probe[0]).all())


def _row_hash(rows: Rows) -> Array:
    observed, verified = _keys(-1, 2)
    total = content_hash(rows) + _mix(rows.observed.astype(np.float64)) * observed
    if rows.verified is not None:
        total += _mix(rows.verified.astype(np.float64)) * verified
    return np.asarray(total)


def _keys(block: int, size: int) -> Array:
    keys = np.random.default_rng([0, block + 1]).integers(1, 2**63, size=size, dtype=np.uint64)
    return np.asarray(keys | np.uint64(1))


def _mix(values: Array, dtype: type[np.floating[Any]] = np.float64) -> Array:
    """Spread the bits of floating point numbers over 64 bits; zero stays zero, so that absent entries do not count."""
    with np.errstate(over="ignore"):  # beyond single precision, all numbers are equally large
        rounded = values.astype(dtype)
    # adding zero turns -0.0 into 0.0
    bits = (rounded.astype(np.float64) + 0.0).view(np.uint64)
    bits ^= bits >> np.uint64(32)
    bits *= np.uint64(0xD6E8FEB86659FD93)
    bits ^= bits >> np.uint64(32)
    return bits


def _dense_hash(X: Array, key: Array, dtype: type[np.floating[Any]]) -> Array:
    total = np.zeros(len(X), dtype=np.uint64)
    for column, k in zip(X.T, key, strict=True):
        total += _mix(column, dtype) * k
    return total


def _csr_hash(X: Any, key: Array, dtype: type[np.floating[Any]]) -> Array:
    total = np.zeros(X.shape[0], dtype=np.uint64)
    for start in range(0, X.shape[0], 65_536):
        part = row_view(X, start, min(start + 65_536, X.shape[0]))
        filled = np.flatnonzero(np.diff(part.indptr))
        if len(filled):
            hashes = _mix(part.data, dtype) * key[part.indices]
            total[start + filled] = np.add.reduceat(hashes, part.indptr[filled])
    return total
