"""Threads of this process: products of numpy and scipy release the interpreter's lock, so that threads do help."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial, reduce
from itertools import islice
from typing import Any

from joblib import effective_n_jobs

from ..model.em import MapSum
from ..model.rows import Rows
from ..model.tree import add_into


def engine(n_workers: int) -> MapSum:
    """`n_workers` as joblib counts them: -1 means as many threads as this process has cores."""
    return partial(_map_sum, n_threads=effective_n_jobs(n_workers))


def _map_sum(fn: Callable[[Rows], Any], chunks: Sequence[Rows], n_threads: int) -> Any:
    if n_threads == 1 or len(chunks) == 1:
        return reduce(add_into, map(fn, chunks))
    with ThreadPoolExecutor(n_threads) as pool:
        return reduce(add_into, _in_order(pool, fn, chunks, n_threads + 1))


def _in_order(pool: ThreadPoolExecutor, fn: Callable[[Rows], Any], chunks: Sequence[Rows], most: int) -> Any:
    """Results in the order of the chunks (so that sums do not depend on timing), few of them waiting at a time."""
    waiting: deque[Future[Any]] = deque()
    rest = iter(chunks)
    waiting.extend(pool.submit(fn, chunk) for chunk in islice(rest, most))
    while waiting:
        result = waiting.popleft().result()
        waiting.extend(pool.submit(fn, chunk) for chunk in islice(rest, 1))
        yield result
