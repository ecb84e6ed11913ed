"""Work in threads, in an order that does not depend on timing."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import wraps
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

_CPU_MAX = Path("/sys/fs/cgroup/cpu.max")

Item = TypeVar("Item")
Result = TypeVar("Result")
Function = TypeVar("Function", bound=Callable[..., Any])


def effective_n_jobs(n_jobs: int) -> int:
    """As joblib counts: -1 means all cores that this process may use, -2 all but one. (joblib itself takes a tenth of a
    second to import.)"""
    return n_jobs if n_jobs > 0 else max(1, n_cores() + 1 + n_jobs)


def n_cores() -> int:
    """Cores that this process may use: those it is bound to, or fewer if its container is limited."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = _CPU_MAX.read_text(encoding="ascii").split()
    except (OSError, ValueError):  # no such limit here
        return available
    return available if quota == "max" else max(1, min(available, round(int(quota) / int(period))))


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


def one_blas_thread(function: Function) -> Function:
    """The function, with BLAS on one thread while it runs: for small or sparse arrays more threads gain nothing, and on
    busy cores they wait for each other ten times as long as they work."""

    @wraps(function)
    def limited(*args: Any, **kwargs: Any) -> Any:
        with threadpool_limits(1, user_api="blas"):
            return function(*args, **kwargs)

    return limited  # type: ignore[return-value]
