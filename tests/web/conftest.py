"""A new store for each test, and a desk over one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from noisybayes.web import limited_process
from noisybayes.web.store import Store

from .desk_at_work import add_fitted_table, open_client, open_store, run_here


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path) as opened:
        yield opened


@pytest.fixture
def jobs_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables are read and fitted in this process, where another would take seconds to start.

    That the server does it in processes of their own, with bounded memory and time, is what `test_limited_process.py`
    and `test_server.py` are about.
    """
    monkeypatch.setattr(limited_process, "_run", run_here)


@pytest.fixture
def client(store: Store, jobs_here: None) -> Iterator[TestClient]:
    """A review desk without a bot, asked over HTTP without a socket."""
    with open_client(store) as client:
        yield client


@pytest.fixture
def table(client: TestClient, store: Store) -> int:
    return add_fitted_table(store)
