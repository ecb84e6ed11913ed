"""Nested tuples of arrays as values: the shape of every statistic and parameter in this package."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class Pieces:
    """Results for some rows, block by block; adding two of them concatenates them."""

    def __init__(self, items: Sequence[Any]) -> None:
        self.items = list(items)

    def __add__(self, other: Pieces) -> Pieces:
        return Pieces([*self.items, *other.items])


def tree_map(fn: Callable[..., Any], *trees: Any) -> Any:
    """Apply `fn` leaf by leaf to trees of the same shape; tuples and named tuples keep their type."""
    first = trees[0]
    if not isinstance(first, tuple):
        return fn(*trees)
    leaves = [tree_map(fn, *parts) for parts in zip(*trees, strict=True)]
    return type(first)(*leaves) if hasattr(first, "_fields") else tuple(leaves)


def add_into(total: Any, part: Any) -> Any:
    """total + part, in the memory of total. None stands for a sum of nothing."""
    if total is None or part is None:
        return part if total is None else total
    if isinstance(total, Pieces):
        return total + part
    if not isinstance(total, tuple):
        return np.add(total, part, out=total)
    leaves = [add_into(a, b) for a, b in zip(total, part, strict=True)]
    return type(total)(*leaves) if hasattr(total, "_fields") else tuple(leaves)


def summed(parts: Iterable[Any]) -> Any:
    """The sum of trees in double precision; single precision is enough for small parts."""
    return reduce(lambda total, part: add_into(_float64_total(total, part), part), parts, None)


def _float64_total(total: Any, part: Any) -> Any:
    """`total`, with zeros in double precision where it is still empty but `part` is not."""
    if isinstance(part, tuple):
        totals = (None,) * len(part) if total is None else total
        leaves = [_float64_total(a, b) for a, b in zip(totals, part, strict=True)]
        return type(part)(*leaves) if hasattr(part, "_fields") else tuple(leaves)
    if total is not None or part is None or isinstance(part, Pieces):
        return total
    return np.zeros(np.shape(part))


def copied(tree: Any) -> Any:
    """A copy in double precision."""
    return add_into(_float64_total(None, tree), tree)


def blend(old: Any, new: Any, step: float) -> Any:
    """(1 - step) * old + step * new."""
    return tree_map(lambda a, b: (1.0 - step) * a + step * b, old, new)


def scale(tree: Any, factor: float) -> Any:
    return tree_map(lambda leaf: leaf * factor, tree)


def take_components(tree: Any, index: Array) -> Any:
    """Select components, the first axis of every leaf of a family's statistics or parameters."""
    return tree_map(lambda leaf: leaf[index], tree)
