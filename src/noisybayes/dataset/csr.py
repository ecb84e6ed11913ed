"""Views of CSR arrays. scipy's slices and transposes copy: its constructors consider a short view of a long array
wasteful, and the copy would be repeated in every chunk of every iteration."""

from __future__ import annotations

import copy
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import sparse

from .tree import Array


@lru_cache(maxsize=256)
def _empty_template(cls: Any, shape: tuple[int, int], dtype: Any) -> Any:
    """An array to copy and fill: with few rows, scipy's constructor takes longer than the product."""
    empty = cls(shape, dtype=dtype)
    empty.data = empty.indices = empty.indptr = None
    return empty


def _from_arrays(cls: Any, shape: tuple[int, int], data: Array, indices: Array, indptr: Array) -> Any:
    """A CSR or CSC array over these arrays, without a copy."""
    shared = copy.copy(_empty_template(cls, shape, data.dtype))
    shared.data, shared.indices, shared.indptr = data, indices, indptr
    return shared


def row_view(X: Any, start: int, stop: int) -> Any:
    """The rows from `start` to `stop`, sharing data and indices."""
    first, last = X.indptr[start], X.indptr[stop]
    shape = (stop - start, X.shape[1])
    return _from_arrays(
        sparse.csr_array, shape, X.data[first:last], X.indices[first:last], X.indptr[start : stop + 1] - first
    )


def transposed_product(X: Any, dense: Array) -> Array:
    """X.T @ dense, for CSR or dense X."""
    if not sparse.issparse(X):
        product: Array = X.T @ dense
        return product
    product = _from_arrays(sparse.csc_array, X.shape[::-1], X.data, X.indices, X.indptr) @ dense
    return product


def squared(X: Any) -> Any:
    """Entries squared, sharing the indices of sparse X."""
    if not sparse.issparse(X):
        return X * X
    return _from_arrays(sparse.csr_array, X.shape, X.data * X.data, X.indices, X.indptr)


def rows_by_label(observed: Array, n_classes: int, dtype: Any) -> Any:
    """(K + 1, n) CSC: 1 where a row has the label; K stands for a label that is missing."""
    n = len(observed)
    label = observed.astype(np.intp, copy=False)
    return _from_arrays(sparse.csc_array, (n_classes + 1, n), np.ones(n, dtype), label, np.arange(n + 1, dtype=np.intp))


def sums_by_label(values: Array, by_label: Any) -> Array:
    """(R, K + 1, K) in double precision, of values (n, R, K). by_label : as from `rows_by_label`"""
    n, R, K = values.shape
    sums = np.asarray(by_label @ values.reshape(n, R * K), dtype=np.float64)
    return sums.reshape(K + 1, R, K).transpose(1, 0, 2)
