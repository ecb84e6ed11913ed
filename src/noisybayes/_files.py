"""Files and folders that appear whole or not at all, and folders that vanish.

Everything is made in a locked workspace beside its place, brought to the disk, and put in its place by one rename. A
process may be killed at any moment: what stood before stays, and the next writer removes what was left.
"""

from __future__ import annotations

import ctypes
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
from functools import cache
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


class DiskError(RuntimeError):
    """There is no room on the disk, or it fails; the message says what to do."""


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Write to the path that is given; at the end it takes the place of `path`, or vanishes after an error.

    What is at `path` is on the disk when this returns, and outlives a power cut.
    """
    with _workspace(path) as workspace:
        made = workspace / path.name
        made.touch(mode=0o600)
        yield made
        made.chmod(0o666 & ~_umask())  # temporary files are private
        _sync(made)
        made.replace(path)
        _sync(path.parent)


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """The same for a folder; an earlier one goes only when the new one stands."""
    with _workspace(folder) as workspace:
        made = workspace / _NEW
        made.mkdir(mode=0o700)
        yield made
        made.chmod(0o777 & ~_umask())
        for parent, _, names in os.walk(made):
            for name in names:
                _sync(Path(parent, name))
            _sync(Path(parent))
        _put(made, folder, workspace)
        _sync(folder.parent)


def why_not_writable(path: Path) -> str | None:
    """Why nothing can be written at `path`; None if something can. Folders that are missing can be made."""
    folder = path.parent.absolute()
    while not folder.exists():
        folder = folder.parent
    try:
        Path(tempfile.mkdtemp(dir=folder, prefix=f".{path.name}.", suffix=_SUFFIX)).rmdir()
    except OSError as error:
        return f"{folder} is not a folder" if not folder.is_dir() else error.strerror or str(error)
    return None


def recover(path: Path) -> None:
    """Put right what writers of `path` left that were killed: an earlier folder comes back, the rest is removed."""
    if fcntl is None:  # who is alive cannot be told
        return
    for left in path.parent.glob(f".{glob.escape(path.name)}.*{_SUFFIX}") if path.parent.is_dir() else ():
        lock = _locked(left)
        if lock is None:  # somebody is writing
            continue
        try:
            if (left / _EARLIER).exists() and not path.exists():
                (left / _EARLIER).rename(path)
                _sync(path.parent)
            shutil.rmtree(left, ignore_errors=True)
        finally:
            os.close(lock)


_SCRATCH = "noisybayes"
# What a process may take to clean up after SIGTERM; those who stop services wait 10 seconds or more.
_SECONDS_TO_LEAVE = 8.0
# In a workspace: what is being made, and what stood there before, for as long as nothing does.
_NEW, _EARLIER, _SUFFIX = "new", "earlier", ".tmp"


@contextmanager
def _workspace(path: Path) -> Iterator[Path]:
    """A private folder beside `path`, gone at the end. It is locked: one that is not was left by a killed process."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        recover(path)
        made, lock = _locked_folder(path.parent, f".{path.name}.")
    except OSError as error:  # people know what they named, not the workspace beside it
        raise OSError(error.errno, error.strerror, str(path)) from error
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)
        os.close(lock)


def _locked_folder(parent: Path, prefix: str) -> tuple[Path, int]:
    while True:
        made = Path(tempfile.mkdtemp(dir=parent, prefix=prefix, suffix=_SUFFIX))
        lock = _locked(made)
        if lock is not None:
            return made, lock


def _locked(folder: Path) -> int | None:
    """A handle that holds the folder until it is closed or the process ends; None if another process holds it."""
    if fcntl is None:
        return os.open(os.devnull, os.O_RDONLY)
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # removed, or no folder
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # between being made and being locked, another process may have taken it for a leftover
        if os.path.samestat(os.fstat(handle), folder.stat()):
            return handle
    except OSError:
        pass
    os.close(handle)
    return None


def _put(made: Path, folder: Path, workspace: Path) -> None:
    """Put `made` in the place of `folder`; what stood there ends up in the workspace."""
    if not folder.exists():
        made.rename(folder)
    elif not _exchange(made, folder):
        # killed between the two, the earlier folder is in the workspace, and `recover` brings it back
        folder.rename(workspace / _EARLIER)
        try:
            made.rename(folder)
        except OSError:
            (workspace / _EARLIER).rename(folder)
            raise


def _exchange(one: Path, other: Path) -> bool:
    """Two paths change places at once, where the system and the file system can do that (Linux)."""
    rename = getattr(_libc(), "renameat2", None)
    if rename is None:
        return False
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    if rename(here, os.fsencode(one), here, os.fsencode(other), exchange) == 0:
        return True
    if ctypes.get_errno() in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
        return False
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(other))


@cache
def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True) if sys.platform.startswith("linux") else None


def _sync(path: Path) -> None:
    """To the disk. Some file systems cannot do that for a folder."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except PermissionError:  # a folder, on Windows
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)


@contextmanager
def scratch_folder(
    parent: Path, needed: int = 0, name: str | None = None, keep_after: tuple[type[BaseException], ...] = ()
) -> Iterator[Path]:
    """A private folder in `parent` that is gone at the end, also after an error, Ctrl-C or SIGTERM.

    Refused with a DiskError if fewer than `needed` bytes are free. With a `name` it may exist already, and what it
    holds is found in it. It stays after the errors in `keep_after`.
    """
    free = shutil.disk_usage(parent).free
    if free < needed:
        raise DiskError(
            f"{parent} has {_gigabytes(free)} free, but {_gigabytes(needed)} are needed; "
            "make room or choose another folder"
        )
    if name is None:
        with _exit_at_sigterm() as lost, _workspace(parent / _SCRATCH) as made:
            lost.append(made)
            yield made
        return
    with _exit_at_sigterm():
        made = parent / name
        made.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            yield made
        except keep_after:
            raise
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise
        shutil.rmtree(made, ignore_errors=True)


@contextmanager
def told_if_full(folder: Path, error: type[DiskError] = DiskError) -> Iterator[None]:
    try:
        yield
    except OSError as failure:
        if failure.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        raise error(f"the disk is full: {folder} cannot take all rows; make room or choose another folder") from None


@contextmanager
def _exit_at_sigterm() -> Iterator[list[Path]]:
    """SIGTERM ends a process on the spot, unless somebody handles it.

    An exception that comes out of nowhere can leave a lock of a thread pool behind that nobody opens any more: who has
    not ended after some seconds is ended, and the folders in the list are removed.
    """
    lost: list[Path] = []
    is_ours = threading.current_thread() is threading.main_thread()
    if not is_ours or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield lost
        return

    def end(code: int) -> None:
        for folder in lost:
            shutil.rmtree(folder, ignore_errors=True)
        os._exit(code)

    def leave(number: int, frame: Any) -> None:
        at_last = threading.Timer(_SECONDS_TO_LEAVE, end, (128 + number,))
        at_last.daemon = True
        at_last.start()
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, leave)
    try:
        yield lost
    finally:
        if threading.current_thread() is threading.main_thread():  # the garbage collector may end this anywhere
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _gigabytes(n_bytes: int) -> str:
    return f"{n_bytes / 1e9:.1f} GB"


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
