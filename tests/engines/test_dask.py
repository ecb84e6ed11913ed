"""A cluster of real processes: workers come and go, the result stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from itertools import pairwise

import numpy as np
import pytest
from distributed import Client, LocalCluster
from scipy import sparse

from noisybayes import BernoulliINB, simulate
from noisybayes.dataset.shards import Shards
from noisybayes.engines.dask import (
    GROUPS,
    MALLOC,
    ClusterLostError,
    _sum_of_groups,
    connect,
    local_cluster,
    on_cluster,
)

from ..contracts.cases import FAMILIES, STRUCTURES, make_rows, run
from ..lost_scheduler import give_up_soon
from .test_engines import chunk, sums


def in_pieces(map_sum, n_pieces):
    """The same rows in other chunks."""

    def cut(fn, chunks):
        edges = [np.linspace(0, each.n_rows, n_pieces + 1).astype(int) for each in chunks]
        return map_sum(fn, [each.view(a, b) for each, at in zip(chunks, edges, strict=True) for a, b in pairwise(at)])

    return cut


@pytest.mark.parametrize("family_name", FAMILIES)
def test_equal_to_local_for_every_family_in_other_chunks(cluster, family_name):
    family, rows = make_rows(family_name, verified=True)
    here = run(family, rows, STRUCTURES["full"])
    there = run(family, rows, STRUCTURES["full"], engine=in_pieces(on_cluster(cluster), 3))
    np.testing.assert_allclose(there.params.mislabel, here.params.mislabel, atol=1e-9)
    np.testing.assert_allclose(there.params.prior, here.params.prior, atol=1e-9)
    np.testing.assert_allclose(there.objective, here.objective, rtol=1e-9)


@pytest.mark.filterwarnings("ignore::noisybayes.model.mislabel.IdentifiabilityWarning")
@pytest.mark.parametrize("at_url", [False, True])
def test_shards_are_read_by_the_workers(cluster, tmp_path, at_url, monkeypatch):
    data = simulate(3_000, n_features=30, n_classes=3, random_state=0)
    X = sparse.csr_array(data.X.astype(float))
    shards = Shards.write(tmp_path / "rows", [X[:1_000], X[1_000:2_500], X[2_500:]], 30)
    there = Shards(f"file://{tmp_path}/rows") if at_url else shards
    how = {"method": "em", "alpha": 1.0, "tol": 1e-3}
    here = BernoulliINB(**how).fit(shards, data.y)
    read = []
    monkeypatch.setattr(
        Shards, "read", lambda self, number, whole=Shards.read: read.append(number) or whole(self, number)
    )
    model = BernoulliINB(**how, engine=on_cluster(cluster)).fit(there, data.y)
    assert set(read) <= {0}  # one block tells the family its constants
    np.testing.assert_allclose(model.mislabel_matrix_, here.mislabel_matrix_, atol=1e-9)
    np.testing.assert_allclose(model.feature_prob_, here.feature_prob_, atol=1e-9)


def test_chunks_are_sent_once(cluster):
    chunks = [chunk([i, 1.0]) for i in range(2 * GROUPS)]
    map_sum = on_cluster(cluster)
    map_sum(sums, chunks)
    held = map_sum.args[0]
    before = [group.chunks.key for group in held.groups(chunks)]
    map_sum(sums, chunks)
    assert [group.chunks.key for group in held.groups(chunks)] == before
    assert len(before) == GROUPS
    others = [chunk([5.0])]
    assert map_sum(sums, others).total == 5.0


@pytest.mark.parametrize("n_chunks", [1, 2, 3, 7, GROUPS, 2 * GROUPS + 3])
def test_the_number_of_workers_changes_no_digit(cluster, n_chunks):
    """The sum of two workers is that of one, to the last bit: numbers of all sizes show how they were added."""
    rng = np.random.default_rng(n_chunks)
    chunks = [chunk(list(10.0 ** rng.uniform(-8, 8, 3))) for _ in range(n_chunks)]
    edges = np.linspace(0, n_chunks, min(GROUPS, n_chunks) + 1).astype(int)
    alone = _sum_of_groups(sums, [chunks[a:b] for a, b in pairwise(edges)])
    assert on_cluster(cluster)(sums, chunks).total == alone.total


def test_workers_that_are_started_here_keep_their_memory():
    with local_cluster(1) as made, Client(made, set_as_default=False) as client:
        (kept,) = client.run(lambda: {name: os.environ.get(name) for name in MALLOC}).values()
    assert kept == {name: str(size) for name, size in MALLOC.items()}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # equal, whether converged or not
def test_a_killed_worker_changes_no_digit(monkeypatch):
    monkeypatch.setattr("noisybayes.dataset.rows._CHUNK_BYTES", 1 << 17)  # a chunk or two on each worker
    data = simulate(12_000, n_features=30, n_classes=3, random_state=0)
    settings = {"method": "em", "tol": 0.0, "max_iter": 15, "alpha": 1.0}
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as made, Client(made) as client:
        before = BernoulliINB(**settings, engine=on_cluster(client)).fit(data.X, data.y)
        victim = next(iter(client.run(os.getpid).values()))
        killed = threading.Event()

        def kill(step, objective):
            if step == 5 and not killed.is_set():
                os.kill(victim, signal.SIGKILL)
                killed.set()

        after = BernoulliINB(**settings, engine=on_cluster(client), progress=kill).fit(data.X, data.y)
        assert killed.is_set()
        assert victim not in client.run(os.getpid).values()
    np.testing.assert_array_equal(after.feature_prob_, before.feature_prob_)
    np.testing.assert_array_equal(after.objective_history_, before.objective_history_)


def loops():
    return [thread for thread in threading.enumerate() if thread.name == "IO loop"]


def test_a_client_that_cannot_connect_is_closed_at_once():
    """What the garbage collector closes can wait for a lock that its own thread holds."""
    before = loops()
    with pytest.raises(ValueError, match="nonsense"):
        connect("nonsense://x")
    assert loops() == before


def test_a_lost_scheduler_is_told(tmp_path, monkeypatch):
    give_up_soon(monkeypatch)
    file = tmp_path / "scheduler.json"
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port=0", "--no-dashboard"]
    scheduler = subprocess.Popen([*command, f"--scheduler-file={file}"], stderr=subprocess.DEVNULL)
    command = [sys.executable, "-m", "distributed.cli.dask_worker", "--no-nanny", "--no-dashboard"]
    worker = subprocess.Popen([*command, f"--scheduler-file={file}"], stderr=subprocess.DEVNULL)
    try:
        while not file.exists():
            time.sleep(0.05)
        client = Client(scheduler_file=str(file), timeout=10, set_as_default=False)
        client.wait_for_workers(1, timeout=60)
        map_sum, chunks = on_cluster(client), [chunk([1.0]), chunk([2.0])]
        assert map_sum(sums, chunks).total == 3.0
        scheduler.kill()
        scheduler.wait()
        with pytest.raises(ClusterLostError, match="scheduler"):
            map_sum(sums, chunks)
        client.close()
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait()


def test_an_error_of_the_function_is_not_taken_for_a_loss(cluster):
    with pytest.raises(ZeroDivisionError):
        on_cluster(cluster)(lambda rows: 1 // 0, [chunk([1.0])])
