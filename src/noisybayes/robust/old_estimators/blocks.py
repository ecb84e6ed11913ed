"""The `blocks` argument of MixedINB to a mixed family: every column of X in exactly one block."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ...dataset.tree import Array
from ..old_model.families import FAMILIES, Family, Mixed


def mixed_family(blocks: Any, X: Any, names: Array | None) -> Mixed:
    """`names` are the column names of X if it came as a data frame."""
    d = X.shape[1]
    pairs = _automatic(X) if isinstance(blocks, str) and blocks == "auto" else _checked_pairs(blocks, d, names)
    families, columns = zip(*pairs, strict=True)
    count = np.bincount(np.concatenate(columns), minlength=d)
    for problem, fix, where in (
        ("belong to more than one block", "name each column once", count > 1),
        ("belong to no block", "add them to one, or drop them from X", count == 0),
    ):
        if where.any():
            shown = ", ".join(str(c) for c in _named(np.flatnonzero(where)[:5], names))
            raise ValueError(f"blocks: the columns {shown} of X {problem}; {fix}")
    return Mixed(families, columns)


def _automatic(X: Any) -> list[tuple[Family, Array]]:
    binary = np.array([_is_binary_column(X, j) for j in range(X.shape[1])])
    kinds = (("bernoulli", np.flatnonzero(binary)), ("gaussian", np.flatnonzero(~binary)))
    return [(FAMILIES[name](), columns) for name, columns in kinds if len(columns)]


def _is_binary_column(X: Any, j: int) -> bool:
    values = X[:, [j]].data if sparse.issparse(X) else X[:, j]
    return bool(((values == 0) | (values == 1)).all())


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
        known = ", ".join(map(str, names[:10]))
        raise ValueError(f"blocks names the column {name!r}, which X does not have; it has {known}")
    return int(where[0])


def _named(columns: Array, names: Array | None) -> Array:
    return columns if names is None else names[columns]
