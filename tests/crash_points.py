"""Kill a process at its n-th file operation, as a power cut or `kill -9` would, and count how many there are."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

OPERATIONS = (
    "os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.chmod", "os.truncate", "os.link", "os.symlink", "os.utime",
    "shutil.rmtree", "shutil.move", "shutil.copyfile", "tempfile.mkdtemp", "tempfile.mkstemp", "fcntl.flock",
    "sqlite3.connect",
)  # fmt: skip


def count_operations(kill_at: int, report: Path | None = None) -> None:
    """From now on, the process ends before operation number `kill_at`; the number so far is kept in `report`."""
    seen = 0

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal seen
        opens = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        syncs = event == "open" and not opens and _is_folder_or_new(arguments[0])
        if not (opens or syncs or event in OPERATIONS):
            return
        if seen == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        seen += 1
        if report is not None and kill_at < 0:
            os.write(handle, b"x")

    handle = -1 if report is None else os.open(report, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    sys.addaudithook(watch)


def _is_folder_or_new(path: object) -> bool:
    """What is opened to be brought to the disk."""
    return isinstance(path, str | bytes) and b".tmp/" in os.fsencode(path)


def points(n: int, most: int) -> Iterator[int]:
    """All of them if NOISYBAYES_CRASH_POINTS is "all"; else about `most`, half of them among the last operations."""
    if os.environ.get("NOISYBAYES_CRASH_POINTS") == "all" or n <= most:
        return iter(range(n))
    last = range(max(n - most // 2, 0), n)
    spread = {round(i * n / (most - len(last))) for i in range(most - len(last))}
    return iter(sorted(spread | set(last)))


def run(script: str, kill_at: int, folder: Path, report: Path | None = None) -> int:
    """Run Python code in `folder` in a process of its own; -9 if it was killed."""
    prepared = f"import sys; from tests.crash_points import count_operations\n{script}"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path, str(Path(__file__).parents[1])])}
    arguments = [sys.executable, "-c", prepared, str(kill_at), "" if report is None else str(report)]
    done = subprocess.run(arguments, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode
