"""The tables of an audit, independent of the data frame library (pandas or polars)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._extras import MissingExtraError, require
from ..dataset.tree import Array

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

#: The column of positions, from 0, in a frame without an index.
POSITION = "position"


@dataclass(frozen=True, eq=False)
class Coded:
    """A column of classes as codes, -1 where missing; names are stored once, not once per row."""

    classes: Array
    codes: Array

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, rows: Array) -> Coded:
        return replace(self, codes=self.codes[rows])

    def objects(self) -> Array:
        """(n,) the classes, None where missing."""
        named = np.full(len(self.codes), None, dtype=object)
        known = self.codes >= 0
        named[known] = self.classes[self.codes[known]]
        return named

    def to_pandas(self) -> Any:
        if self.classes.dtype.kind in "UO":
            import pandas as pd

            return pd.Categorical.from_codes(self.codes, pd.Index(self.classes))
        return self.classes[self.codes] if self.codes.min(initial=0) >= 0 else self.objects()

    def to_polars(self) -> pl.Series:
        import polars as pl

        codes = pl.Series(self.codes, dtype=pl.Int64)
        return pl.Series(self.classes.tolist()).gather(codes.set(codes < 0, None))


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns of equal length by name; `rows` are their positions in the audited table, if not all."""

    values: dict[str, Any]  # arrays, lists, or Coded
    rows: Array | None = None
    index: str | None = None  # the column that names the rows

    @classmethod
    def of_records(cls, records: Sequence[dict[str, Any]], names: Sequence[str], index: str | None = None) -> Columns:
        return cls({name: [record[name] for record in records] for name in names}, index=index)

    def take(self, rows: Array) -> Columns:
        """A table of only these rows."""
        taken = {name: column.take(rows) for name, column in self.values.items()}
        return replace(self, values=taken, rows=rows)

    def to_pandas(self, index: Any = None) -> pd.DataFrame:
        """index : the index of the audited data frame, used instead of positions"""
        pandas = _pandas("to_polars(...) of the audit")
        columns = {name: _for_pandas(column) for name, column in self.values.items()}
        if index is not None and self.rows is not None:
            index = index[self.rows]
        frame: pd.DataFrame = pandas.DataFrame(columns, index=self.rows if index is None else index)
        return frame if self.index is None else frame.set_index(self.index)

    def to_polars(self) -> pl.DataFrame:
        """Rows of the audited table are identified by the column `position`; nan means missing."""
        import polars as pl

        columns = {name: _for_polars(column) for name, column in self.values.items()}
        return pl.DataFrame(columns if self.rows is None else {POSITION: self.rows, **columns})


def polars_to_pandas(frame: pl.DataFrame) -> pd.DataFrame:
    """Convert to pandas without pyarrow, which polars would need."""
    import polars as pl

    by_numpy = {
        column.name: column.dtype.is_temporal() or column.dtype.is_numeric() or column.dtype == pl.Boolean
        for column in frame
    }
    columns = {column.name: column.to_numpy() if by_numpy[column.name] else column.to_list() for column in frame}
    converted: pd.DataFrame = _pandas("save(folder, sample=...)").DataFrame(columns)
    return converted


def _for_pandas(column: Any) -> Any:
    return column.to_pandas() if isinstance(column, Coded) else column


def _for_polars(column: Any) -> pl.Series:
    import polars as pl

    series = column.to_polars() if isinstance(column, Coded) else pl.Series(values=column, strict=False)
    return series.fill_nan(None) if series.dtype.is_float() else series


def _pandas(otherwise: str) -> Any:
    try:
        return require("pandas", extra="pandas", purpose="this table")
    except MissingExtraError as error:
        raise MissingExtraError(f"{error}; without it, use {otherwise}") from None
