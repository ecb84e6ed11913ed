from __future__ import annotations

from collections.abc import Iterator

import pytest
from distributed import Client, LocalCluster


@pytest.fixture(scope="package", autouse=True)
def cluster() -> Iterator[Client]:
    """Two real worker processes, which every test of an engine uses."""
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as made, Client(made) as client:
        yield client
