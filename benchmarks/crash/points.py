"""Kill a process at its n-th operation, as a power cut or `kill -9` would, and count the operations.

An operation is any change that Python makes to files, and each statement and commit of a store.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

OPERATIONS = (
    "os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.chmod", "os.truncate", "os.link", "os.symlink", "os.utime",
    "shutil.rmtree", "shutil.move", "shutil.copyfile", "tempfile.mkdtemp", "tempfile.mkstemp", "fcntl.flock",
    "sqlite3.connect",
)  # fmt: skip
NOWHERE = -1  # only count


class _Count:
    def __init__(self, kill_at: int, report: Path | None) -> None:
        self._seen, self._kill_at = 0, kill_at
        self._handle = -1 if report is None else os.open(report, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def step(self, *arguments: Any) -> None:
        if self._seen == self._kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        self._seen += 1
        if self._handle >= 0 and self._kill_at < 0:
            os.write(self._handle, b"x")

    def watch(self, event: str, arguments: tuple[object, ...]) -> None:
        opens = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        syncs = event == "open" and not opens and _is_folder_or_new(arguments[0])
        if opens or syncs or event in OPERATIONS:
            self.step()


def count_operations(kill_at: int, report: Path | None = None, *, statements: bool = False) -> None:
    """From now on, the process is killed before operation number `kill_at`; the count so far is kept in `report`."""
    count = _Count(kill_at, report)
    if statements:
        from sqlalchemy import event
        from sqlalchemy.engine import Engine

        event.listen(Engine, "before_cursor_execute", count.step)
        event.listen(Engine, "commit", count.step)
    sys.addaudithook(count.watch)


def _is_folder_or_new(path: object) -> bool:
    """Whether it was opened only to be synced to disk."""
    return isinstance(path, str | bytes) and b".tmp/" in os.fsencode(path)


def in_child(work: Callable[[], None]) -> int:
    """Run it in a fork of this process, which must not have started threads. Returns the exit code, -9 if killed."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 1
    try:
        work()
        code = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)
