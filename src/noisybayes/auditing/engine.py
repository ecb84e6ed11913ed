"""The engine of an audit, while it uses a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from .._extras import require
from ..data.errors import InputError

if TYPE_CHECKING:
    from distributed import Client

#: Seconds for workers to remove their files.
_CLEANUP_TIMEOUT = 10


class OpenedEngine(NamedTuple):
    map_sum: Any  # the engine argument of a classifier
    client: Client | None = None  # client of the cluster, if there is one

    def on_workers(self, fn: Callable[[], Any]) -> None:
        """Run a function once on every worker that still responds."""
        if self.client is None or self.client.status != "running":
            return
        from distributed import fire_and_forget

        workers = self.client.scheduler_info(n_workers=-1)["workers"]
        futures = [self.client.submit(fn, workers=[worker], pure=False) for worker in workers]
        if self.client.asynchronous:  # the garbage collector may call this in the thread that handles the response
            fire_and_forget(futures)
            return
        for future in futures:
            with suppress(Exception):  # a worker has died or is busy; nothing more can be done
                future.result(timeout=_CLEANUP_TIMEOUT)


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
