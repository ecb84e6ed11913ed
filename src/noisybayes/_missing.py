"""What counts as a missing entry in a column of Python objects."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray


def is_null(values: NDArray[Any]) -> NDArray[np.bool_]:
    """(n,) where an entry is None, nan, or one of the markers of pandas."""
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values), dtype=bool)
    if values.dtype.kind != "O":
        return np.zeros(len(values), dtype=bool)
    # its markers can stand there only if somebody has imported it; else it is neither needed nor waited for
    pandas = sys.modules.get("pandas")
    if pandas is not None:
        return np.asarray(pandas.isna(values), dtype=bool)
    return np.fromiter((value is None or _is_nan(value) for value in values), dtype=bool, count=len(values))


def _is_nan(value: Any) -> bool:
    return isinstance(value, float | np.generic) and bool(value != value)
