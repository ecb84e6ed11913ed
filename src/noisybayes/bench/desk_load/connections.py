"""A thousand connections that send their requests byte by byte, and fifty thousand requests: waits, and memory."""

from __future__ import annotations

import asyncio
import multiprocessing
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from ..result_files import Row, machine, table
from .desk_server import Client, DeskServer

SLOW = 1_000
SECONDS = 45.0
RATE = 50  # requests per second of other clients
REQUESTS = 50_000
_CLIENTS = 10
_ROWS = 2_000
_LOOKS = 5  # the requests are divided into this many shares; memory is measured after each


def measure(slow: int = SLOW, seconds: float = SECONDS, requests: int = REQUESTS) -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="noisybayes-connections-") as folder:
        store = f"sqlite:///{Path(folder) / 'desk.db'}"
        table_id = _prepare(store)
        server = DeskServer(store)
        try:
            server.wait_until_up()
            for n_slow in (0, slow):
                yield {**_waits(server, table_id, n_slow, seconds), "machine": machine()}
            yield {**_memory(server, table_id, requests), "machine": machine()}
        finally:
            server.kill()


def _prepare(url: str) -> int:
    from ...web.store import Finding, Store

    with Store.open(url) as store:
        rows = [Finding(i, f"id{i}", "price", "repair", 0.9, 0.8, True, {"text": f"row {i}"}) for i in range(_ROWS)]
        table_id = store.add_table("reviewed", b"content", _ROWS, ["text", "label"])
        store.set_roles(table_id, {"label": "label", "text": ["text"]}, ["price", "repair"])
        store.finish_fit(store.start_fit(table_id), {"rows": _ROWS}, rows)
        return table_id


def ask(client: Client, table_id: int, number: int) -> int:
    """The requests of a reviewer's browser: mostly the queue, sometimes a verdict, which is stored."""
    path = f"/api/tables/{table_id}"
    if number % 5 == 0:
        position = number // 5 % _ROWS
        status, row = client.ask("GET", f"{path}/rows/{position}")
        if status != 200:
            return status
        seen = row["verdict"]
        body = {"position": position, "label": "price", "seen": 0 if seen is None else seen["id"]}
        return client.ask("POST", f"{path}/verdicts", body)[0]
    return client.ask("GET", f"{path}/queue?limit=5")[0]


def _waits(server: DeskServer, table_id: int, n_slow: int, seconds: float) -> Row:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    attacker = context.Process(target=_attack, args=(server.port, n_slow, theirs), daemon=True)
    attacker.start()
    ours.recv()  # all of them are connected
    sent = _send(server.port, table_id, round(RATE * seconds))
    ours.send("end")
    held, cut_off = ours.recv()
    attacker.join()
    waited = 1_000 * np.array([wait for wait, _ in sent])
    return {
        "what": "waits", "slow": n_slow, "held": held, "cut_off": cut_off, "requests": len(sent),
        "errors": sum(status not in (200, 201) for _, status in sent),
        "p50_ms": round(float(np.percentile(waited, 50)), 2), "p99_ms": round(float(np.percentile(waited, 99)), 2),
        "longest_ms": round(float(waited.max()), 2), "memory_mb": round(server.memory() / 1e6, 1), "growth_mb": "",
    }  # fmt: skip


def _send(port: int, table_id: int, n: int) -> list[tuple[float, int]]:
    """Requests are due at fixed times; the wait of a late request is measured from the time when it was due."""
    start = time.perf_counter() + 0.5

    def work(which: int) -> list[tuple[float, int]]:
        client, sent = Client(port, f"reviewer {which}"), []
        for number in range(which, n, _CLIENTS):
            due = start + number / RATE
            time.sleep(max(due - time.perf_counter(), 0))
            status = ask(client, table_id, number)
            sent.append((time.perf_counter() - due, status))
        client.close()
        return sent

    with ThreadPoolExecutor(_CLIENTS) as pool:
        return [each for some in pool.map(work, range(_CLIENTS)) for each in some]


def _attack(port: int, n: int, pipe: Any) -> None:
    """Hold `n` connections open that never finish their first request; one that is cut off reconnects."""
    import resource

    _, most_files = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most_files, most_files))
    counts = {"open": 0, "cut off": 0}

    async def hold() -> None:
        while True:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.5)
                continue
            counts["open"] += 1
            with suppress(OSError):
                writer.write(b"GET /api/tables HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
                while not reader.at_eof():
                    writer.write(b"a")
                    with suppress(TimeoutError):
                        await asyncio.wait_for(reader.read(1), 1.0)
            counts["open"] -= 1
            counts["cut off"] += 1
            writer.close()

    async def all_of_them() -> None:
        tasks = [asyncio.create_task(hold()) for _ in range(n)]
        while counts["open"] < 0.99 * n:
            await asyncio.sleep(0.1)
        pipe.send("there")
        most = 0
        while not pipe.poll():
            most = max(most, counts["open"])
            await asyncio.sleep(0.1)
        for task in tasks:
            task.cancel()
        pipe.send((most, counts["cut off"]))

    asyncio.run(all_of_them())


def _memory(server: DeskServer, table_id: int, requests: int) -> Row:
    """Memory after each fifth of the requests: the first sets the level, after which it should stay flat."""
    share = requests // _LOOKS
    held, errors, start = [], 0, time.perf_counter()
    for look in range(_LOOKS):
        errors += sum(status not in (200, 201, 409) for status in _ask_many(server.port, table_id, share, look * share))
        held.append(server.memory() / 1e6)
    return {
        "what": "memory", "slow": 0, "held": 0, "cut_off": 0, "requests": requests, "errors": errors,
        "p50_ms": "", "p99_ms": "", "longest_ms": round(1_000 * (time.perf_counter() - start)),
        "memory_mb": round(held[0], 1), "growth_mb": " ".join(f"{each - held[0]:+.1f}" for each in held[1:]),
    }  # fmt: skip


def _ask_many(port: int, table_id: int, n: int, first: int) -> list[int]:
    def work(which: int) -> list[int]:
        client = Client(port, f"reviewer {which}")
        statuses = [ask(client, table_id, first + number) for number in range(which, n, 4)]
        client.close()
        return statuses

    with ThreadPoolExecutor(4) as pool:
        return [status for some in pool.map(work, range(4)) for status in some]


def render(rows: list[Row]) -> str:
    waits = [
        [f"{row['slow']:,}", row["cut_off"], f"{row['requests']:,}", row["errors"], row["p50_ms"], row["p99_ms"],
         row["longest_ms"]]
        for row in rows if row["what"] == "waits"
    ]  # fmt: skip
    memory = [
        [f"{row['requests']:,}", row["errors"], f"{row['memory_mb']} MB", f"{row['growth_mb']} MB"]
        for row in rows if row["what"] == "memory"
    ]  # fmt: skip
    first = table(["slow connections", "of these cut off", "requests of others", "errors", "median, ms", "99 %, ms",
                   "longest, ms"], waits)  # fmt: skip
    second = table(["requests", "errors", "memory after the first share", "growth after each further share"], memory)
    return f"{first}\n\n{second}"
