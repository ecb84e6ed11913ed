"""A temporary PostgreSQL server: in a temporary folder, reached by a socket there, deleted at the end."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

NO_PROGRAMS = "no PostgreSQL server on this system (Debian: apt-get install postgresql)"
_SETTINGS = {"listen_addresses": "", "max_connections": "200", "shared_buffers": "32MB"}
#: For tests, whose data are thrown away: do not wait for the disk.
FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


class Cluster:
    """A server that can be stopped and started."""

    def __init__(self, folder: Path, program_folder: Path, settings: Mapping[str, str]) -> None:
        self._folder, self._programs = folder, program_folder
        self._user = _user(folder)
        self._numbers = count(1)
        self._settings = {**_SETTINGS, **settings, "unix_socket_directories": str(folder)}
        self._run("initdb", "-D", "data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "-N")

    def start(self) -> None:
        options = " ".join(f"-c {name}='{value}'" for name, value in self._settings.items())
        self._run("pg_ctl", "-D", "data", "-w", "-l", "log", "-o", options, "start")

    def stop(self, check: bool = True) -> None:
        """Immediately, as if it had crashed."""
        self._run("pg_ctl", "-D", "data", "-w", "-m", "immediate", "stop", check=check)

    @contextmanager
    def database(self) -> Iterator[str]:
        """The URL of an empty schema: as good as a separate database, and created in a hundredth of the time."""
        import psycopg
        from psycopg import sql

        name = f"test{next(self._numbers)}"
        with psycopg.connect(host=str(self._folder), user="postgres", autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(name)))
        yield f"postgresql://postgres@/postgres?host={self._folder}&options=-csearch_path%3D{name}"

    def _run(self, program: str, *arguments: str, check: bool = True) -> None:
        as_user: dict[str, Any] = {}
        if self._user is not None:
            as_user = {"user": self._user, "group": pwd.getpwnam(self._user).pw_gid, "extra_groups": []}
        # the output goes to a file: a server that inherits a pipe would keep it open
        with (self._folder / "output").open("w+") as output:
            done = subprocess.run(
                [str(self._programs / program), *arguments], cwd=self._folder, stdout=output,
                stderr=subprocess.STDOUT, check=False, timeout=120, **as_user,
            )  # fmt: skip
            output.seek(0)
            if check and done.returncode:
                raise RuntimeError(f"{program} failed: {output.read()}")


@contextmanager
def running_cluster(settings: Mapping[str, str] = FAST) -> Iterator[Cluster]:
    """Raises RuntimeError if there is no PostgreSQL."""
    program_folder = programs()
    if program_folder is None:
        raise RuntimeError(NO_PROGRAMS)
    with tempfile.TemporaryDirectory(prefix="noisybayes-pg-") as folder_name:
        cluster = Cluster(Path(folder_name), program_folder, settings)
        try:
            cluster.start()
            yield cluster
        finally:
            cluster.stop(check=False)


def programs() -> Path | None:
    """The newest folder with initdb, which Debian does not put on the PATH."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name), reverse=True)
    on_path = shutil.which("initdb")
    return next((path for path in folders if (path / "initdb").exists()), Path(on_path).parent if on_path else None)


def _user(folder: Path) -> str | None:
    """PostgreSQL does not run as root: the user who runs it and owns the folder, or None if this is not root."""
    if os.getuid():
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    user = next(name for name in ("postgres", "nobody") if name in known)
    shutil.chown(folder, user)
    return user
