"""Engines: `map_sum(fn, chunks)` applies fn to every chunk of rows and sums the results."""

from __future__ import annotations

from collections.abc import Callable

from ..dataset import MapSum
from . import local

#: name -> function from the number of workers to map_sum; a new engine is one file and one line here.
ENGINES: dict[str, Callable[[int], MapSum]] = {"local": local.engine}

__all__ = ["ENGINES"]
