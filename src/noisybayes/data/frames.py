"""Tables in memory: pandas, polars, pyarrow, Hugging Face."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

import polars as pl

from .cells import value_text
from .errors import InputError


def to_frame(data: Any) -> pl.DataFrame:
    """A polars frame of the same rows.

    Parameters
    ----------
    data : a polars or pandas data frame, a pyarrow Table or RecordBatch, a Hugging Face Dataset, or anything else that
        exports Arrow data (`__arrow_c_stream__`)
    """
    frame = converted(data)
    if not frame.height:
        raise InputError("the data frame has no rows; give a table with rows")
    return frame


def index_of(data: Any) -> Any:
    """The index of a pandas data frame; None if rows have no names other than their positions."""
    index = getattr(data, "index", None) if hasattr(data, "iloc") else None
    counts_up = index is not None and getattr(index, "start", None) == 0 and getattr(index, "step", None) == 1
    return None if counts_up else index


def converted(data: Any) -> pl.DataFrame:
    """The same, also for tables without rows."""
    if isinstance(data, pl.LazyFrame):
        data = data.collect()
    if isinstance(data, pl.DataFrame):
        return data
    if isinstance(data, Mapping) and data and all(hasattr(split, "column_names") for split in data.values()):
        splits = ", ".join(map(repr, data))
        raise InputError(f"the data set has several splits ({splits}); give one of them: data[{next(iter(data))!r}]")
    # pandas exports Arrow data too, but needs pyarrow for it
    if hasattr(data, "columns") and hasattr(data, "iloc"):
        return _from_pandas(data)
    if hasattr(data, "to_polars"):
        return pl.DataFrame(data.to_polars())
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        with suppress(pl.exceptions.SchemaError):  # a single column
            return pl.DataFrame(data)
    raise InputError(f"a table must be a data frame or the path of a file, got {type(data).__name__}")


def _from_pandas(data: Any) -> pl.DataFrame:
    names = [str(name) for name in data.columns]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(f"the data frame has more than one column {twice[0]!r}; rename all but one of them")
    return pl.DataFrame([_series(name, _values(data.iloc[:, i])) for i, name in enumerate(names)])


def _series(name: str, values: list[Any]) -> pl.Series:
    try:
        try:
            return pl.Series(name, values, strict=True)
        except UnicodeEncodeError:
            raise
        except (TypeError, ValueError, pl.exceptions.PolarsError):  # values of mixed types: as text
            return pl.Series(name, [value_text(value) for value in values], dtype=pl.String)
    except UnicodeEncodeError as error:
        odd = error.object[error.start]
        raise InputError(f"the column {name!r} contains an unpaired surrogate ({odd!r}); replace it") from None


def _values(column: Any) -> list[Any]:
    """The cells of a pandas column, None where missing."""
    missing = column.isna()
    return [None if gone else value for value, gone in zip(column.tolist(), missing, strict=True)]


def new_names(names: Iterable[str], taken: Iterable[str]) -> list[str]:
    """Names for columns that are added to a table; changed if the table already has such a name."""
    taken = set(taken)
    return [_new_name(name, taken) for name in names]


def _new_name(name: str, taken: set[str]) -> str:
    while name in taken:
        name = f"noisybayes_{name}"
    return name
