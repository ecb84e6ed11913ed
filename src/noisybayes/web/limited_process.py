"""Jobs on uploaded tables run in a separate process with limited memory and time.

An upload may be malicious: a file of a few kilobytes can unpack to gigabytes. So the server itself never reads it;
`table_jobs` does, in a process that ends with the job.
"""

from __future__ import annotations

import json
import math
import multiprocessing
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from .._files import scratch_folder
from ..data.errors import InputError

# Each job may use its whole memory limit, so only two run at once, besides the fit; others wait.
_AT_ONCE = threading.BoundedSemaphore(2)
_LOOK_EVERY = 0.05  # seconds between checks of the memory in use
_PROCESSES = multiprocessing.get_context("spawn")  # a fork would copy the locks of the server's threads
TOO_MUCH_MEMORY = "the table needs more memory than the limit allows; use a smaller one, or raise max-memory"


@contextmanager
def private_folder() -> Iterator[Path]:
    """A private folder, deleted at the end; the folder of a killed server is deleted when the next one is created."""
    with scratch_folder(Path(tempfile.gettempdir())) as folder:
        yield folder


@contextmanager
def table_on_disk(content: bytes) -> Iterator[Path]:
    """The path of a table in a private folder, which also has room for results."""
    with private_folder() as folder:
        path = folder / "table.parquet"
        path.write_bytes(content)
        yield path


def run_limited(
    job: str,
    arguments: Mapping[str, Any],
    most_memory: int,
    seconds: float,
    report_stage: Callable[[str], None] | None = None,
) -> Any:
    """Run the function `job` of `table_jobs` and return its result as plain data. Its input errors are raised here.

    `report_stage` is called with each stage of the job; if it raises, the job is stopped.
    """
    with _AT_ONCE if report_stage is None else nullcontext():
        return _run(job, arguments, most_memory, seconds, report_stage)


def _run(
    job: str, arguments: Mapping[str, Any], most_memory: int, seconds: float, report_stage: Callable[[str], None] | None
) -> Any:
    ours, theirs = _PROCESSES.Pipe(duplex=False)
    process = _PROCESSES.Process(target=_work, args=(theirs, job, dict(arguments), most_memory), daemon=True)
    process.start()
    theirs.close()
    end, most_held = time.monotonic() + seconds, math.inf
    try:
        while time.monotonic() < end:
            if _held(process.pid)[1] > most_held:
                raise InputError(TOO_MUCH_MEMORY)
            if not ours.poll(_LOOK_EVERY):
                continue
            kind, content = json.loads(ours.recv_bytes())  # a pickle from a process that read an upload could run code
            if kind == "result":
                return content
            if kind == "error":
                raise InputError(content)
            if kind == "started":
                most_held = content + most_memory
            elif report_stage is not None:
                report_stage(content)
    except EOFError:  # it could not allocate something
        raise InputError(TOO_MUCH_MEMORY) from None
    finally:
        process.kill()
        process.join()
        ours.close()
    raise InputError(f"reading the table took more than {seconds:.0f} seconds; use a smaller one")


def _work(connection: Connection, job: str, arguments: dict[str, Any], most_memory: int) -> None:
    """Runs in the new process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server
    threading.Thread(target=_end_with_server, daemon=True).start()
    from polars.exceptions import ComputeError

    from . import table_jobs

    def send(kind: str, content: Any) -> None:
        connection.send_bytes(json.dumps([kind, content]).encode())

    # libraries do not count towards the limit, and may break if it stops their import
    table_jobs.import_libraries(job)
    send("started", _limit_memory(most_memory))
    try:
        send("result", table_jobs.JOBS[job](lambda stage: send("stage", stage), **arguments))
    except (InputError, OSError) as error:
        send("error", str(error))
    except (MemoryError, ComputeError):
        send("error", TOO_MUCH_MEMORY)
    os._exit(0)  # library threads may take long to end, or need memory to do so


def _end_with_server() -> None:
    server = multiprocessing.parent_process()
    assert server is not None
    server.join()
    os._exit(1)


def _limit_memory(most: int) -> int:
    """Returns the memory that is in use already.

    The server ends the process above its limit, since some compiled libraries do not survive a failed allocation: they
    wait forever for a thread that has died. The system's limit is a backstop for a single huge allocation.
    """
    reserved, held = _held(os.getpid())
    if reserved:
        import resource

        behind = reserved + 2 * most + 500_000_000
        resource.setrlimit(resource.RLIMIT_AS, (behind, behind))
    return held


def _held(process_id: int | None) -> tuple[int, int]:
    """Bytes that a process has reserved and those in use; 0 where the system does not tell."""
    try:
        pages = Path(f"/proc/{process_id}/statm").read_text(encoding="ascii").split()[:2]
    except OSError:
        return 0, 0
    reserved, held = (int(each) * os.sysconf("SC_PAGE_SIZE") for each in pages)
    return reserved, held
