"""Files and folders that appear whole or not at all, and folders that vanish.

Everything is made in a private folder beside its place, and put in its place by a rename. A process may be killed at
any moment: what stood before stays, and the next writer removes what was left.
"""

from __future__ import annotations

import errno
import glob
import os
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# In a workspace: what is being made, and what stood there before, until the new one stands.
_NEW, _EARLIER, _SUFFIX = "new", "earlier", ".tmp"


class DiskError(RuntimeError):
    """There is no room on the disk, or it fails; the message says what to do."""


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Write to the path that is given; at the end it takes the place of `path`, or vanishes after an error."""
    with _workspace(path) as workspace:
        made = workspace / path.name
        made.touch()
        yield made
        _sync(made)
        made.replace(path)


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """The same for a folder; an earlier one goes only when the new one stands."""
    with _workspace(folder) as workspace:
        made, earlier = workspace / _NEW, workspace / _EARLIER
        made.mkdir()
        yield made
        for path in made.rglob("*"):
            if path.is_file():
                _sync(path)
        if folder.exists():
            folder.rename(earlier)  # killed after this, `recover` brings it back
        made.rename(folder)


def recover(path: Path) -> None:
    """Put right what writers of `path` left that were killed: an earlier folder comes back, the rest is removed."""
    for left in path.parent.glob(f".{glob.escape(path.name)}.*-*{_SUFFIX}"):
        pid = left.name.removeprefix(f".{path.name}.").partition("-")[0]
        if not pid.isdecimal() or _is_running(int(pid)):
            continue
        if (left / _EARLIER).exists() and not path.exists():
            (left / _EARLIER).rename(path)
        shutil.rmtree(left, ignore_errors=True)


def why_not_writable(path: Path) -> str | None:
    """Why nothing can be written at `path`; None if something can. Folders that are missing can be made."""
    folder = path.parent.absolute()
    while not folder.exists():
        folder = folder.parent
    try:
        tempfile.TemporaryDirectory(dir=folder, prefix=f".{path.name}.", suffix=_SUFFIX).cleanup()
    except OSError as error:
        return f"{folder} is not a folder" if not folder.is_dir() else error.strerror or str(error)
    return None


@contextmanager
def scratch_folder(parent: Path) -> Iterator[Path]:
    """A private folder in `parent` that is gone at the end, also after an error, Ctrl-C or SIGTERM."""
    with _exit_at_sigterm(), _workspace(parent / "noisybayes") as made:
        yield made


@contextmanager
def told_if_full(folder: Path, error: type[DiskError] = DiskError) -> Iterator[None]:
    try:
        yield
    except OSError as failure:
        if failure.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        raise error(f"the disk is full: {folder} cannot take all rows; make room or choose another folder") from None


@contextmanager
def _workspace(path: Path) -> Iterator[Path]:
    """A private folder beside `path`, gone at the end. Its name has the number of the process that writes in it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        recover(path)
        made = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}.{os.getpid()}-", suffix=_SUFFIX))
    except OSError as error:  # people know what they named, not the workspace beside it
        raise OSError(error.errno, error.strerror, str(path)) from error
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _is_running(pid: int) -> bool:
    if sys.platform == "win32":  # there, the signal 0 ends a process
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _sync(path: Path) -> None:
    """To the disk, so that a power cut after the rename does not leave an empty file."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


@contextmanager
def _exit_at_sigterm() -> Iterator[None]:
    """SIGTERM ends a process on the spot, unless somebody handles it."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():  # the garbage collector may end this anywhere
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
