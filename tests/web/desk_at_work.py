"""A review desk with a small table, asked over HTTP without a socket."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
from starlette.testclient import TestClient

from noisybayes.web.app import create_app
from noisybayes.web.settings import Settings
from noisybayes.web.store import Store

WORDS = {
    "price": ["cost", "price", "euro", "cheap"],
    "service": ["repair", "broken", "oil", "engine"],
    "hours": ["open", "sunday", "closing", "address"],
}
JSON = {"X-Requested-With": "tests"}


def messages(n_rows: int = 240, wrong: int = 24, seed: int = 0) -> tuple[str, list[str]]:
    """A CSV file with some wrong labels, and the true ones."""
    rng = np.random.default_rng(seed)
    labels = sorted(WORDS)
    true = [labels[i % 3] for i in range(n_rows)]
    given = list(true)
    for i in rng.choice(n_rows, wrong, replace=False):
        given[i] = labels[(labels.index(true[i]) + 1) % 3]
    lines = ["id,message,label"]
    for i in range(n_rows):
        said = " ".join(rng.choice(WORDS[true[i]], 3)) + f" please {'now' if i % 2 else 'soon'}"
        lines.append(f"m{i + 1},{said},{given[i]}")
    return "\n".join(lines) + "\n", true


def open_store(folder: Path) -> Store:
    return Store.open(f"sqlite:///{folder / 'desk.db'}")


def open_client(store: Store, bot: Any = None, **settings: Any) -> TestClient:
    settings = {"requests_per_second": 10_000.0} | settings
    app = create_app(store, Settings(**settings), bot)
    return TestClient(app, base_url="http://127.0.0.1:8000", follow_redirects=False)


def add_table(client: TestClient, content: str, name: str = "messages.csv", **columns: Any) -> int:
    """Import, choose the columns, and wait for the fit."""
    made = client.post(f"/api/tables?name={name}", content=content.encode(), headers={"Content-Type": "text/csv"})
    assert made.status_code == 201, made.text
    table_id: int = made.json()["id"]
    chosen = columns or {"label": "label", "text": ["message"], "id": "id"}
    begun = client.put(f"/api/tables/{table_id}/columns", json=chosen)
    assert begun.status_code == 202, begun.text
    wait(client, table_id)
    return table_id


def wait(client: TestClient, table_id: int, seconds: float = 60) -> dict[str, Any]:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        state: dict[str, Any] = client.get(f"/api/tables/{table_id}").json()
        if state["running"] is None:
            return state
        time.sleep(0.05)
    raise AssertionError("the fit did not end")


def form(client: TestClient, page: str, **fields: Any) -> dict[str, Any]:
    """Fields of a form with the token that its page was given."""
    client.get(page)
    return {"csrf_token": client.cookies["noisybayes_csrf"], **fields}
