"""A live stream: many viewers write, the server is killed in the middle, and the webhook refuses every event once."""

from __future__ import annotations

import http.client
import json
import os
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from .data.datasets import live_streaming, live_streaming_file
from .result_files import Row, machine, table

VIEWERS = 2_000
RATE = 100  # messages per second
SECONDS = 300
KILLED_AFTER = 0.6  # of the time
_CLIENTS = 32
_PATIENCE = 600.0  # seconds for the server to start, and for the webhook to accept the backlog


class Sent(NamedTuple):
    due: float  # seconds from the start
    done: float


def measure(reps: int = 2, seed: int = 0) -> Iterator[Row]:
    from noisybayes.bot import Bot, load_config  # imported here: other experiments do not need the extra

    dialogs: dict[int, list[str]] = {}
    numbers = pl.read_csv(live_streaming_file())["对话编号"].to_list()
    for number, words in zip(numbers, live_streaming().tokens, strict=True):
        dialogs.setdefault(number, []).append("".join(words) or "?")
    with tempfile.TemporaryDirectory(prefix="noisybayes-load-") as folder:
        Bot.train(load_config("cars")).save(Path(folder) / "bot")
        for rep in range(seed, seed + reps):
            found = one_run(list(dialogs.values()), Path(folder) / "bot", VIEWERS, RATE, SECONDS)
            yield {"rep": rep, **found, "machine": machine()}


def one_run(dialogs: list[list[str]], bot: Path, viewers: int, rate: int, seconds: float) -> Row:
    plan = messages(dialogs, viewers, round(rate * seconds))
    with tempfile.TemporaryDirectory(prefix="noisybayes-load-") as folder, _receiver() as (url, taken):
        store = Path(folder) / "store.db"
        server = _Server(store, bot, url)
        try:
            sent, pause = _send(server, plan, rate, seconds)
            counts = counted(store, len(plan), taken)
        finally:
            server.kill()
    caught_up = end_of_backlog(sent, pause)
    # without the messages that were sent during the outage and the backlog after it
    waited = [1_000 * (each.done - each.due) for each in sent if each.done < pause[0] or each.due > caught_up]
    return {
        "viewers": viewers, "rate": rate, "seconds": seconds, "messages": len(plan), **counts,
        **{f"p{q}_ms": round(float(np.percentile(waited, q)), 2) for q in (50, 90, 99)},
        "longest_ms": round(max(waited), 2), "down_s": round(pause[1] - pause[0], 1),
        "caught_up_s": round(caught_up - pause[1], 1),
    }  # fmt: skip


def messages(dialogs: list[list[str]], viewers: int, n: int) -> list[tuple[str, str]]:
    """Who writes what: viewers take turns, each with one dialog after another."""
    of_viewer = [[text for dialog in dialogs[v % len(dialogs) :] + dialogs[: v % len(dialogs)] for text in dialog]
                 for v in range(min(viewers, len(dialogs)))]  # fmt: skip
    plan = []
    for i in range(n):
        texts = of_viewer[i % viewers % len(dialogs)]
        plan.append((f"viewer {i % viewers}", texts[i // viewers % len(texts)]))
    return plan


def end_of_backlog(sent: list[Sent], pause: tuple[float, float]) -> float:
    """When a message was due, for the first time after the restart, that no other had to be answered before."""
    answered = pause[1]
    for each in sorted(sent):
        if each.due > answered:
            return each.due
        answered = max(answered, each.done)
    return answered


def counted(store: Path, n_messages: int, taken: list[int]) -> Row:
    """Whether every message has one turn, and every turn its lead, handover and events, all of them delivered."""
    with closing(sqlite3.connect(store)) as connection:

        def number(query: str) -> int:
            return int(connection.execute(query).fetchone()[0] or 0)

        end = time.monotonic() + _PATIENCE
        while (events := {row[0] for row in connection.execute("SELECT id FROM outgoing")}) - set(taken):
            if time.monotonic() > end:
                break
            time.sleep(0.5)
        answered, turns = number("SELECT count(*) FROM received"), number("SELECT count(*) FROM turn")
        without_lead = number(
            "SELECT count(*) FROM turn LEFT JOIN lead USING (dialog_id, ordinal) "
            "WHERE turn.message LIKE '%[contact]%' AND lead.id IS NULL"
        )
        handed = number("SELECT count(*) FROM turn WHERE reason != ''")
        return {
            "lost": n_messages - answered, "doubled": turns - answered,
            "leads": number("SELECT count(*) FROM lead"), "leads_lost": without_lead,
            "handovers_lost": handed - number("SELECT sum(n_messages) FROM handover"), "events": len(events),
            "events_lost": len(events - set(taken)), "events_repeated": len(taken) - len(set(taken)),
        }  # fmt: skip


class _Server:
    """`noisybayes serve`, killed and restarted on the same port and store."""

    def __init__(self, store: Path, bot: Path, webhook: str) -> None:
        from noisybayes.bot.contacts import VARIABLE, new_key

        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self._options = [
            f"--bot={bot}", f"--store={store}", f"--port={self.port}", "--requests-per-second=1000000",
            f"--webhook={webhook}",
        ]  # fmt: skip
        self._environment = os.environ | {VARIABLE: new_key(), "NOISYBAYES_WEBHOOK_SECRET": "secret of this run"}
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "noisybayes", "serve", *self._options]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=self._environment)
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end and self._process.poll() is None:
            if _status(http.client.HTTPConnection("127.0.0.1", self.port, timeout=5), "GET", "/api/bots") == 200:
                return
            time.sleep(0.1)
        raise RuntimeError("the server did not start")

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


def _status(connection: http.client.HTTPConnection, method: str, path: str, body: Any = None) -> int:
    """Of the answer; 0 if there is none."""
    try:
        connection.request(method, path, json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        answer.read()
        return answer.status
    except (OSError, http.client.HTTPException):
        connection.close()
        return 0


def _send(
    server: _Server, plan: list[tuple[str, str]], rate: int, seconds: float
) -> tuple[list[Sent], tuple[float, float]]:
    """When every message was answered, and when the server was down, in seconds from the start.

    Messages are due at fixed times; the wait of a late one is measured from the time when it was due.
    """
    start = time.perf_counter() + 0.5

    def crash() -> tuple[float, float]:
        time.sleep(max(start + KILLED_AFTER * seconds - time.perf_counter(), 0))
        down = time.perf_counter() - start
        server.kill()
        server.start()
        return down, time.perf_counter() - start

    def work(which: int) -> list[Sent]:
        connection, sent = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30), []
        for number in range(which, len(plan), _CLIENTS):
            person, text = plan[number]
            due = number / rate
            time.sleep(max(start + due - time.perf_counter(), 0))
            body = {"message_id": f"m{number}", "person": person, "message": text}
            while _status(connection, "POST", "/api/bots/bot/messages", body) != 201:
                if time.perf_counter() - start > seconds + _PATIENCE:
                    raise RuntimeError(f"the message {number} was never answered")
                time.sleep(0.05)
            sent.append(Sent(due, time.perf_counter() - start))
        return sent

    with ThreadPoolExecutor(_CLIENTS + 1) as pool:
        pause = pool.submit(crash)
        sent = [each for some in pool.map(work, range(_CLIENTS)) for each in some]
        return sent, pause.result()


@contextmanager
def _receiver() -> Iterator[tuple[str, list[int]]]:
    """A webhook that refuses every event on its first delivery; keeps the ids of the events that it accepted."""
    taken: list[int] = []
    refused: set[int] = set()
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            event = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["id"]
            with lock:
                is_first = event not in refused
                refused.add(event)
                if not is_first:
                    taken.append(event)
            self.send_response(503 if is_first else 204)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", taken
    finally:
        server.shutdown()
        server.server_close()


def page(rows: list[Row]) -> str:
    keys = ("rep", "messages", "lost", "doubled", "leads_lost", "handovers_lost", "events", "events_lost",
            "events_repeated", "p50_ms", "p99_ms", "longest_ms", "down_s", "caught_up_s")  # fmt: skip
    header = ["run", "messages", "lost", "doubled", "leads lost", "handovers lost", "events", "events lost",
              "events repeated", "median, ms", "99 %", "longest", "down, s", "caught up after, s"]  # fmt: skip
    first = rows[0]
    return f"""## A live stream

`noisybayes serve` runs the example bot; {first["viewers"]:,} viewers send messages of the Live Streaming dialogs over
the channel API, {first["rate"]} per second for {first["seconds"]} seconds, from the same machine. After
{KILLED_AFTER:.0%} of the time the server is killed (SIGKILL) and restarted; messages that were not answered are sent
again with the same id. The webhook's receiver refuses every event on its first delivery. Waits are measured from the
time when a message was due; messages sent while the server was down or working off the backlog are left out.
*Caught up* is measured from the time when the server answers again to the first message before which no other waits.

{table(header, ([row[key] for key in keys] for row in rows))}

{first["machine"]}, shared by server, clients and receiver. Repeat with `python -m benchmarks load`.
"""
