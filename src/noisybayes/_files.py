"""Files and folders that appear whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


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
