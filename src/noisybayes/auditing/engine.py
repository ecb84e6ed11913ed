"""The engine of an audit, for as long as its cluster is ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .._extras import require
from ..data.errors import InputError


@contextmanager
def opened_engine(engine: Any, scheduler: str | None) -> Iterator[Any]:
    """What a classifier takes as its engine."""
    if scheduler is not None and engine != "dask":
        raise InputError("--scheduler names a Dask cluster; add --engine dask")
    if engine != "dask":
        yield engine
        return
    from ..engines.dask import ClusterLostError, connect, on_cluster

    require("distributed", extra="dask", purpose="--engine dask")
    try:
        client = connect(scheduler)
    except (OSError, ValueError) as error:
        raise InputError(f"no Dask cluster answers at {scheduler}: {error}") from None
    try:
        yield on_cluster(client)
    except ClusterLostError as error:
        raise InputError(str(error)) from error
    finally:
        client.close()
