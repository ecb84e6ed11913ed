"""Where the pieces of a table are read: threads of this process, or the workers of a Dask cluster."""

from __future__ import annotations

import os
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from .._extras import require
from .._threads import effective_n_jobs, in_threads
from ..data.errors import InputError

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

#: (fn, items) -> fn(item) for each item, in their order. The items are taken from their iterator when they are needed.
Run = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]

#: Seconds to wait for an answer of the scheduler, and for the first worker.
SECONDS_TO_CONNECT, SECONDS_TO_WAIT = 10, 30
# Bytes: the size from which malloc maps an array separately and returns its memory, and the memory that it keeps.
_MALLOC = {"MALLOC_MMAP_THRESHOLD_": 1 << 25, "MALLOC_TRIM_THRESHOLD_": 1 << 28}


def in_this_process() -> Run:
    return partial(in_threads, n_threads=effective_n_jobs(-1))


def local_cluster(n_workers: int) -> LocalCluster:
    """Processes on this machine with one thread each. They keep the memory that they free: by default Dask makes malloc
    return it at once, but the next batch needs arrays of the same size, and allocating them again takes longer."""
    from dask import config
    from distributed import LocalCluster

    settings = "distributed.nanny.pre-spawn-environ"
    for name, size in config.get(settings).items():
        if name in _MALLOC and os.environ.get(name) == str(size):  # left by an earlier cluster, not set by the user
            del os.environ[name]
    with config.set({f"{settings}.{name}": size for name, size in _MALLOC.items()}):
        return LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0")


@contextmanager
def on_dask(scheduler: str | None) -> Iterator[Run]:
    """The cluster at this address, else the one that this process is connected to, else a new one on this machine."""
    require("distributed", extra="dask", purpose="--engine dask")
    client, is_own = _connected(scheduler)
    try:
        yield partial(_run, client)
    finally:
        if is_own:
            client.close()
            if scheduler is None:
                client.cluster.close()


def _connected(scheduler: str | None) -> tuple[Client, bool]:
    """A client, and whether to close it at the end."""
    from distributed import Client, default_client

    class ClosedIfNotConnected(Client):  # type: ignore[misc]
        """Otherwise the garbage collector closes it at any time, even while another client holds the required lock."""

        def start(self, **options: Any) -> None:
            try:
                super().start(**options)
            except BaseException:
                self.close()
                raise

    if scheduler is None:
        try:
            return default_client(), False
        except ValueError:
            pass
    address = local_cluster(effective_n_jobs(-1)) if scheduler is None else scheduler
    try:
        client = ClosedIfNotConnected(address, timeout=SECONDS_TO_CONNECT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(f"no Dask cluster answers at {scheduler}: {error}") from None
    return client, True


def _run(client: Client, fn: Callable[[Any], Any], items: Iterable[Any]) -> Generator[Any, None, None]:
    """Workers that die are Dask's business: what they did is done again by others."""
    import cloudpickle  # comes with Dask
    from distributed import CancelledError, KilledWorker

    waiting: deque[Any] = deque()
    try:
        _wait_for_workers(client)
        # inside a task, so that it can be sent again to another worker
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")  # it is sent only once, and is needed there
            shared = client.submit(cloudpickle.loads, cloudpickle.dumps(fn), pure=False)
        n_threads = sum(worker["nthreads"] for worker in client.scheduler_info(n_workers=-1)["workers"].values())
        rest = iter(items)
        while True:
            for item in islice(rest, 2 * max(n_threads, 1) - len(waiting)):
                waiting.append(client.submit(_call, shared, cloudpickle.dumps(item), pure=False))
            if not waiting:
                return
            result = waiting[0].result()
            waiting.popleft()
            yield result
    except InputError:
        raise
    except Exception as error:
        if isinstance(error, KilledWorker):
            reason = "the cluster lost its workers several times; check their logs, and repeat the command"
        elif client.status == "running" and (
            (waiting and waiting[0].status == "error")  # what is wrong is the task
            or not isinstance(error, OSError | CancelledError | TimeoutError)
        ):
            raise
        else:
            reason = "the scheduler of the cluster no longer answers; start it again and repeat the command"
        raise InputError(reason) from error


def _wait_for_workers(client: Client) -> None:
    try:
        client.wait_for_workers(1, timeout=SECONDS_TO_WAIT)
    except TimeoutError:
        if client.status == "running":
            raise InputError("the cluster has no workers; start some and repeat the command") from None
        raise


def _call(fn: Callable[[Any], Any], item: bytes) -> Any:
    import cloudpickle

    return fn(cloudpickle.loads(item))
