"""Jobs on uploaded tables run in a separate process with limited memory and time.

An upload may be malicious: a file of a few kilobytes can unpack to gigabytes. So the server itself never reads it;
`table_jobs` does, in a process that ends with the job.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from .._files import scratch_folder
from ..data.errors import InputError

# Each job may use its whole memory limit, so only two run at once, besides the fit; others wait.
_AT_ONCE = threading.BoundedSemaphore(2)
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
    command = [sys.executable, "-m", "noisybayes.web.table_jobs", job, str(most_memory)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8"
    )
    expired = threading.Event()

    def expire() -> None:
        expired.set()
        process.kill()

    timer = threading.Timer(seconds, expire)
    timer.start()
    try:
        # keep the pipe open: the job exits when it is closed, which also happens when this process ends
        assert process.stdin is not None
        process.stdin.write(json.dumps(arguments) + "\n")
        process.stdin.flush()
        answer = _answer(process, report_stage)
    except BrokenPipeError:
        answer = None
    finally:
        timer.cancel()
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                _close(pipe)
    if expired.is_set():
        raise InputError(f"reading the table took more than {seconds:.0f} seconds; use a smaller one")
    if answer is None:
        raise InputError(TOO_MUCH_MEMORY)
    if "error" in answer:
        raise InputError(str(answer["error"]))
    return answer["result"]


def _answer(process: subprocess.Popen[str], report_stage: Callable[[str], None] | None) -> dict[str, Any] | None:
    """The last line; None if the process ended without one."""
    assert process.stdout is not None
    for line in process.stdout:
        try:
            message = json.loads(line)
        except ValueError:
            return None
        if "stage" not in message:
            return dict(message)
        if report_stage is not None:
            report_stage(message["stage"])
    return None


def _close(pipe: Any) -> None:
    with suppress(BrokenPipeError):
        pipe.close()
