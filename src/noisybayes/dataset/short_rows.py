"""Sums and maxima of many short rows: over a short last axis, numpy's functions are several times slower."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from .tree import Array

# Up to this many classes the maximum of each row is taken column by column, which is faster.
_MAX_COLUMNS = 32
# Arrays of this size are still in the cache when the next step reads them; with smaller ones, threads would wait for
# the interpreter.
_SLICE_BYTES = 1 << 22


def row_slices(n_rows: int, n_columns: int) -> list[slice]:
    """Slices of cache size that together cover all rows."""
    size = max(1, _SLICE_BYTES // (8 * n_columns))
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]


@lru_cache(maxsize=256)
def _ones(n: int, dtype: Any) -> Array:
    ones = np.ones(n, dtype)
    ones.flags.writeable = False
    return ones


def row_sums(values: Array) -> Array:
    """Over the last axis, in the precision of the values."""
    flat = values.reshape(-1, values.shape[-1])  # in two dimensions the product is a single BLAS call
    return np.asarray(flat @ _ones(values.shape[-1], values.dtype)).reshape(values.shape[:-1])


def row_max(values: Array) -> Array:
    """Of (n, K)."""
    if values.shape[1] > _MAX_COLUMNS:
        return np.asarray(values.max(axis=1))
    maxima = values[:, 0].copy()
    for column in values.T[1:]:
        np.maximum(maxima, column, out=maxima)
    return np.asarray(maxima)
