"""The order of classes: natural sort order (intent2 before intent10), or confused classes next to each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

_NUMBER = re.compile(r"(\d+)")


def natural_key(name: str) -> tuple[tuple[bool, int, str], ...]:
    parts = _NUMBER.split(name.casefold())
    return tuple((not part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts if part)


def natural_order(names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: (natural_key(name), name))


def confused_block(mistakes: Sequence[Sequence[float]], most: int) -> list[int]:
    """At most `most` classes, the most confused first, each next to those it is confused with.

    mistakes : (K, K) expected rows by given and true class; the diagonal does not count
    """
    between = np.array(mistakes, dtype=float)
    np.fill_diagonal(between, 0.0)
    between = between + between.T
    chosen: list[int] = []
    left = np.ones(len(between), dtype=bool)
    near = np.zeros(len(between))  # mistakes between a class and those chosen
    while left.any() and len(chosen) < most:
        apart = np.where(left[:, None] & left, between, 0.0)
        worst = apart.max(initial=0.0)
        if (near * left).max(initial=0.0) > 0.5 * worst or not worst:
            best = int(np.where(left, near, -1.0).argmax())
        else:  # start a new pair
            best = int(np.where(apart.max(axis=1) == worst, between.sum(axis=1), -1.0).argmax())
        chosen.append(best)
        left[best] = False
        near = near * 0.5 + between[best]  # the last one counts most, so that pairs stay together
    return chosen
