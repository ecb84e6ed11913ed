"""A cluster of real processes: it may go."""

from __future__ import annotations

import pytest
from distributed import Client, LocalCluster

from noisybayes.engines.dask import ClusterLostError, connect, on_cluster

from ..lost_scheduler import give_up_soon
from .test_engines import chunk, sums


def test_a_scheduler_that_is_lost_or_cannot_be_reached_is_told(monkeypatch):
    give_up_soon(monkeypatch)
    with (
        LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as made,
        Client(made.scheduler_address, set_as_default=False) as client,
    ):
        map_sum, chunks = on_cluster(client), [chunk([1.0]), chunk([2.0])]
        assert map_sum(sums, chunks).total == 3.0
        made.close()
        with pytest.raises(ClusterLostError, match="scheduler"):
            map_sum(sums, chunks)
    with pytest.raises(ValueError, match="nonsense"):
        connect("nonsense://x")
