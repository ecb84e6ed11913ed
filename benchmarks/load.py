"""How many chat messages per second a server answers, how fast, and whether one is lost when it is killed."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .result_files import Row, machine, parse_rows, table

RATE = 200  # requests per second
SECONDS = 60
CLIENTS = 50  # each waits for an answer before it sends the next request, as people do
_MOST_SECONDS_UP = 600


class Sent(NamedTuple):
    """One request: when it was due, in seconds from the start, and when it was answered."""

    due: float
    done: float
    status: int


class Client:
    """One connection that holds one dialog after another."""

    def __init__(self, port: int, dialogs: list[list[str]]) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self._dialogs = cycle(dialogs)
        self._left: list[str] = []
        self._dialog = ""
        self.acknowledged: dict[str, int] = {}  # turns by dialog

    def ask(self) -> int:
        """Start a dialog, or send its next message. Returns the status; 0 if there was no answer."""
        try:
            return self._say() if self._left else self._begin()
        except (OSError, http.client.HTTPException):
            self._connection.close()
            return 0

    def _begin(self) -> int:
        status, answer = self._post("/api/chat", {})
        if status == 201:
            self._dialog, self._left = answer["id"], list(next(self._dialogs))
            self.acknowledged[self._dialog] = 0
        return status

    def _say(self) -> int:
        status, _ = self._post(f"/api/chat/{self._dialog}", {"message": self._left.pop(0)})
        self.acknowledged[self._dialog] += status == 201
        return status

    def _post(self, path: str, body: dict[str, str]) -> tuple[int, Any]:
        self._connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        answer = self._connection.getresponse()
        return answer.status, json.loads(answer.read())


def measure(reps: int = 3, seed: int = 0) -> Iterator[Row]:
    from noisybayes.bot import demo_bot  # imported here: other experiments do not need the extra

    dialogs = _dialogs()
    with tempfile.TemporaryDirectory(prefix="noisybayes-load-bot-") as folder:
        bot = Path(folder) / "bot"
        demo_bot().save(bot)
        for rep in range(seed, seed + reps):
            result = one_run(dialogs, bot, RATE, SECONDS)
            yield {"rep": rep, "rate": RATE, "seconds": SECONDS, **result, "machine": machine()}


def one_run(dialogs: list[list[str]], bot: Path, rate: int, seconds: float) -> Row:
    """A new server and store; at the end the server is killed, and the store must have every acknowledged turn."""
    with tempfile.TemporaryDirectory(prefix="noisybayes-load-") as folder:
        store = Path(folder) / "load.db"
        with _server(store, bot) as (process, port):
            clients = [Client(port, dialogs[i::CLIENTS]) for i in range(CLIENTS)]
            sent = _send(clients, rate, seconds)
            process.send_signal(signal.SIGKILL)
            process.wait()
        lost = _lost(store, clients)
    waited = 1_000 * np.array([each.done - each.due for each in sent])
    return {
        "requests": len(sent),
        "errors": sum(each.status != 201 for each in sent),
        "lost": lost,
        **{f"p{q}_ms": round(float(np.percentile(waited, q)), 2) for q in (50, 90, 99)},
        "longest_ms": round(float(waited.max()), 2),
        "per_second": round(len(sent) / max(each.done for each in sent), 1),
    }


def _send(clients: list[Client], rate: int, seconds: float) -> list[Sent]:
    """Requests are due at fixed times; the wait of a late request is measured from the time when it was due."""
    n, start = round(rate * seconds), time.perf_counter() + 0.5

    def work(which: int) -> list[Sent]:
        sent = []
        for i in range(which, n, len(clients)):
            due = i / rate
            time.sleep(max(start + due - time.perf_counter(), 0))
            status = clients[which].ask()
            sent.append(Sent(due, time.perf_counter() - start, status))
        return sent

    with ThreadPoolExecutor(len(clients)) as pool:
        return [each for some in pool.map(work, range(len(clients))) for each in some]


def _lost(store: Path, clients: list[Client]) -> int:
    from noisybayes.web.store import Store

    with Store.open(f"sqlite:///{store}") as opened:
        return sum(
            turns - min(len(opened.dialog(dialog).turns), turns)
            for client in clients
            for dialog, turns in client.acknowledged.items()
        )


@contextmanager
def _server(store: Path, bot: Path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    from noisybayes.web.contact_key import VARIABLE, new_key

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = [f"--bot={bot}", f"--store={store}", f"--port={port}", "--requests-per-second=1000000"]
    command = [sys.executable, "-m", "noisybayes", "serve", *options]
    environment = os.environ | {VARIABLE: new_key()}
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)
    try:
        _wait_until_up(process, port)
        yield process, port
    finally:
        process.kill()
        process.wait()


def _wait_until_up(process: subprocess.Popen[bytes], port: int) -> None:
    end = time.monotonic() + _MOST_SECONDS_UP
    while time.monotonic() < end and process.poll() is None:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/api/bots")
            if connection.getresponse().status == 200:
                return
        except (OSError, http.client.HTTPException):
            pass
        time.sleep(0.1)
    raise RuntimeError("the server did not start")


def _dialogs() -> list[list[str]]:
    """What the customers of the example dialogs say."""
    from noisybayes.bot.demo import DEMO_DIALOGS  # imported here: other experiments do not need the extra

    by_dialog: dict[Any, list[str]] = {}
    with DEMO_DIALOGS.open(encoding="utf-8", newline="") as file:
        for row in parse_rows(file):
            by_dialog.setdefault(row["dialog"], []).append(str(row["message"]))
    return list(by_dialog.values())


def page(rows: list[Row]) -> str:
    header = ["run", "requests", "errors", "lost", "median, ms", "90 %", "99 %", "longest", "answered per second"]
    keys = ("requests", "errors", "lost", "p50_ms", "p90_ms", "p99_ms", "longest_ms", "per_second")
    first = rows[0]
    return f"""## Chat under load

`noisybayes serve` with the example bot and a SQLite store receives {first["rate"]} requests per second for
{first["seconds"]} seconds from {CLIENTS} clients on the same machine (start a dialog, or send a message, which is
classified, answered and stored). The wait is measured from the time when a request was due. Lost: answered turns that
are not in the store after the server was killed (SIGKILL) at the end of the run.

{table(header, ([row["rep"], *(row[key] for key in keys)] for row in rows))}

{first["machine"]}, shared by server and clients. Repeat with `noisybayes bench load`.
"""
