"""The engine of an audit, while it uses a cluster."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from .._extras import require
from ..data.errors import InputError

if TYPE_CHECKING:
    from distributed import Client

#: Seconds for workers to remove their files.
_CLEANUP_TIMEOUT = 10
#: The event loop keeps only weak references to its tasks.
_unfinished: set[asyncio.Future[None]] = set()


class OpenedEngine(NamedTuple):
    map_sum: Any  # the engine argument of a classifier
    client: Client | None = None  # client of the cluster, if there is one

    def on_workers(self, fn: Callable[[], Any]) -> None:
        """Run a function once on every worker that still responds."""
        client = self.client
        if client is None or client.status != "running":
            return
        if client.asynchronous:  # called by the garbage collector in the client's own thread, which must not wait
            task = asyncio.ensure_future(_run_on_all(client, fn))
            _unfinished.add(task)
            task.add_done_callback(_unfinished.discard)
        else:
            client.sync(_run_on_all, client, fn)


async def _run_on_all(client: Client, fn: Callable[[], Any]) -> None:
    with suppress(Exception):  # a worker has died or is busy, or the scheduler is gone; nothing more can be done
        # asked from the scheduler: the client's own list of workers may be empty
        workers = (await client.scheduler.identity(n_workers=-1))["workers"]
        futures = [client.submit(fn, workers=[worker], pure=False) for worker in workers]
        await asyncio.wait_for(asyncio.gather(*futures, return_exceptions=True), _CLEANUP_TIMEOUT)


@contextmanager
def opened_engine(engine: Any, scheduler: str | None) -> Iterator[OpenedEngine]:
    """A Dask engine: the cluster at this address, else the one this process is connected to, else a new local one."""
    if scheduler is not None and engine != "dask":
        raise InputError("--scheduler names a Dask cluster; add --engine dask")
    if engine != "dask":
        yield OpenedEngine(engine)
        return
    from ..engines.dask import ClusterLostError, on_cluster

    require("distributed", extra="dask", purpose="--engine dask")
    client, owns_client = _connect(scheduler)
    try:
        yield OpenedEngine(on_cluster(client), client)
    except ClusterLostError as error:
        raise InputError(str(error)) from error
    finally:
        if owns_client:
            client.close()


def _connect(scheduler: str | None) -> tuple[Client, bool]:
    """A client, and whether to close it at the end."""
    from distributed import default_client

    from ..engines.dask import connect

    if scheduler is None:
        try:
            return default_client(), False
        except ValueError:
            pass
    try:
        return connect(scheduler), True
    except (OSError, ValueError) as error:
        raise InputError(f"no Dask cluster answers at {scheduler}: {error}") from None
