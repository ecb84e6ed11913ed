"""Jobs in several processes with one thread each: threads of one would compete with those of the others."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from typing import Any, TypeVar

Job = TypeVar("Job")
Answer = TypeVar("Answer")

_ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "LOKY_MAX_CPU_COUNT"), "1"
)
_SECONDS_BETWEEN_LOOKS = 1.0

_answer: Callable[[Any], Any]  # in a process of the pool: the function that runs each of its jobs


def side_by_side(
    jobs: Iterable[Job], answer: Callable[[Job], Answer], n_processes: int
) -> Generator[Answer, None, None]:
    """Answers as they are ready. Each process keeps its own copy of `answer`; jobs are started in order."""
    others = multiprocessing.active_children()
    pool = ProcessPoolExecutor(n_processes, multiprocessing.get_context("spawn"), _start, (answer, os.getpid()))
    try:
        with _environment(_ONE_THREAD):
            futures = [pool.submit(_run, job) for job in jobs]
        for future in as_completed(futures):
            yield future.result()
    finally:
        for process in multiprocessing.active_children():
            if process not in others:
                process.kill()  # after an interrupt, do not wait for the remaining jobs
        pool.shutdown(cancel_futures=True)


def _start(answer: Callable[[Any], Any], parent: int) -> None:
    global _answer
    _answer = answer
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C also reaches the parent, which stops this process
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """Exit if the parent is gone: a killed parent cannot stop its children."""
    while os.getppid() == parent:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    os._exit(1)


def _run(job: Any) -> Any:
    return _answer(job)


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    """For processes started within the block: libraries read these variables when they are imported."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
