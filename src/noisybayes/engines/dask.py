"""Workers of a Dask cluster. Rows are sent once and stay there; shards are named by their path, and the workers read
them. The parameters go to every worker once per pass.

Both are sent inside tasks, which the scheduler can assign to another worker when one is lost; scattered data would be
lost for good (and a broadcast to a worker that dies meanwhile never returns).

Chunks are divided into groups that depend only on the chunks, and their sums are combined in a tree of fixed shape, in
which each worker adds up its own part: neither the number of workers nor the loss of one changes a digit of the result.
"""

from __future__ import annotations

import atexit
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._extras import require
from .._threads import effective_n_jobs
from ..dataset import MapSum, Rows
from ..dataset.tree import add_into, copied, summed

if TYPE_CHECKING:
    from distributed import Client, Future, LocalCluster

#: Maximum number of groups of chunks, each on one worker; more would only deepen the tree of sums.
GROUPS = 32
#: Bytes: the size from which malloc maps an array separately and returns its memory, and the memory that it keeps.
MALLOC = {"MALLOC_MMAP_THRESHOLD_": 1 << 25, "MALLOC_TRIM_THRESHOLD_": 1 << 28}
#: Seconds to wait for the scheduler to respond.
SECONDS_TO_CONNECT = 10
#: Seconds to wait for the first worker.
SECONDS_TO_WAIT = 30
#: The rows of a lost worker are sent again; at most this many times in one pass.
MAX_LOSSES = 5


class ClusterLostError(RuntimeError):
    """The scheduler is gone, or too many workers are."""


def engine(n_workers: int) -> MapSum:
    """The cluster that this process is connected to, else one of `n_workers` processes on this machine."""
    distributed = require("distributed", extra="dask", purpose='engine="dask"')
    try:
        client = distributed.default_client()
    except ValueError:
        client = _client_of_local_cluster(effective_n_jobs(n_workers))
    return on_cluster(client)


def on_cluster(client: Client) -> MapSum:
    """`map_sum` on the workers of a client: `BernoulliINB(method="em", engine=on_cluster(client))`."""
    return partial(_map_sum, WorkerChunks(client))


def connect(address: str | None) -> Client:
    """A client of the scheduler there, or of a new cluster on this machine."""
    from distributed import Client

    class ClosedIfNotConnected(Client):  # type: ignore[misc]
        """Otherwise the garbage collector closes it at any time, even while another client holds the required lock."""

        def start(self, **options: Any) -> None:
            try:
                super().start(**options)
            except BaseException:
                self.close()
                raise

    local_options = {"n_workers": effective_n_jobs(-1), "threads_per_worker": 1, "dashboard_address": ":0"}
    with _keep_freed_memory():
        return ClosedIfNotConnected(
            address, timeout=SECONDS_TO_CONNECT, set_as_default=False, **(local_options if address is None else {})
        )


def local_cluster(n_workers: int) -> LocalCluster:
    """Processes on this machine with one thread each."""
    from distributed import LocalCluster

    with _keep_freed_memory():
        return LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0")


@contextmanager
def _keep_freed_memory() -> Iterator[None]:
    """Workers that are started here keep the memory they free. By default Dask makes malloc return it at once, but the
    next pass needs arrays of the same size, and allocating them again took a fifth of the time."""
    import distributed  # noqa: F401 (registers its settings)
    from dask import config

    settings = "distributed.nanny.pre-spawn-environ"
    for name, size in config.get(settings).items():
        if name in MALLOC and os.environ.get(name) == str(size):  # left by an earlier cluster, not set by the user
            del os.environ[name]
    with config.set({f"{settings}.{name}": size for name, size in MALLOC.items()}):
        yield


@cache
def _client_of_local_cluster(n_workers: int) -> Client:
    from distributed import Client

    cluster = local_cluster(n_workers)
    client = Client(cluster, set_as_default=False)
    atexit.register(cluster.close)
    atexit.register(client.close)
    return client


class WorkerThread(NamedTuple):
    """A thread of a worker, which holds a share of the rows."""

    worker: str
    thread: int


class Group(NamedTuple):
    chunks: Future
    thread: WorkerThread  # where they were sent


class WorkerChunks:
    """The chunks of the last pass, in groups on the workers."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self._chunks: Sequence[Rows] | None = None
        self._groups: list[Group] = []

    def groups(self, chunks: Sequence[Rows]) -> list[Group]:
        if self._chunks is not chunks:
            self._send(chunks)
        return self._groups

    def clear(self) -> None:
        self._chunks, self._groups = None, []

    def _send(self, chunks: Sequence[Rows]) -> None:
        """Assign neighbouring groups to one thread, so that most sums of the tree are local."""
        edges = np.linspace(0, len(chunks), min(GROUPS, len(chunks)) + 1).astype(int)
        groups = [list(chunks[start:stop]) for start, stop in pairwise(edges)]
        threads = _threads(self.client)
        targets = [threads[i * len(threads) // len(groups)] for i in range(len(groups))]
        self._groups = [
            Group(_submit_value(self.client, group, target.worker, _load_chunks), target)
            for group, target in zip(groups, targets, strict=True)
        ]
        self._chunks = chunks


def _threads(client: Client) -> list[WorkerThread]:
    """Threads of all workers; waits if the cluster is just starting or has lost its last worker."""
    try:
        client.wait_for_workers(1, timeout=SECONDS_TO_WAIT)
    except TimeoutError:
        raise ClusterLostError("the cluster has no workers; start some and fit again") from None
    # the client's copy of the scheduler's state may be overwritten at any time by a message without the workers
    workers = client.sync(client.scheduler.identity, n_workers=-1)["workers"]
    return [WorkerThread(name, thread) for name in sorted(workers) for thread in range(workers[name]["nthreads"])]


def _submit_value(
    client: Client, value: Any, worker: str | None = None, unpack: Callable[[bytes], Any] | None = None
) -> Future:
    """A task that returns the value, on `worker` if it is still there."""
    import cloudpickle  # comes with Dask

    placement = {} if worker is None else {"workers": [worker], "allow_other_workers": True}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")  # it is sent only once, and is needed there
        return client.submit(unpack or cloudpickle.loads, cloudpickle.dumps(value), pure=False, **placement)


def _load_chunks(pickled: bytes) -> list[Rows]:
    """Chunks given by their path are read by the worker that uses them, and stay there."""
    import cloudpickle

    return [chunk.load() for chunk in cloudpickle.loads(pickled)]


def _map_sum(worker_chunks: WorkerChunks, fn: Callable[[Rows], Any], chunks: Sequence[Rows]) -> Any:
    from distributed import CancelledError, KilledWorker
    from distributed.comm.core import CommClosedError

    worker_lost = (CancelledError, KilledWorker, CommClosedError, TimeoutError)
    for _ in range(MAX_LOSSES):
        try:
            return _one_pass(worker_chunks.client, fn, worker_chunks.groups(chunks))
        except Exception as error:
            if worker_chunks.client.status != "running":
                raise ClusterLostError(
                    "the scheduler no longer answers; restart the cluster and repeat the command with "
                    "--resume (a run without --out keeps nothing)"
                ) from error
            if not isinstance(error, worker_lost):
                raise
            worker_chunks.clear()
    raise ClusterLostError(f"the cluster lost workers {MAX_LOSSES} times in one pass over the rows; check its logs")


def _one_pass(client: Client, fn: Callable[[Rows], Any], groups: list[Group]) -> Any:
    shared_fn = _submit_value(client, fn)

    def total(part: list[Group]) -> Future:
        """One task per thread: each costs the scheduler a millisecond."""
        if len({group.thread for group in part}) == 1:
            placement = {"workers": [part[0].thread.worker], "allow_other_workers": True}
            return client.submit(_sum_of_groups, shared_fn, [group.chunks for group in part], pure=False, **placement)
        first, second = _split_in_half(part)
        return client.submit(_add_copy, total(first), total(second), pure=False)

    return total(groups).result()


def _sum_of_groups(fn: Callable[[Rows], Any], groups: list[list[Rows]]) -> Any:
    """Pairwise summation, as for the sums of several workers."""
    if len(groups) == 1:
        return summed(map(fn, groups[0]))
    first, second = _split_in_half(groups)
    return add_into(_sum_of_groups(fn, first), _sum_of_groups(fn, second))


def _split_in_half(items: list[Any]) -> tuple[list[Any], list[Any]]:
    middle = len(items) // 2
    return items[:middle], items[middle:]


def _add_copy(first: Any, second: Any) -> Any:
    # Dask may hand the same value to other tasks, so it must not be modified
    return add_into(copied(first), second)
