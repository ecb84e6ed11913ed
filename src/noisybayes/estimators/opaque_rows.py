"""Rows that only the wrapped classifier can interpret: texts, or data frames with text columns."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from ..dataset.tree import Array

_NUMERIC = "biuf"


class OpaqueRows:
    """Some rows of a list, a one-dimensional array, a series or a data frame, as a design: slicing and stacking only
    change the row numbers."""

    dtype = np.dtype(np.float64)  # of the scores

    def __init__(self, data: Any, numbers: Array | None = None) -> None:
        self.data = data
        self.numbers = np.arange(len(data)) if numbers is None else numbers
        self.n_columns = data.shape[1] if np.ndim(data) == 2 else 1

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.numbers), self.n_columns

    @property
    def size(self) -> int:
        return len(self.numbers) * self.n_columns

    def __getitem__(self, index: Any) -> OpaqueRows:
        return OpaqueRows(self.data, self.numbers[index])

    @staticmethod
    def stacked(parts: Sequence[OpaqueRows]) -> OpaqueRows:
        return OpaqueRows(parts[0].data, np.concatenate([part.numbers for part in parts]))

    def content_hash(self) -> Array:
        """(n,) uint64: the same for equal rows."""
        original = self.unwrap()
        if np.ndim(original) == 2:
            is_pandas = hasattr(original, "itertuples")
            cells = original.itertuples(index=False, name=None) if is_pandas else original.iter_rows()
        else:
            cells = map(str, original)
        digests = (blake2b(repr(row).encode("utf-8", "surrogatepass"), digest_size=8).digest() for row in cells)
        return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)

    def unwrap(self) -> Any:
        """These rows, in the type that the user passed."""
        if hasattr(self.data, "iloc"):
            return self.data.iloc[self.numbers]
        if isinstance(self.data, list | tuple):
            return [self.data[number] for number in self.numbers.tolist()]
        return self.data[self.numbers]


def is_opaque(X: Any, estimator: Any) -> bool:
    """Whether X is texts, or a data frame that is not all numeric or goes into a pipeline, which may need its names."""
    if hasattr(X, "columns") and hasattr(X, "dtypes") and np.ndim(X) == 2:
        return hasattr(estimator, "steps") or not all(map(_is_numeric, X.dtypes))
    if isinstance(X, list | tuple) or hasattr(X, "iloc") or isinstance(X, np.ndarray):
        return np.ndim(X) == 1 and len(X) > 0 and all(isinstance(text, str) for text in X)
    return False


def _is_numeric(dtype: Any) -> bool:
    """Of a column of pandas or polars."""
    return bool(dtype.is_numeric()) if hasattr(dtype, "is_numeric") else getattr(dtype, "kind", "O") in _NUMERIC


def unwrap_rows(X: Any) -> Any:
    return X.unwrap() if isinstance(X, OpaqueRows) else X
