"""A new store for each test, in SQLite and in PostgreSQL, and a desk over one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from noisybayes.web import limited_process
from noisybayes.web.store import Store

from .desk_at_work import add_fitted_table, open_client, open_store, run_here
from .postgres import Cluster, running_cluster


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    with running_cluster() as running:
        yield running


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'store.db'}"
    else:
        with request.getfixturevalue("cluster").database() as url:
            yield url


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    with Store.open(store_url) as opened:
        yield opened


@pytest.fixture
def jobs_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables are read and fitted in this process, where another would take seconds to start.

    For tests of what comes of it. That the server does it in processes of their own, with bounded memory and time, is
    what `test_limited_process.py`, `test_server.py` and `test_the_desk_on_either_database` are about.
    """
    monkeypatch.setattr(limited_process, "_run", run_here)


@pytest.fixture
def client(tmp_path: Path, jobs_here: None) -> Iterator[TestClient]:
    """A review desk without a bot, asked over HTTP without a socket."""
    store = open_store(tmp_path)
    with open_client(store) as client:
        yield client
    store.close()


@pytest.fixture
def table(client: TestClient) -> int:
    return add_fitted_table(client.app.state.desk.store)
