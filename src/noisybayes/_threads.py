"""Work in threads, in an order that does not depend on timing."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_threads(fn: Callable[[Item], Result], items: Iterable[Item], n_threads: int) -> Generator[Result, None, None]:
    """Results in the order of the items (so that sums do not depend on timing), few of them waiting at a time."""
    if n_threads == 1:
        yield from map(fn, items)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        rest = iter(items)
        waiting: deque[Future[Result]] = deque(pool.submit(fn, item) for item in islice(rest, n_threads + 1))
        try:
            while waiting:
                result = waiting.popleft().result()
                waiting.extend(pool.submit(fn, item) for item in islice(rest, 1))
                yield result
        finally:
            for future in waiting:
                future.cancel()
