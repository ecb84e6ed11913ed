"""The cells of a column as positions in the list of its values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from .counts import Array


class Codes(NamedTuple):
    codes: Array  # (n,) positions in `values`, -1 where there is none
    values: pl.Series  # sorted

    @classmethod
    def of(cls, cells: pl.Series) -> Codes:
        values = cells.drop_nulls().unique().sort()
        return cls(positions(cells, values).astype(np.min_scalar_type(-1 - len(values))), values)

    @property
    def counts(self) -> Array:
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.values))


def positions(cells: pl.Series, values: pl.Series) -> Array:
    """(n,) of each cell in `values`, -1 where it is null or not among them."""
    codes = cells.cast(pl.Enum(values), strict=False).to_physical()
    return codes.cast(pl.Int32).fill_null(-1).to_numpy()
