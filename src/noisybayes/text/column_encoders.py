"""Columns of categories, yes/no and numbers to features. Each kind fits one column and stores what it learned."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl
from scipy import sparse

from ..data.cells import LARGEST, Parsed, as_numbers, as_text, as_truths
from ..data.errors import InputError
from .counts import Array
from .dates import PARTS, date_parts

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
        """Dates are split into their parts."""
        counts = cls.cells(column).rename("value").value_counts()
        if counts.height < 2:
            return []
        return DatePart.all_of(column.name, counts) or cls._of(column.name, counts)

    @classmethod
    def _of(cls, column: str, counts: pl.DataFrame) -> list[Categorical]:
        values = counts.sort("count", "value", descending=[True, False])["value"].head(_MOST_VALUES)
        categories = set(values) | ({_OTHER} if counts.height > _MOST_VALUES else set())
        return [cls(column, tuple(sorted(categories)))]

    @staticmethod
    def cells(column: pl.Series) -> pl.Series:
        return as_text(column).fill_null(_EMPTY)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{self.column}={value}" for value in self.values)

    def transform(self, column: pl.Series, n_before: int = 0) -> Any:
        return self.one_hot(self.codes(self.cells(column)))

    def codes(self, cells: pl.Series) -> Array:
        """The position of the feature of each cell, or -1."""
        position = {value: i for i, value in enumerate(self.values)}
        other = position.get(_OTHER, -1)
        return cells.replace_strict(position, default=other, return_dtype=pl.Int32).to_numpy()

    def one_hot(self, codes: Array) -> Any:
        known = codes >= 0
        starts = np.concatenate([[0], np.cumsum(known)]).astype(np.int32)
        ones = np.ones(starts[-1])
        return sparse.csr_array((ones, codes[known], starts), shape=(len(codes), len(self.values)))


@dataclass(frozen=True)
class DatePart(Categorical):
    """The same for the year, month, weekday or hour of a column of dates."""

    part: str

    @classmethod
    def all_of(cls, column: str, counts: pl.DataFrame) -> list[Categorical]:
        """Those that differ between rows; none if a value is not a date."""
        values = counts["value"]
        by_part = date_parts(values)
        if not (by_part["year"].is_not_null() | (values == _EMPTY)).all() or not by_part["year"].is_not_null().any():
            return []
        parts: list[Categorical] = []
        for part in PARTS:
            distinct = by_part[part].fill_null(_EMPTY).unique().sort().to_list()
            if 1 < len(distinct) <= _MOST_VALUES:
                parts.append(cls(column, tuple(distinct), part))
        return parts

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{self.part} of {self.column}={value}" for value in self.values)

    def codes(self, cells: pl.Series) -> Array:
        return super().codes(date_parts(cells)[self.part].fill_null(_EMPTY))


@dataclass(frozen=True)
class Binary:
    """0/1; a missing cell, or an invalid one in a new row, counts as the more frequent value."""

    kind: ClassVar[str] = "binary"
    column: str
    fill: float

    @classmethod
    def fit(cls, column: pl.Series) -> list[Binary]:
        values = truths(column).drop_nulls()
        return [cls(column.name, float(values.sum() * 2 > len(values)))] if values.n_unique() > 1 else []

    @property
    def names(self) -> tuple[str, ...]:
        return (self.column,)

    def transform(self, column: pl.Series, n_before: int = 0) -> Any:
        # an invalid value can occur only in a new row, since `fit` rejects it: it counts as missing
        return self.matrix(as_truths(column).values)

    def matrix(self, values: pl.Series) -> Any:
        return _single(values.fill_null(self.fill))


@dataclass(frozen=True)
class Numeric:
    """The number; a missing one is replaced by the median."""

    kind: ClassVar[str] = "numeric"
    column: str
    fill: float

    @classmethod
    def fit(cls, column: pl.Series) -> list[Numeric]:
        values = numbers(column).drop_nulls()
        return [cls(column.name, float(np.median(values.to_numpy())))] if values.n_unique() > 1 else []

    @property
    def names(self) -> tuple[str, ...]:
        return (self.column,)

    def transform(self, column: pl.Series, n_before: int = 0) -> Any:
        return self.matrix(numbers(column, n_before))

    def matrix(self, values: pl.Series) -> Any:
        return _single(values.fill_null(self.fill))


@dataclass(frozen=True)
class Missing:
    """1 if a number or a yes/no is missing, if that is so in more than 1 % of the rows (but not in all)."""

    kind: ClassVar[str] = "binary"
    column: str

    @classmethod
    def fit(cls, column: pl.Series) -> list[Missing]:
        share = _known(column).null_count() / len(column)
        return [cls(column.name)] if _MISSING_SHARE < share < 1 else []

    @property
    def names(self) -> tuple[str, ...]:
        return (f"{self.column} is missing",)

    def transform(self, column: pl.Series, n_before: int = 0) -> Any:
        return self.matrix(_known(column))

    def matrix(self, values: pl.Series) -> Any:
        return _single(values.is_null().cast(pl.Float64))


def truths(column: pl.Series, n_before: int = 0) -> pl.Series:
    """0, 1 or null. If the column is a part of a longer one, `n_before` rows precede it."""
    return _readable(column, as_truths(column), "neither yes nor no (1/0, true/false, yes/no)", n_before)


def numbers(column: pl.Series, n_before: int = 0) -> pl.Series:
    parsed = as_numbers(column)
    what = "not a number"
    if parsed.bad.any() and _is_finite(parsed.values[parsed.bad.arg_max() or 0]):
        what = f"beyond {LARGEST:g}, so its square cannot be computed"
    return _readable(column, parsed, what, n_before)


def _is_finite(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def _known(column: pl.Series) -> pl.Series:
    parsed = as_numbers(column)
    return parsed.values.set(parsed.bad, 1.0)  # a yes/no that is not a number is not missing


def _readable(column: pl.Series, parsed: Parsed, what: str, n_before: int) -> pl.Series:
    if parsed.bad.any():
        row = parsed.bad.arg_max() or 0
        raise InputError(
            f"row {n_before + row + 1}: {as_text(column)[row]!r} in the column {column.name!r} is {what}; "
            f"correct it, clear the cell, or read the column with --categorical {column.name}"
        )
    return parsed.values


def _single(values: pl.Series) -> Any:
    return sparse.csr_array(values.to_numpy().reshape(-1, 1))
