"""The features of a table in a form suitable for other classifiers."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..dataset.tree import Array
from .base import ViewRows

# Numeric columns are clipped at this many standard deviations, so that one outlier does not dominate.
_FARTHEST = 5.0
# Arrays with more cells than this stay sparse.
_MOST_CELLS = 50_000_000


def standardised(rows: ViewRows) -> Any:
    """(n, d): numeric columns with mean 0 and standard deviation 1, the others unchanged. The constants come from all
    rows, since they do not depend on labels. Dense if small, else CSR."""
    X = rows.X
    n, d = X.shape
    numbers = np.flatnonzero(rows.scaled)
    if n * d <= _MOST_CELLS and (len(numbers) or n * d <= 10 * _stored(X)):
        dense = np.array(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
        dense[:, numbers] = _standard(dense[:, numbers])
        return dense
    if not len(numbers):
        return sparse.csr_array(X)
    parts = sparse.csc_array(X)
    scaled = sparse.csc_array(_standard(parts[:, numbers].toarray()))
    order = np.concatenate([np.flatnonzero(~rows.scaled), numbers])
    joined = sparse.csc_array(sparse.hstack([parts[:, np.flatnonzero(~rows.scaled)], scaled], format="csc"))
    return sparse.csr_array(joined[:, np.argsort(order)])


def dense_array(X: Any) -> Array:
    return np.asarray(X.toarray() if sparse.issparse(X) else X)


def _stored(X: Any) -> int:
    return int(X.nnz if sparse.issparse(X) else X.size)


def _standard(values: Array) -> Array:
    if not values.shape[1]:
        return values
    spread = values.std(axis=0)
    centred = (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return np.asarray(np.clip(centred, -_FARTHEST, _FARTHEST))
