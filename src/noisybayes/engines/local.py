"""Threads of this process: products of numpy and scipy release the GIL, so threads help."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from .._threads import effective_n_jobs, in_threads
from ..dataset import MapSum, Rows
from ..dataset.tree import summed


def engine(n_workers: int) -> MapSum:
    """`n_workers` as joblib counts them: -1 means as many threads as this process has cores."""
    return partial(_map_sum, n_threads=effective_n_jobs(n_workers))


def _map_sum(fn: Callable[[Rows], Any], chunks: Sequence[Rows], n_threads: int) -> Any:
    return summed(in_threads(fn, chunks, n_threads if len(chunks) > 1 else 1))
