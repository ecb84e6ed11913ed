"""A PostgreSQL server of its own for the tests: in a temporary folder, reached by a socket there, gone at the end."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

# the data are thrown away anyway: no waiting for the disk
_SETTINGS = {
    "listen_addresses": "", "fsync": "off", "synchronous_commit": "off", "full_page_writes": "off",
    "max_connections": "200", "shared_buffers": "32MB",
}  # fmt: skip


class Cluster:
    """A running server."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers = count(1)

    @contextmanager
    def database(self) -> Iterator[str]:
        """The URL of an empty schema: as good as a database of its own, and made in a hundredth of the time."""
        name = f"test{next(self._numbers)}"
        with psycopg.connect(host=str(self._folder), user="postgres", autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(name)))
        yield f"postgresql://postgres@/postgres?host={self._folder}&options=-csearch_path%3D{name}"


@contextmanager
def running_cluster() -> Iterator[Cluster]:
    """Where there is no PostgreSQL the test is skipped, or fails if NOISYBAYES_CI is set."""
    programs = _programs()
    with tempfile.TemporaryDirectory(prefix="noisybayes-pg-") as made:
        folder = Path(made)
        user = _user(folder)
        _run(folder, user, programs / "initdb", "-D", "data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "-N")
        settings = {**_SETTINGS, "unix_socket_directories": str(folder)}
        options = " ".join(f"-c {name}='{value}'" for name, value in settings.items())
        try:
            _run(folder, user, programs / "pg_ctl", "-D", "data", "-w", "-l", "log", "-o", options, "start")
            yield Cluster(folder)
        finally:
            _run(folder, user, programs / "pg_ctl", "-D", "data", "-w", "-m", "immediate", "stop", check=False)


def _programs() -> Path:
    """The newest folder with initdb: Debian keeps it out of the path."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name), reverse=True)
    on_path = shutil.which("initdb")
    found = next((path for path in folders if (path / "initdb").exists()), on_path and Path(on_path).parent)
    if found:
        return found
    reason = "no PostgreSQL server on this system (Debian: apt-get install postgresql)"
    if os.environ.get("NOISYBAYES_CI"):
        pytest.fail(reason)
    pytest.skip(reason)


def _user(folder: Path) -> str | None:
    """PostgreSQL does not run as root: somebody else who then owns the folder, or nobody else if this is not root."""
    if os.getuid():
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    user = next(name for name in ("postgres", "nobody") if name in known)
    shutil.chown(folder, user)
    return user


def _run(folder: Path, user: str | None, *command: Any, check: bool = True) -> None:
    as_user: dict[str, Any] = (
        {} if user is None else {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": []}
    )
    # a server that inherits a pipe would keep it open: the output goes to a file
    with (folder / "output").open("w+") as output:
        done = subprocess.run(
            [str(word) for word in command], cwd=folder, stdout=output, stderr=subprocess.STDOUT, check=False,
            timeout=120, **as_user,
        )  # fmt: skip
        output.seek(0)
        if check and done.returncode:
            raise RuntimeError(f"{command[0]} failed: {output.read()}")
