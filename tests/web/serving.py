"""A real server, in a process or in a thread of its own."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from noisybayes.bot.contacts import VARIABLE, new_key

from ..bot.shop import demo

PATIENCE = 240  # seconds: on a machine that does much else, a server may take a minute to start


class Server:
    def __init__(self, process: subprocess.Popen[str], port: int, token: str | None = None) -> None:
        self.process, self.url = process, f"http://127.0.0.1:{port}"
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}

    def get(self, path: str) -> Any:
        request = urllib.request.Request(self.url + path, headers=self._headers)
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)

    def post(self, path: str, body: dict[str, Any]) -> Any:
        headers = {"Content-Type": "application/json", "X-Reviewer": "ada"}
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def wait_for_fit(self, table_id: int = 1, seconds: float = PATIENCE) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            tables = [table["id"] for table in self.get("/api/tables")]
            if table_id in tables and self.get(f"/api/tables/{table_id}")["fit"] is not None:
                return
            time.sleep(0.1)
        raise AssertionError("the table was not fitted in time")


def with_demo_bot(folder: Path) -> str:
    """The option for the example bot, trained here: `--demo` would train it once more, and fit the example table."""
    demo().save(folder / "bot")
    return f"--bot={folder / 'bot'}"


@contextmanager
def serving(*options: str, folder: Path, token: str | None = None) -> Iterator[Server]:
    port = _free_port()
    rate = ("--requests-per-second", "1000")
    command = [sys.executable, "-m", "noisybayes", "serve", "--port", str(port), *rate, *options]
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={VARIABLE: new_key(), **os.environ},
    )  # fmt: skip
    server = Server(process, port, token)
    try:
        _wait_until_up(server)
        yield server
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(PATIENCE)


def _wait_until_up(server: Server, seconds: float = PATIENCE) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if server.process.poll() is not None:
            raise AssertionError(f"the server ended: {server.process.communicate()[0]}")
        try:
            server.get("/api/health")
            return
        except OSError:
            time.sleep(0.05)
    raise AssertionError("the server did not start")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
