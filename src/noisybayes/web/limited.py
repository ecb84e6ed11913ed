"""Work on what somebody sent, in a process of its own with bounded memory and time.

The content of a table may be made to do harm: a file of some kilobytes can unpack to gigabytes. So the server itself
never reads it; `work` does, and ends with its process.
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

# Each may take all of its memory: so many at once, besides the one fit; others wait.
_AT_ONCE = threading.BoundedSemaphore(2)
TOO_MUCH_MEMORY = "the table needs more memory than it may take here; give a smaller one, or raise max-memory"


@contextmanager
def room_for_work() -> Iterator[Path]:
    """A private folder that is gone at the end; that of a killed server goes when the next one is made."""
    with scratch_folder(Path(tempfile.gettempdir())) as folder:
        yield folder


@contextmanager
def table_on_disk(content: bytes) -> Iterator[Path]:
    """A private folder with the content of a table in it, and room for results."""
    with room_for_work() as folder:
        path = folder / "table.parquet"
        path.write_bytes(content)
        yield path


def run_limited(
    job: str,
    arguments: Mapping[str, Any],
    most_memory: int,
    seconds: float,
    tell: Callable[[str], None] | None = None,
) -> Any:
    """What the function `job` of `work` returns, as plain data. What it raises for bad input is raised here.

    `tell` is called with the stages that the job goes through; when it raises, the job ends.
    """
    with _AT_ONCE if tell is None else nullcontext():
        return _run(job, arguments, most_memory, seconds, tell)


def _run(
    job: str, arguments: Mapping[str, Any], most_memory: int, seconds: float, tell: Callable[[str], None] | None
) -> Any:
    command = [sys.executable, "-m", "noisybayes.web.work", job, str(most_memory)]
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
        # the pipe stays open: the job ends itself when it is closed, also by the end of this process
        assert process.stdin is not None
        process.stdin.write(json.dumps(arguments) + "\n")
        process.stdin.flush()
        answer = _answer(process, tell)
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
        raise InputError(f"reading the table took more than {seconds:.0f} seconds; give a smaller one")
    if answer is None:
        raise InputError(TOO_MUCH_MEMORY)
    if "error" in answer:
        raise InputError(str(answer["error"]))
    return answer["result"]


def _answer(process: subprocess.Popen[str], tell: Callable[[str], None] | None) -> dict[str, Any] | None:
    """The last line; None if the process ended without one."""
    assert process.stdout is not None
    for line in process.stdout:
        try:
            told = json.loads(line)
        except ValueError:
            return None
        if "stage" not in told:
            return dict(told)
        if tell is not None:
            tell(told["stage"])
    return None


def _close(pipe: Any) -> None:
    with suppress(BrokenPipeError):
        pipe.close()
