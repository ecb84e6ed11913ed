"""A column of a CSV file to columns of zeros and ones, which every method takes."""

from __future__ import annotations

import numpy as np
import pandas as pd

from .tasks import Array

_BINS = 5
_MIN_ROWS = 2


def indicators(cells: Array, train: Array) -> Array:
    """(n, d): zeros and ones stay; numbers are cut at the quintiles of the training rows; else one column per value.

    An empty cell of a column of numbers is in no bin.
    """
    numbers = pd.to_numeric(pd.Series(cells, dtype=object).replace("", np.nan), errors="coerce").to_numpy(np.float64)
    if np.isnan(numbers).sum() > (cells == "").sum() or np.isnan(numbers[train]).all():
        return _one_column_a_value(cells, train)
    if np.isin(numbers, (0.0, 1.0)).all():
        return numbers[:, None]
    edges = np.unique(np.nanquantile(numbers[train], np.arange(1, _BINS) / _BINS))
    bins = np.searchsorted(edges, numbers)
    in_bin = (bins[:, None] == np.arange(len(edges) + 1)) & ~np.isnan(numbers)[:, None]
    return np.asarray(in_bin, dtype=np.float64)


def _one_column_a_value(cells: Array, train: Array) -> Array:
    values, counts = np.unique(cells[train].astype(str), return_counts=True)
    return np.asarray(cells.astype(str)[:, None] == values[counts >= _MIN_ROWS], dtype=np.float64)
