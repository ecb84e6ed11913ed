"""Reviewers on two servers and one PostgreSQL: a server is killed every ten seconds, or the store stops for a time."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ..crash.scenarios import messages
from ..result_files import Row, machine, table
from .desk_server import Client, DeskServer
from .postgres import Cluster, running_cluster

REVIEWERS = 20
SECONDS = 120.0
KILLED_EVERY = 10.0
STORE_STOPPED = 10.0  # seconds
_PAUSE = 0.25  # pause of a reviewer between two rows
_ROWS = 8_000
_FIT_ROWS = 300
_FIT_EVERY = 4  # kills
_PATIENCE = 600.0


@dataclass
class Seen:
    """The responses that the reviewers received."""

    acknowledged: dict[int, int] = field(default_factory=dict)  # verdict -> row
    statuses: Counter[int] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, status: int) -> None:
        with self.lock:
            self.statuses[status] += 1

    def take(self, verdict: int, position: int) -> None:
        with self.lock:
            self.acknowledged[verdict] = position


def measure(seconds: float = SECONDS) -> Iterator[Row]:
    for what in ("servers killed", "store stopped"):
        with running_cluster({}) as cluster, cluster.database() as url:
            yield {"what": what, **one_run(cluster, url, what == "servers killed", seconds), "machine": machine()}


def one_run(cluster: Cluster, url: str, killing: bool, seconds: float) -> Row:
    table_id, fit_table = _prepare(url)
    servers = [DeskServer(url), DeskServer(url)]
    try:
        for server in servers:
            server.wait_until_up()
        seen, over = Seen(), threading.Event()
        threads = [threading.Thread(target=_review, args=(number, servers, table_id, seen, over))
                   for number in range(REVIEWERS)]  # fmt: skip
        for thread in threads:
            thread.start()
        result = _kill(servers, fit_table, seconds) if killing else _stop_store(cluster, seconds, seen)
        over.set()
        for thread in threads:
            thread.join()
        return {"seconds": round(seconds), "reviewers": REVIEWERS, **result, **_counted(url, table_id, seen),
                **_fits(url, fit_table)}  # fmt: skip
    finally:
        for server in servers:
            server.kill()


def _prepare(url: str) -> tuple[int, int]:
    """A table with a finding for each row, and a table that can be fitted."""
    import io

    import polars as pl

    from noisybayes.web.store import Finding, Store

    with Store.open(url) as store:
        rows = [Finding(i, f"id{i}", "price", "repair", 0.9, 0.8, True, {"text": f"row {i}"}) for i in range(_ROWS)]
        table_id = store.add_table("reviewed", b"content", _ROWS, ["text", "label"])
        store.set_roles(table_id, {"label": "label", "text": ["text"]}, ["price", "repair"])
        store.finish_fit(store.start_fit(table_id), {"rows": _ROWS}, rows)
        content = io.BytesIO()
        frame = pl.read_csv(io.StringIO(messages(_FIT_ROWS)))
        frame.write_parquet(content)
        fit_table = store.add_table("fitted", content.getvalue(), frame.height, frame.columns)
        store.set_roles(fit_table, _roles(frame), ["hours", "price", "repair"])
    return table_id, fit_table


def _roles(frame: Any) -> dict[str, Any]:
    from noisybayes.web.column_roles import choose_roles

    return choose_roles(frame, {"label": "label", "text": ["message"]})[0]


def _review(number: int, servers: list[DeskServer], table_id: int, seen: Seen, over: threading.Event) -> None:
    """Two reviewers go through the same rows and race for each; one that is refused tries the other server."""
    clients = [Client(server.port, f"reviewer {number}") for server in servers]
    pair, which = number // 2, number % 2
    for position in range(pair, _ROWS, REVIEWERS // 2):
        while not over.is_set():
            body = {"position": position, "label": "price", "seen": 0}
            status, answer = clients[which].ask("POST", f"/api/tables/{table_id}/verdicts", body)
            seen.note(status)
            if status == 201:
                seen.take(answer["id"], position)
            if status in (201, 409):  # 409: the other reviewer was first, or our own answer was lost
                break
            which = 1 - which
            time.sleep(_PAUSE)
        if over.wait(_PAUSE):
            return


def _kill(servers: list[DeskServer], fit_table: int, seconds: float) -> Row:
    """Kill the servers in turn, sometimes one that has just started a fit."""
    end, kills, started = time.monotonic() + seconds, 0, 0
    while time.monotonic() + KILLED_EVERY < end:
        victim = servers[kills % 2]
        time.sleep(KILLED_EVERY - 1)
        if kills % _FIT_EVERY == 0:
            victim.wait_until_up()
            started += Client(victim.port).ask("POST", f"/api/tables/{fit_table}/fit")[0] == 202
        time.sleep(1)
        victim.kill()
        victim.start()
        kills += 1
    for server in servers:
        server.wait_until_up()
    return {"kills": kills, "fits_started": started}


def _stop_store(cluster: Cluster, seconds: float, seen: Seen) -> Row:
    time.sleep((seconds - STORE_STOPPED) / 2)
    cluster.stop()
    time.sleep(STORE_STOPPED)
    cluster.start()
    before = seen.statuses[201]
    time.sleep((seconds - STORE_STOPPED) / 2)
    if seen.statuses[201] == before:
        raise RuntimeError("no verdict was accepted after the store was restarted")
    return {"kills": 0, "fits_started": 0}


def _counted(url: str, table_id: int, seen: Seen) -> Row:
    from noisybayes.web.store import Store

    with Store.open(url) as store:
        log = [(one.id, one.position) for one in store.log(table_id)]
    stored = dict(log)
    by_row = Counter(position for _, position in log)
    return {
        "verdicts": len(log), "acknowledged": len(seen.acknowledged),
        "lost": sum(stored.get(verdict) != position for verdict, position in seen.acknowledged.items()),
        "double": sum(n > 1 for n in by_row.values()),
        "conflicts": seen.statuses[409], "unavailable": seen.statuses[503], "no_answer": seen.statuses[0],
        "other_answers": sum(n for status, n in seen.statuses.items() if status not in (0, 201, 409, 503)),
    }  # fmt: skip


def _fits(url: str, fit_table: int) -> Row:
    """The outcome of the fits, once none is running any more."""
    from sqlalchemy import create_engine, text

    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://", 1))
    query = text("SELECT state, attempts FROM fit WHERE table_id = :table")
    end = time.monotonic() + _PATIENCE
    while True:
        with engine.connect() as connection:
            rows = [tuple(row) for row in connection.execute(query, {"table": fit_table})]
        if time.monotonic() > end or not any(state == "running" for state, _ in rows):
            break
        time.sleep(0.5)
    engine.dispose()
    return {"fits_done": sum(state == "done" for state, _ in rows),
            "fits_taken_over": sum(state == "done" and attempts > 1 for state, attempts in rows),
            "fits_not_done": sum(state != "done" for state, _ in rows)}  # fmt: skip


def render(rows: list[Row]) -> str:
    header = ["while", "seconds", "reviewers", "kills", "acknowledged verdicts", "lost", "double", "503", "no answer",
              "other errors", "fits begun", "done", "of these taken over"]  # fmt: skip
    keys = ("what", "seconds", "reviewers", "kills", "acknowledged", "lost", "double", "unavailable", "no_answer",
            "other_answers", "fits_started", "fits_done", "fits_taken_over")  # fmt: skip
    return table(header, ([row[key] for key in keys] for row in rows))
