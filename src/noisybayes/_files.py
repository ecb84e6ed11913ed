"""Files and folders that appear whole or not at all, and folders that vanish."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class DiskError(RuntimeError):
    """There is no room on the disk, or it fails; the message says what to do."""


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Write to the path that is given; at the end it takes the place of `path`, or vanishes after an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    made = Path(name)
    try:
        yield made
        made.chmod(0o666 & ~_umask())  # temporary files are private
        made.replace(path)
    except BaseException:
        made.unlink(missing_ok=True)
        raise


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """The same for a folder; an earlier one goes only when the new one stands."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    try:
        yield made
        made.chmod(0o777 & ~_umask())
        _replace(folder, made)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise


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
    with _exit_at_sigterm():
        made = Path(tempfile.mkdtemp(dir=parent, prefix=".noisybayes.")) if name is None else parent / name
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
def _exit_at_sigterm() -> Iterator[None]:
    """SIGTERM ends a process on the spot, unless somebody handles it."""
    is_ours = threading.current_thread() is threading.main_thread()
    if not is_ours or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return

    def leave(number: int, frame: Any) -> None:
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():  # the garbage collector may end this anywhere
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _gigabytes(n_bytes: int) -> str:
    return f"{n_bytes / 1e9:.1f} GB"


def _replace(folder: Path, made: Path) -> None:
    if not folder.exists():
        made.rename(folder)
        return
    old = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}.old."))
    folder.rename(old / "earlier")
    try:
        made.rename(folder)
    except OSError:
        (old / "earlier").rename(folder)
        raise
    finally:
        shutil.rmtree(old, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
