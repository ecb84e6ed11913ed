"""Keeps BLAS on one thread.

The arrays of a fit are small or sparse; its parallel work is over chunks of rows. Additional BLAS threads gain nothing,
and on busy cores they wait for each other ten times as long as they work.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

Function = TypeVar("Function", bound=Callable[..., Any])


def one_blas_thread(function: Function) -> Function:
    """The function, with BLAS on one thread while it runs."""

    @wraps(function)
    def limited(*args: Any, **kwargs: Any) -> Any:
        with threadpool_limits(1, user_api="blas"):
            return function(*args, **kwargs)

    return limited  # type: ignore[return-value]
