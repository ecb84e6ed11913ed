"""Nested tuples of arrays as values: the shape of every statistic and parameter in this package."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def tree_map(fn: Callable[..., Any], *trees: Any) -> Any:
    """Apply `fn` leaf by leaf to trees of the same shape; tuples and named tuples keep their type."""
    first = trees[0]
    if not isinstance(first, tuple):
        return fn(*trees)
    leaves = [tree_map(fn, *parts) for parts in zip(*trees, strict=True)]
    return type(first)(*leaves) if hasattr(first, "_fields") else tuple(leaves)


def add_into(total: Any, part: Any) -> Any:
    """total + part, in the memory of total."""
    return tree_map(lambda a, b: np.add(a, b, out=a), total, part)


def summed(parts: Iterable[Any]) -> Any:
    """The sum of trees, in double precision whatever theirs is: small parts are exact enough, and cheaper."""
    each = iter(parts)
    first = tree_map(lambda leaf: leaf.astype(np.float64), next(each))
    return reduce(add_into, each, first)


def blend(old: Any, new: Any, step: float) -> Any:
    """(1 - step) * old + step * new."""
    return tree_map(lambda a, b: (1.0 - step) * a + step * b, old, new)


def scale(tree: Any, factor: float) -> Any:
    return tree_map(lambda leaf: leaf * factor, tree)


def take_components(tree: Any, index: Array) -> Any:
    """Pick components, which are the first axis of every leaf of a family's statistics or parameters."""
    return tree_map(lambda leaf: leaf[index], tree)
