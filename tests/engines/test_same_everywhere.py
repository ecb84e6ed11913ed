"""From memory = from shards = on a cluster, in any partitioning, to the last digits but three: every family, the robust
fit and EM alike, and what they say of the rows."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from noisybayes.auditing.judged import judge
from noisybayes.dataset.shards import Shards
from noisybayes.dataset.tree import summed
from noisybayes.engines.dask import on_cluster

from ..contracts.cases import FAMILIES
from ..contracts.test_every_pass import MODELS

N, K = 600, 3
MAKERS = {name: FAMILIES[name][1] for name in ("bernoulli", "multinomial", "gaussian", "mixed", "toy")}
BLOCKS = {"mixed": [("bernoulli", slice(0, 12)), ("gaussian", slice(12, 16))]}


def table(name):
    """Rows with all that rows can have: wrong labels, missing ones, weights, verified labels."""
    rng = np.random.default_rng(5)
    true = rng.integers(K, size=N)
    X = sparse.csr_array(MAKERS[name](rng, true))
    observed = np.where(rng.random(N) < 0.2, rng.integers(K, size=N), true)
    observed[rng.random(N) < 0.05] = -1
    verified = np.where(rng.random(N) < 0.05, true, np.nan)
    return X, observed, {"verified": verified, "sample_weight": rng.integers(1, 3, N).astype(float)}


def fitted(name, method, X, y, known, engine="local"):
    model = MODELS[name](method=method, engine=engine, missing_label=-1, random_state=1, max_iter=12)
    if name in BLOCKS:
        model.set_params(blocks=BLOCKS[name])
    model.fit(X, y, **known)
    return model, judge(model, X, y)


def in_pieces(engine, edges=(0, 1, 250, 251)):
    """The same rows in other parts."""
    known = []  # (parts, pieces): an engine that keeps rows knows them by their list

    def cut(fn, parts):
        for whole, pieces in known:
            if whole is parts:
                return engine(fn, pieces)
        pieces = []
        for part in parts:
            ends = [*(edge for edge in edges if edge < part.n_rows), part.n_rows]
            pieces += [part.view(a, b) for a, b in pairwise(ends)]
        known.append((parts, pieces))
        return engine(fn, pieces)

    return cut


def one_by_one(fn, parts):
    return summed(map(fn, parts))


# equal, whether EM has converged or not
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::noisybayes.model.mislabel.IdentifiabilityWarning")
@pytest.mark.parametrize("method", ["crossfit", "em"])
@pytest.mark.parametrize("name", MAKERS)
def test_the_same_everywhere(cluster, tmp_path, name, method):
    X, y, known = table(name)
    edges = [0, 1, 40, 500, 501, N]
    shards = Shards.write(tmp_path / "rows", (X[a:b] for a, b in pairwise(edges)), X.shape[1])
    here, judged_here = fitted(name, method, X, y, known)
    elsewhere = [(shards, one_by_one), (shards, on_cluster(cluster))]
    if method == "crossfit":  # test_dask.py has that law of EM
        elsewhere.append((X, in_pieces(on_cluster(cluster))))
    for rows, engine in elsewhere:
        there, judged_there = fitted(name, method, rows, y, known, engine)
        assert there.em_steps_ == here.em_steps_
        for attribute in ("mislabel_matrix_", "class_prior_", "noise_rate_", "objective_history_"):
            np.testing.assert_allclose(getattr(there, attribute), getattr(here, attribute), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(there.predict_proba(X), here.predict_proba(X), atol=1e-9)
        np.testing.assert_allclose(judged_there.p_wrong, judged_here.p_wrong, atol=1e-9)
        np.testing.assert_array_equal(judged_there.rows.best, judged_here.rows.best)
