"""Columns of categories, yes / no and numbers to features. Each kind fits one column and stores what it learned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl
from scipy import sparse

from ..data.cells import Parsed, as_numbers, as_text, as_truths
from ..data.errors import InputError

_MOST_VALUES = 100
_MISSING_SHARE = 0.01
_EMPTY = "(empty)"
_OTHER = "other"


@dataclass(frozen=True)
class Categorical:
    """One 0/1 feature per value; rare and new values share one."""

    kind: ClassVar[str] = "categorical"
    column: str
    values: tuple[str, ...]

    @classmethod
    def fit(cls, column: pl.Series) -> list[Categorical]:
        cells = as_text(column).fill_null(_EMPTY)
        counts = cells.rename("value").value_counts().sort("count", "value", descending=[True, False])
        values = counts["value"].to_list()
        if len(values) < 2:
            return []
        kept = set(values[:_MOST_VALUES]) | ({_OTHER} if len(values) > _MOST_VALUES else set())
        return [cls(column.name, tuple(sorted(kept)))]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{self.column}={value}" for value in self.values)

    def transform(self, column: pl.Series) -> Any:
        position = {value: i for i, value in enumerate(self.values)}
        cells = as_text(column).fill_null(_EMPTY)
        codes = cells.replace_strict(position, default=position.get(_OTHER, -1), return_dtype=pl.Int32).to_numpy()
        known = codes >= 0
        starts = np.concatenate([[0], np.cumsum(known)]).astype(np.int32)
        ones = np.ones(starts[-1])
        return sparse.csr_array((ones, codes[known], starts), shape=(len(codes), len(self.values)))


@dataclass(frozen=True)
class Binary:
    """0/1; a missing cell is taken as the more frequent of them."""

    kind: ClassVar[str] = "binary"
    column: str
    fill: float

    @classmethod
    def fit(cls, column: pl.Series) -> list[Binary]:
        values = _truths(column).drop_nulls()
        return [cls(column.name, float(values.sum() * 2 > len(values)))] if values.n_unique() > 1 else []

    @property
    def names(self) -> tuple[str, ...]:
        return (self.column,)

    def transform(self, column: pl.Series) -> Any:
        return _single(_truths(column).fill_null(self.fill))


@dataclass(frozen=True)
class Numeric:
    """The number; a missing one is taken as the median."""

    kind: ClassVar[str] = "numeric"
    column: str
    fill: float

    @classmethod
    def fit(cls, column: pl.Series) -> list[Numeric]:
        values = _numbers(column).drop_nulls()
        return [cls(column.name, _median(values))] if values.n_unique() > 1 else []

    @property
    def names(self) -> tuple[str, ...]:
        return (self.column,)

    def transform(self, column: pl.Series) -> Any:
        return _single(_numbers(column).fill_null(self.fill))


@dataclass(frozen=True)
class Missing:
    """1 where a number or a yes / no is missing, if that is so in more than 1 % of the rows (but not in all)."""

    kind: ClassVar[str] = "binary"
    column: str

    @classmethod
    def fit(cls, column: pl.Series) -> list[Missing]:
        # a yes / no that is no number is not missing
        share = _is_missing(column).cast(pl.Float64).to_numpy().mean()
        return [cls(column.name)] if _MISSING_SHARE < share < 1 else []

    @property
    def names(self) -> tuple[str, ...]:
        return (f"{self.column} is missing",)

    def transform(self, column: pl.Series) -> Any:
        return _single(_is_missing(column).cast(pl.Float64))


def _is_missing(column: pl.Series) -> pl.Series:
    numbers = as_numbers(column)
    return numbers.values.is_null() & ~numbers.bad


def _truths(column: pl.Series) -> pl.Series:
    return _readable(column, as_truths(column), "neither yes nor no (1/0, true/false, yes/no)")


def _numbers(column: pl.Series) -> pl.Series:
    return _readable(column, as_numbers(column), "no number")


def _readable(column: pl.Series, parsed: Parsed, what: str) -> pl.Series:
    if parsed.bad.any():
        row = parsed.bad.arg_max() or 0
        raise InputError(
            f"row {row + 1}: {as_text(column)[row]!r} in the column {column.name!r} is {what}; "
            f"correct it, empty it, or read the column with --categorical {column.name}"
        )
    return parsed.values


def _median(values: pl.Series) -> float:
    return float(np.median(values.to_numpy()))


def _single(values: pl.Series) -> Any:
    return sparse.csr_array(values.to_numpy().reshape(-1, 1))
