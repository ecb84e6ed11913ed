"""The tables of an audit, independent of the data frame library (pandas or polars)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .._extras import MissingExtraError, require
from ..audit.columns import Array

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

#: The column of positions, from 0, in a frame without an index.
POSITION = "position"


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns of equal length by name; `rows` are their positions in the audited table, if not all."""

    values: dict[str, Any]  # arrays, lists, or series of polars
    rows: Array | None = None
    index: str | None = None  # the column that names the rows

    @classmethod
    def of_records(cls, records: Sequence[dict[str, Any]], names: Sequence[str], index: str | None = None) -> Columns:
        return cls({name: [record[name] for record in records] for name in names}, index=index)

    def take(self, rows: Array) -> Columns:
        """A table of only these rows."""
        taken = {name: column[rows] for name, column in self.values.items()}
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
    """Labels become a categorical."""
    import polars as pl

    if not isinstance(column, pl.Series):
        return column
    if not isinstance(column.dtype, pl.Enum):
        return column.to_numpy() if column.dtype.is_numeric() or column.dtype == pl.Boolean else column.to_list()
    import pandas as pd

    codes = column.to_physical().cast(pl.Int64).fill_null(-1).to_numpy()
    return pd.Categorical.from_codes(codes, pd.Index(column.dtype.categories.to_list(), dtype=object))


def _for_polars(column: Any) -> pl.Series:
    import polars as pl

    if isinstance(column, pl.Series):
        return column.cast(pl.String) if isinstance(column.dtype, pl.Enum) else column
    series = pl.Series(values=column, strict=False)
    return series.fill_nan(None) if series.dtype.is_float() else series


def _pandas(otherwise: str) -> Any:
    try:
        return require("pandas", extra="pandas", purpose="this table")
    except MissingExtraError as error:
        raise MissingExtraError(f"{error}; without it, use {otherwise}") from None
