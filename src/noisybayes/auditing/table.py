"""The table that an audit is about: in memory, or a file that is read again in batches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import polars as pl

from ..data.batches import Batches

Source = pl.DataFrame | Batches


def batches_of(source: Source) -> Iterable[pl.DataFrame]:
    return [source] if isinstance(source, pl.DataFrame) else source


def gather(source: Source, columns: Sequence[str], rows: Any) -> pl.DataFrame:
    """Some rows, in the order of `rows`, of some columns."""
    rows = np.asarray(rows)
    wanted, parts, start = np.sort(rows), [], 0
    for frame in batches_of(source):
        first, last = np.searchsorted(wanted, [start, start + frame.height])
        parts.append(frame.select(columns)[wanted[first:last] - start])
        start += frame.height
    return pl.concat(parts)[np.argsort(np.argsort(rows, kind="stable"), kind="stable")]
