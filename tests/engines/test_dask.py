"""A cluster of real processes: it finds what is found in memory, and workers may go."""

from __future__ import annotations

import os
import signal
from itertools import pairwise

import numpy as np
import pytest
from distributed import Client, LocalCluster
from scipy import sparse

from noisybayes.auditing.judged import judge
from noisybayes.dataset.shards import Shards
from noisybayes.engines.dask import ClusterLostError, connect, on_cluster

from ..contracts.cases import FAMILIES, MODELS
from ..lost_scheduler import give_up_soon
from .test_engines import chunk, sums

N, K = 600, 3
BLOCKS = {"mixed": [("bernoulli", slice(0, 12)), ("gaussian", slice(12, 16))]}


def table(name):
    """Rows with all that rows can have: wrong labels, missing ones, weights, verified labels."""
    rng = np.random.default_rng(5)
    true = rng.integers(K, size=N)
    X = sparse.csr_array(FAMILIES[name][1](rng, true))
    observed = np.where(rng.random(N) < 0.2, rng.integers(K, size=N), true)
    observed[rng.random(N) < 0.05] = -1
    verified = np.where(rng.random(N) < 0.05, true, np.nan)
    return X, observed, {"verified": verified, "sample_weight": rng.integers(1, 3, N).astype(float)}


def fitted(name, method, X, y, known, **options):
    model = MODELS[name](method=method, missing_label=-1, random_state=1, max_iter=12, **options)
    if name in BLOCKS:
        model.set_params(blocks=BLOCKS[name])
    model.fit(X, y, **known)
    return model, judge(model, X, y)


# equal, whether EM has converged or not
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("name", "method"), [("mixed", "crossfit"), ("multinomial", "em"), ("toy", "em")])
def test_the_same_result_as_in_memory(cluster, tmp_path, monkeypatch, name, method):
    X, y, known = table(name)
    edges = [0, 1, 40, 500, 501, N]
    Shards.write(tmp_path / "rows", (X[a:b] for a, b in pairwise(edges)), X.shape[1])
    here, judged_here = fitted(name, method, X, y, known)
    read = []
    monkeypatch.setattr(
        Shards, "read", lambda self, number, whole=Shards.read: read.append(number) or whole(self, number)
    )
    shards = Shards(f"file://{tmp_path}/rows")
    there, judged_there = fitted(name, method, shards, y, known, engine=on_cluster(cluster))
    assert set(read) <= {0}  # workers read the others; one block tells the family its constants
    assert there.em_steps_ == here.em_steps_
    for attribute in ("mislabel_matrix_", "class_prior_", "noise_rate_", "objective_history_"):
        np.testing.assert_allclose(getattr(there, attribute), getattr(here, attribute), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(there.predict_proba(X), here.predict_proba(X), atol=1e-9)
    np.testing.assert_allclose(judged_there.p_wrong, judged_here.p_wrong, atol=1e-9)
    np.testing.assert_array_equal(judged_there.rows.best, judged_here.rows.best)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_killed_worker_changes_no_digit(cluster, monkeypatch):
    monkeypatch.setattr("noisybayes.dataset.rows._CHUNK_BYTES", 1 << 12)  # some chunks on each worker
    X, y, known = table("bernoulli")
    before, _ = fitted("bernoulli", "em", X, y, known, engine=on_cluster(cluster))
    victim = next(iter(cluster.run(os.getpid).values()))
    killed = []

    def kill(step, objective):
        if step == 5 and not killed:
            os.kill(victim, signal.SIGKILL)
            killed.append(victim)

    after, _ = fitted("bernoulli", "em", X, y, known, engine=on_cluster(cluster), progress=kill)
    assert killed
    np.testing.assert_array_equal(after.feature_prob_, before.feature_prob_)
    np.testing.assert_array_equal(after.objective_history_, before.objective_history_)


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
