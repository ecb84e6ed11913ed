"""A review desk with a small table, asked over HTTP without a socket."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from starlette.testclient import TestClient

from noisybayes.data.errors import InputError
from noisybayes.web import table_jobs
from noisybayes.web.app import create_app
from noisybayes.web.server_settings import Settings
from noisybayes.web.store import Finding, Store

WORDS = {
    "price": ["cost", "price", "euro", "cheap"],
    "service": ["repair", "broken", "oil", "engine"],
    "hours": ["open", "sunday", "closing", "address"],
}
JSON = {"X-Requested-With": "tests"}
COLUMNS = {"label": "label", "text": ["message"], "id": "id"}


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


def open_client(store: Store, **settings: Any) -> TestClient:
    settings = {"requests_per_second": 10_000.0} | settings
    app = create_app(store, Settings(**settings))
    return TestClient(app, base_url="http://127.0.0.1:8000", follow_redirects=False)


def add_table(client: TestClient, content: str, name: str = "messages.csv", **columns: Any) -> int:
    """Import, choose the columns, and wait for the fit."""
    made = client.post(f"/api/tables?name={name}", content=content.encode(), headers={"Content-Type": "text/csv"})
    assert made.status_code == 201, made.text
    table_id: int = made.json()["id"]
    begun = client.put(f"/api/tables/{table_id}/columns", json=columns or COLUMNS)
    assert begun.status_code == 202, begun.text
    wait(client, table_id)
    return table_id


def add_fitted_table(
    store: Store, content: str | None = None, columns: Mapping[str, Any] = COLUMNS, name: str = "messages.csv"
) -> int:
    """A table as it is after import and fit, for tests of what comes then; that of `messages()` if none is given."""
    stored, read, chosen, fit = _fitted(messages()[0] if content is None else content, json.dumps(columns))
    table_id = store.add_table(name, stored, read["n_rows"], read["columns"], read["preview"])
    store.set_roles(table_id, chosen["roles"], chosen["labels"])
    corrected = {int(position): label for position, label in fit["corrected"].items()}
    findings = [Finding(**one) for one in fit["findings"]]
    store.finish_fit(store.start_fit(table_id), fit["overview"], findings, corrected=corrected)
    return table_id


@cache
def _fitted(content: str, columns: str) -> tuple[bytes, Any, Any, Any]:
    """The jobs of the server, which take seconds to start as processes of their own, called here: once."""
    with tempfile.TemporaryDirectory() as folder:
        source, table, made = (Path(folder) / name for name in ("messages.csv", "table.parquet", "fit.json"))
        source.write_text(content, encoding="utf-8")
        read = table_jobs.read_file(_ignore, str(source), str(table), "")
        chosen = table_jobs.choose(_ignore, str(table), json.loads(columns))
        table_jobs.fit(_ignore, str(table), str(made), chosen["roles"], source.name, {})
        return table.read_bytes(), read, chosen, json.loads(made.read_bytes())


def run_here(
    job: str, arguments: Mapping[str, Any], most_memory: int, seconds: float, tell: Callable[[str], None] | None
) -> Any:
    """What `limited._run` does, without a process and without limits."""
    try:
        result = table_jobs.JOBS[job](tell or _ignore, **json.loads(json.dumps(arguments)))
    except (InputError, OSError) as error:
        raise InputError(str(error)) from None
    return json.loads(json.dumps(result))


def _ignore(stage: str) -> None:
    """Nobody watches."""


def wait(client: TestClient, table_id: int, seconds: float = 240) -> dict[str, Any]:
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
