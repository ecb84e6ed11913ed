"""A live stream: many viewers write, the server is killed in the middle, and the webhook refuses every event once."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .audience_store_check import accounts
from .data.datasets import DatasetUnavailableError, live_streaming_file
from .load import _dialogs as example_dialogs
from .result_files import Row, machine, table
from .stolen_time import StolenTime

VIEWERS = 2_000
RATE = 100  # messages per second
SECONDS = 300
KILLED_AFTER = 0.6  # of the time
_CLIENTS = 32
_PATIENCE = 600.0  # seconds for the server to start, and for the webhook to accept the backlog


class Sent(NamedTuple):
    number: int
    due: float  # seconds from the start
    done: float
    attempts: int


class Message(NamedTuple):
    number: int
    person: str
    text: str


def messages(dialogs: list[list[str]], viewers: int, n: int) -> list[Message]:
    """Viewers take turns, each with one dialog after another."""
    by_viewer = [
        [text for k in range(len(dialogs)) for text in dialogs[(v + k) % len(dialogs)]] for v in range(viewers)
    ]
    return [Message(i, f"viewer {i % viewers}", by_viewer[i % viewers][i // viewers % len(by_viewer[i % viewers])])
            for i in range(n)]  # fmt: skip


def one_run(
    dialogs: list[list[str]], bot: Path | None = None, *, viewers: int = VIEWERS, rate: int = RATE,
    seconds: float = SECONDS, rep: int = 0,
) -> Row:  # fmt: skip
    """Run the stream and return its figures. bot : a folder; the example bot if None"""
    plan = messages(dialogs, viewers, round(rate * seconds))
    with tempfile.TemporaryDirectory(prefix="noisybayes-audience-") as folder, _receiver() as (url, taken):
        store = Path(folder) / "store.db"
        server = _Server(store, bot, url)
        try:
            with StolenTime() as stolen:
                start, sent, pause = _send(server, plan, rate, seconds)
            _wait_for_webhook(store)
        finally:
            server.kill()
        counts = accounts(store, len(plan), taken)
    return {
        "rep": rep, "viewers": viewers, "rate": rate, "seconds": seconds, "messages": len(plan), **counts,
        **_waits(sent, pause, stolen, start), "machine": machine(),
    }  # fmt: skip


def _waits(sent: list[Sent], pause: tuple[float, float], stolen: StolenTime, start: float) -> Row:
    """Waits of messages sent while a server was up, without those sent during the outage or the backlog after it."""
    caught_up = _end_of_backlog(sent, pause)
    met = [each for each in sent if each.done < pause[0] or each.due > caught_up]
    is_calm = np.array([stolen.is_calm(start + each.due, start + each.done) for each in met], dtype=bool)
    waited = 1_000 * np.array([each.done - each.due for each in met])
    return {
        **{f"p{q}_ms": _percentile(waited, q) for q in (50, 90, 99)}, "longest_ms": _percentile(waited, 100),
        "stolen": round(stolen.share, 3), "own_share": round(is_calm.sum() / max(len(met), 1), 3),
        "own_p99_ms": _percentile(waited[is_calm], 99), "down_s": round(pause[1] - pause[0], 1),
        "caught_up_s": round(caught_up - pause[1], 1),
    }  # fmt: skip


def _end_of_backlog(sent: list[Sent], pause: tuple[float, float]) -> float:
    """When a message was due, for the first time after the restart, that no other had to be answered before."""
    answered = pause[1]
    for each in sorted(sent, key=lambda message: message.due):
        if each.due > answered:
            return each.due
        answered = max(answered, each.done)
    return answered


def _percentile(waited: Any, q: int) -> float:
    return round(float(np.percentile(waited, q)), 2) if len(waited) else np.nan


def measure(reps: int = 2, seed: int = 0) -> Iterator[Row]:
    with _on_stage() as (name, dialogs, bot):
        for rep in range(seed, seed + reps):
            result = one_run(dialogs, bot, viewers=VIEWERS, rate=RATE, seconds=SECONDS, rep=rep)
            yield {"dialogs": name, **result}


@contextmanager
def _on_stage() -> Iterator[tuple[str, list[list[str]], Path | None]]:
    """The paper's dialogs and a bot trained on them if they are available, otherwise the example."""
    from noisybayes.bot import load_config, train
    from noisybayes.bot.dialog_tables import read_dialogs

    try:
        file = live_streaming_file()
    except DatasetUnavailableError:
        yield "example", example_dialogs(), None
        return
    config = load_config("cars_zh")
    read = read_dialogs(config, file)
    by_dialog: dict[int, list[str]] = {}
    for number, message in zip(read.dialog.tolist(), read.messages, strict=True):
        if message.strip():
            by_dialog.setdefault(number, []).append(message)
    with tempfile.TemporaryDirectory(prefix="noisybayes-audience-bot-") as folder:
        train(config, read).save(Path(folder) / "bot")
        yield "live streaming", list(by_dialog.values()), Path(folder) / "bot"


class _Server:
    """`noisybayes serve`, killed and restarted on the same port and store."""

    def __init__(self, store: Path, bot: Path | None, webhook: str) -> None:
        from noisybayes.web.contact_key import VARIABLE, new_key

        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        chosen = ["--demo"] if bot is None else [f"--bot={bot}"]
        self._options = [
            *chosen, f"--store={store}", f"--port={self.port}", "--requests-per-second=1000000", f"--webhook={webhook}",
        ]  # fmt: skip
        self._environment = os.environ | {VARIABLE: new_key(), "NOISYBAYES_WEBHOOK_SECRET": "secret of this run"}
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "noisybayes", "serve", *self._options]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=self._environment)
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end and self._process.poll() is None:
            try:
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
                connection.request("GET", "/api/bots")
                if connection.getresponse().status == 200:
                    return
            except (OSError, http.client.HTTPException):
                time.sleep(0.1)
        raise RuntimeError("the server did not start")

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()


def _send(
    server: _Server, plan: list[Message], rate: int, seconds: float
) -> tuple[float, list[Sent], tuple[float, float]]:
    """The start, when every message was answered, and when the server was down, in seconds from the start."""
    start = time.perf_counter() + 0.5
    pause = [0.0, 0.0]

    def crash() -> None:
        time.sleep(max(start + KILLED_AFTER * seconds - time.perf_counter(), 0))
        pause[0] = time.perf_counter() - start
        server.kill()
        server.start()
        pause[1] = time.perf_counter() - start

    killer = threading.Thread(target=crash)
    killer.start()

    def work(which: int) -> list[Sent]:
        client, sent = _Client(server.port), []
        for message in plan[which::_CLIENTS]:
            due = message.number / rate
            time.sleep(max(start + due - time.perf_counter(), 0))
            attempts = client.say(message)
            sent.append(Sent(message.number, due, time.perf_counter() - start, attempts))
        return sent

    with ThreadPoolExecutor(_CLIENTS) as pool:
        sent = [each for some in pool.map(work, range(_CLIENTS)) for each in some]
    killer.join()
    return start, sent, (pause[0], pause[1])


class _Client:
    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)

    def say(self, message: Message) -> int:
        """How many times it had to be sent."""
        body = {"message_id": f"m{message.number}", "person": message.person, "message": message.text}
        for attempt in range(1, 10_000):
            try:
                headers = {"Content-Type": "application/json"}
                self._connection.request("POST", "/api/bots/bot/messages", json.dumps(body), headers)
                answer = self._connection.getresponse()
                answer.read()
                if answer.status == 201:
                    return attempt
            except (OSError, http.client.HTTPException):
                self._connection.close()
            time.sleep(0.05)
        raise RuntimeError(f"the message {message.number} was never answered")


@contextmanager
def _receiver() -> Iterator[tuple[str, list[int]]]:
    """A webhook that refuses every event on its first delivery; keeps the ids of the events that it accepted."""
    taken: list[int] = []
    refused: set[int] = set()
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                fails = body["id"] not in refused
                refused.add(body["id"])
                if not fails:
                    taken.append(body["id"])
            self.send_response(503 if fails else 204)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", taken
    finally:
        server.shutdown()
        server.server_close()


def _wait_for_webhook(store: Path) -> None:
    from noisybayes.web.store import Store

    with Store.open(f"sqlite:///{store}") as opened:
        end = time.monotonic() + _PATIENCE
        while opened.backlog() and time.monotonic() < end:
            time.sleep(0.5)


def page(rows: list[Row]) -> str:
    keys = ("messages", "lost", "doubled", "leads_lost", "handovers_lost", "events", "events_lost", "events_repeated",
            "p50_ms", "p99_ms", "longest_ms", "stolen", "own_share", "own_p99_ms", "down_s", "caught_up_s")  # fmt: skip
    header = ["run", "messages", "lost", "doubled", "leads lost", "handovers lost", "events", "events lost",
              "events repeated", "median, ms", "99 %", "longest", "stolen", "messages in calm seconds",
              "99 % of these", "down, s", "caught up after, s"]  # fmt: skip
    first = rows[0]
    return f"""## A live stream

`noisybayes serve` runs a bot for the {first["dialogs"]} dialogs; {first["viewers"]:,} viewers send messages from these
dialogs over the channel API, {first["rate"]} per second for {first["seconds"]} seconds, from the same machine. After
{KILLED_AFTER:.0%} of the time the server is killed (SIGKILL) and restarted; messages that were not answered are sent
again with the same id. The webhook's receiver refuses every event on its first delivery. Waits are measured from the
time when a message was due; messages sent while the server was down or working off the backlog are left out.
*Caught up* is measured from the time when the server answers again to the first message before which no other waits.
*Stolen* is the share of processor time that the host of this virtual machine gave to other machines; no program can
answer during that time, so waits are also shown for messages in calm seconds, with almost nothing stolen.

{table(header, ([row["rep"], *(row[key] for key in keys)] for row in rows))}

{first["machine"]}, shared by server, clients and receiver. Repeat with `noisybayes bench audience`.
"""
