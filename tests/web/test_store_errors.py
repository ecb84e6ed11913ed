"""A store that is locked, full, gone or replaced: one sentence with 503, and reading goes on where it can."""

from __future__ import annotations

import os
import sqlite3
import time

import pytest

from noisybayes.web.store import Store, Unavailable, database

from .desk_at_work import add_fitted_table, open_client, open_store


@pytest.fixture
def locked(tmp_path, monkeypatch):
    """A desk with a fitted table, whose store somebody else writes to."""
    monkeypatch.setattr(database, "_PATIENCE", 0.5)
    store = open_store(tmp_path)
    table = add_fitted_table(store)
    with open_client(store) as client:
        other = sqlite3.connect(next(tmp_path.glob("*.db")), isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        yield client, table, other
        other.close()
    store.close()


def test_a_locked_store_is_read_but_not_written(locked):
    client, table, other = locked
    for path in ("/", f"/t/{table}", f"/t/{table}/review", "/api/tables", f"/api/tables/{table}/queue"):
        assert client.get(path).status_code == 200, path
    body = {"position": client.get(f"/api/tables/{table}/queue").json()[0]["position"], "label": "x"}
    labels = client.get(f"/api/tables/{table}").json()["table"]["labels"]
    answer = client.post(f"/api/tables/{table}/verdicts", json=body | {"label": labels[0]})
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "5"
    assert "is not working: database is locked" in answer.json()["detail"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    other.execute("ROLLBACK")
    assert client.post(f"/api/tables/{table}/verdicts", json=body | {"label": labels[0]}).status_code == 201


def test_health_tells_the_truth(locked):
    client, _, other = locked
    time.sleep(1.1)  # an answer holds for a second
    answer = client.get("/api/health")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    other.execute("ROLLBACK")
    assert client.get("/api/health").status_code == 200


def test_a_page_says_so_too(locked):
    client, table, _ = locked
    page = client.get(f"/t/{table}/review")
    token = page.text.split('name="csrf_token" value="')[1].split('"')[0]
    answer = client.post(f"/t/{table}/undo", data={"csrf_token": token})
    assert answer.status_code == 503
    assert "Temporarily unavailable" in answer.text
    assert answer.headers["retry-after"] == "5"


def test_a_full_disk(tmp_path):
    store = open_store(tmp_path)
    with store._database.read() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
    # a limit holds for one connection: all of them get it, from before the first thread of the server
    database.event.listen(
        store._database._engine, "begin", lambda c: c.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
    )
    with open_client(store) as client:
        rows = "a,b\n" + "".join(f"{os.urandom(16).hex()},{i}\n" for i in range(5_000))
        answer = client.post("/api/tables?name=a.csv", content=rows.encode(), headers={"Content-Type": "text/csv"})
    store.close()
    assert answer.status_code == 503
    assert "database or disk is full" in answer.json()["detail"]


@pytest.mark.parametrize("replaced", [False, True], ids=["removed", "replaced"])
def test_a_database_file_that_is_removed_takes_nothing_more(tmp_path, replaced):
    path = tmp_path / "store.db"
    store = Store.open(f"sqlite:///{path}")
    store.add_table("a", b"", 1, ["x"])
    path.rename(tmp_path / "away.db")
    if replaced:
        path.write_bytes(b"")
    with pytest.raises(Unavailable, match="was removed or replaced; put it back, or stop this server"):
        store.add_table("b", b"", 1, ["x"])
    with pytest.raises(Unavailable, match="was removed or replaced"):
        store.tables()
    path.unlink(missing_ok=True)
    (tmp_path / "away.db").rename(path)
    assert [table.name for table in store.tables()] == ["a"]
    store.close()
