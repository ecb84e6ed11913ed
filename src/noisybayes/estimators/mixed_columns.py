"""The columns of MixedINB: a data frame with categories as a matrix, and every column in exactly one block."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._missing import is_null
from ..model.families import FAMILIES, Bernoulli, Family, Gaussian, Mixed, is_binary

Array = NDArray[Any]

#: More categories than this are an identifier or a text.
MOST_CATEGORIES = 1_000
# No category has this name.
_MISSING = "\0missing"


def has_categories(X: Any) -> bool:
    """Whether X is a data frame with a column that is not of numbers."""
    return hasattr(X, "columns") and hasattr(X, "dtypes") and not all(map(_is_numeric, X.dtypes))


def _is_numeric(dtype: Any) -> bool:
    """Of a column of pandas or polars."""
    if hasattr(dtype, "is_numeric"):
        return bool(dtype.is_numeric()) or str(dtype) == "Boolean"
    return getattr(dtype, "kind", "O") in "biuf"


class FrameColumns(NamedTuple):
    """How a data frame becomes a matrix: one column per number, one per category."""

    names: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]  # the categories of each column; none: it is of numbers

    @classmethod
    def fit(cls, frame: Any) -> FrameColumns:
        names, dtypes = list(frame.columns), list(frame.dtypes)
        levels = [() if _is_numeric(t) else _levels(frame[name], name) for name, t in zip(names, dtypes, strict=True)]
        return cls(tuple(map(str, names)), tuple(levels))

    @property
    def origin(self) -> Array:
        """(d,) the column of the frame that each column of the matrix comes from."""
        return np.repeat(np.arange(len(self.names)), [max(1, len(levels)) for levels in self.levels])

    def matrix(self, frame: Any) -> Array:
        """(n, d); a category that is missing or unknown is 0 in all columns of its name."""
        parts = []
        for name, levels in zip(frame.columns, self.levels, strict=True):
            if levels:
                parts.append((_names(frame[name])[:, None] == np.array(levels)).astype(np.float64))
                continue
            try:
                parts.append(np.asarray(frame[name], dtype=np.float64)[:, None])
            except (TypeError, ValueError):
                raise ValueError(f"the column {name!r} had numbers in fit, but has other values here") from None
        return np.hstack(parts)


def _names(column: Any) -> Array:
    values = np.asarray(column, dtype=object)
    return np.where(is_null(values), _MISSING, values.astype(str))


def _levels(column: Any, name: Any) -> tuple[str, ...]:
    levels = np.unique(_names(column)).tolist()
    found = tuple(level for level in levels if level != _MISSING)
    if not found or len(found) > MOST_CATEGORIES:
        raise ValueError(
            f"the column {name!r} has {len(found):,} categories, at most {MOST_CATEGORIES:,} can be used, and at "
            "least one is needed; drop it, or turn texts into word counts"
        )
    return found


def mixed_family(blocks: Any, X: Any, names: Array | None, frame: FrameColumns | None) -> Mixed:
    """names : column names of X if it came as a data frame. frame : if that had categories"""
    n_columns = X.shape[1] if frame is None else len(frame.names)
    origin = np.arange(n_columns) if frame is None else frame.origin
    is_category = np.zeros(n_columns, dtype=bool) if frame is None else np.array([bool(ls) for ls in frame.levels])
    if isinstance(blocks, str) and blocks == "auto":
        binary = np.array([_is_binary_column(X, j) for j in range(X.shape[1])])
        chosen: list[tuple[Family, Array]] = [
            (Bernoulli(), np.flatnonzero(binary)),
            (Gaussian(), np.flatnonzero(~binary)),
        ]
        families, columns = zip(*[(family, own) for family, own in chosen if len(own)], strict=True)
        return Mixed(families, columns)
    pairs = _checked_pairs(blocks, n_columns, names)
    count = np.bincount(np.concatenate([own for _, own in pairs]), minlength=n_columns)
    for problem, fix, where in (
        ("belong to more than one block", "name each column once", count > 1),
        ("belong to no block", "add them to one, or drop them from X", count == 0),
    ):
        if where.any():
            found = np.flatnonzero(where)[:5]
            shown = ", ".join(map(str, found if names is None else names[found]))
            raise ValueError(f"blocks: the columns {shown} of X {problem}; {fix}")
    for family, own in pairs:
        if is_category[own].any() and not isinstance(family, Bernoulli):
            first = int(own[is_category[own]][0])
            raise ValueError(f"blocks: the column {names[first]!r} has categories; put it in a block of 'bernoulli'")  # type: ignore[index]
    return Mixed(
        tuple(f for f, _ in pairs), tuple(np.flatnonzero(np.isin(origin, own)) if frame else own for _, own in pairs)
    )


def _is_binary_column(X: Any, j: int) -> bool:
    return is_binary(X[:, [j]].data if sparse.issparse(X) else X[:, j])


def _checked_pairs(blocks: Any, d: int, names: Array | None) -> list[tuple[Family, Array]]:
    try:
        pairs = [(family, columns) for family, columns in blocks]
    except (TypeError, ValueError):
        raise ValueError(f"blocks must be 'auto' or a list of pairs (family, columns), got {blocks!r}") from None
    if not pairs:
        raise ValueError("blocks is empty; give at least one pair (family, columns)")
    return [(_family(family), _positions(columns, d, names)) for family, columns in pairs]


def _family(family: Any) -> Family:
    if isinstance(family, Family):
        return family
    if family not in FAMILIES:
        raise ValueError(f"blocks: a family must be one of {', '.join(map(repr, FAMILIES))}, got {family!r}")
    return FAMILIES[family]()


def _positions(columns: Any, d: int, names: Array | None) -> Array:
    if isinstance(columns, slice):
        return np.asarray(np.arange(d)[columns])
    columns = np.atleast_1d(columns)
    if columns.dtype == bool:
        if len(columns) != d:
            raise ValueError(f"blocks: a mask of columns has {len(columns)} entries, but X has {d} columns")
        columns = np.flatnonzero(columns)
    if columns.dtype.kind not in "iu":
        columns = np.array([_position(name, names) for name in columns.tolist()], dtype=int)
    if len(columns) == 0 or columns.min() < 0 or columns.max() >= d:
        raise ValueError(f"blocks: columns must be among 0..{d - 1} and not empty, got {columns.tolist()[:5]}")
    return np.asarray(columns)


def _position(name: Any, names: Array | None) -> int:
    if names is None:
        raise ValueError(f"blocks names the column {name!r}, but X has no column names; pass a data frame or positions")
    where = np.flatnonzero(names == name)
    if not len(where):
        raise ValueError(f"blocks names the column {name!r}, which X does not have; it has {', '.join(names[:10])}")
    return int(where[0])
