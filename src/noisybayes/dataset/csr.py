"""Views of CSR arrays. scipy's own slices and transposes copy: its constructors take a short view of a long array for
waste, and the copy would be made again in every chunk of every iteration."""

from __future__ import annotations

from typing import Any

from scipy import sparse

from .tree import Array


def row_view(X: Any, start: int, stop: int) -> Any:
    """The rows from `start` to `stop`, sharing data and indices."""
    first, last = X.indptr[start], X.indptr[stop]
    view = sparse.csr_array((stop - start, X.shape[1]), dtype=X.dtype)
    view.data, view.indices, view.indptr = X.data[first:last], X.indices[first:last], X.indptr[start : stop + 1] - first
    return view


def transposed_product(X: Any, dense: Array) -> Array:
    """X.T @ dense, for CSR or dense X."""
    if not sparse.issparse(X):
        product: Array = X.T @ dense
        return product
    transpose = sparse.csc_array(X.shape[::-1], dtype=X.dtype)
    transpose.data, transpose.indices, transpose.indptr = X.data, X.indices, X.indptr
    product = transpose @ dense
    return product


def squared(X: Any) -> Any:
    """Entries squared, sharing the indices of sparse X."""
    if not sparse.issparse(X):
        return X * X
    square = sparse.csr_array(X.shape, dtype=X.dtype)
    square.data, square.indices, square.indptr = X.data * X.data, X.indices, X.indptr
    return square
