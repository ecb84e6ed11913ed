"""Resolve names on the command line to data sets and methods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

T = TypeVar("T")


def select(names: str, offered: Mapping[str, T], groups: Mapping[str, tuple[str, ...]], what: str) -> dict[str, T]:
    """`names`: names and groups separated by commas; the group "all" means all of them unless `groups` defines it."""
    groups = {"all": tuple(offered), **groups}
    chosen: list[str] = []
    for name in filter(None, (part.strip() for part in names.split(","))):
        if name in offered:
            chosen.append(name)
        elif name in groups:
            chosen += groups[name]
        else:
            raise ValueError(f"there is no {what} {name!r}; choose from {', '.join([*groups, *offered])}")
    if not chosen:
        raise ValueError(f"no {what} was given; choose from {', '.join([*groups, *offered])}")
    return {name: offered[name] for name in dict.fromkeys(chosen)}
