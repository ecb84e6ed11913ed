"""A PostgreSQL server of its own for the tests: in a temporary folder, reached by a socket there, then deleted."""

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

import pytest

# data that are thrown away need not wait for the disk
_SETTINGS = {"listen_addresses": "", "max_connections": "200", "shared_buffers": "32MB", "fsync": "off",
             "synchronous_commit": "off", "full_page_writes": "off"}  # fmt: skip


class Cluster:
    """A server that can be stopped and started."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self._folder, self._programs, self._numbers = folder, programs, count(1)
        self._user: dict[str, Any] = {}
        if not os.getuid():  # PostgreSQL does not run as root
            known = {entry.pw_name: entry.pw_gid for entry in pwd.getpwall()}
            user = "postgres" if "postgres" in known else "nobody"
            shutil.chown(folder, user)
            self._user = {"user": user, "group": known[user], "extra_groups": []}
        self._run("initdb", "-D", "data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "-N")

    def start(self) -> None:
        settings = _SETTINGS | {"unix_socket_directories": str(self._folder)}
        options = " ".join(f"-c {name}='{value}'" for name, value in settings.items())
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
        # the output goes to a file: a server that inherits a pipe would keep it open
        with (self._folder / "output").open("w+") as output:
            done = subprocess.run(
                [str(self._programs / program), *arguments], cwd=self._folder, stdout=output,
                stderr=subprocess.STDOUT, check=False, timeout=120, **self._user,
            )  # fmt: skip
            output.seek(0)
            if check and done.returncode:
                raise RuntimeError(f"{program} failed: {output.read()}")


@contextmanager
def running_cluster() -> Iterator[Cluster]:
    """Where there is no PostgreSQL the test is skipped, or fails if NOISYBAYES_CI is set."""
    on_path = shutil.which("initdb")  # where Debian does not put it
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name), reverse=True)
    programs = next((path for path in folders if (path / "initdb").exists()), Path(on_path).parent if on_path else None)
    if programs is None:
        (pytest.fail if os.environ.get("NOISYBAYES_CI") else pytest.skip)(
            "no PostgreSQL server on this system (Debian: apt-get install postgresql)"
        )
    with tempfile.TemporaryDirectory(prefix="noisybayes-pg-") as folder:
        cluster = Cluster(Path(folder), programs)
        try:
            cluster.start()
            yield cluster
        finally:
            cluster.stop(check=False)
