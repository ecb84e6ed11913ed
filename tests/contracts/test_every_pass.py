"""An engine sees every pass over the rows: of every fit and of judging."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from noisybayes import BernoulliINB, MislabelClassifier, MultinomialINB, audit, simulate
from noisybayes.auditing.judged import judge
from noisybayes.dataset.shards import Shards
from noisybayes.dataset.tree import summed
from noisybayes.estimators import inb_model as base

from .cases import MODELS

N = 700
DATA = simulate(N, n_features=30, n_classes=3, diagonal=(0.75, 0.85), random_state=1)
EDGES = [0, 1, 200, 201, 500, N]


class CountingEngine:
    """Adds up part by part, and counts: the passes, and the blocks that were read within and outside of them."""

    def __init__(self):
        self.rows_of_passes, self.read_within, self.read_outside = [], 0, []
        self.running = False

    def __call__(self, fn, parts):
        self.rows_of_passes.append(sum(part.n_rows for part in parts))
        self.running = True
        try:
            return summed(map(fn, parts))
        finally:
            self.running = False

    def assert_every_row_was_seen_in_every_pass(self, at_least):
        assert len(self.rows_of_passes) >= at_least
        assert set(self.rows_of_passes) <= {N}
        assert self.read_within == len(self.rows_of_passes) * (len(EDGES) - 1)
        self.rows_of_passes, self.read_within = [], 0


@pytest.fixture
def engine(monkeypatch):
    made = CountingEngine()
    read = Shards.read

    def noted(self, number):
        if made.running:
            made.read_within += 1
        else:
            made.read_outside.append(number)
        return read(self, number)

    monkeypatch.setattr(Shards, "read", noted)
    return made


@pytest.fixture
def shards(tmp_path):
    X = sparse.csr_array(DATA.X.astype(float))
    return Shards.write(tmp_path / "rows", (X[a:b] for a, b in pairwise(EDGES)), X.shape[1])


@pytest.mark.filterwarnings("ignore::noisybayes.model.mislabel.IdentifiabilityWarning")
@pytest.mark.parametrize("method", ["crossfit", "em"])
@pytest.mark.parametrize("name", MODELS)
def test_every_pass_of_a_fit_and_of_its_audit(name, method, engine, shards):
    model = MODELS[name](method=method, engine=engine).fit(shards, DATA.y)
    engine.assert_every_row_was_seen_in_every_pass(at_least=5)
    judged = judge(model, shards, DATA.y)
    # a robust fit has judged its rows already
    assert len(engine.rows_of_passes) == (0 if method == "crossfit" else 1)
    engine.assert_every_row_was_seen_in_every_pass(at_least=0 if method == "crossfit" else 1)
    assert engine.read_outside == [0]  # the family takes its constants from one block
    in_memory = MODELS[name](method=method).fit(DATA.X, DATA.y)
    np.testing.assert_allclose(model.mislabel_matrix_, in_memory.mislabel_matrix_, atol=1e-9)
    np.testing.assert_allclose(model.predict_proba(DATA.X), in_memory.predict_proba(DATA.X), atol=1e-9)
    np.testing.assert_allclose(judged.p_wrong, judge(in_memory, DATA.X, DATA.y).p_wrong, atol=1e-9)


def test_every_pass_of_a_fit_that_decides_on_a_sample_and_of_a_stream(engine, shards, monkeypatch):
    """The rows of the sample are in the memory of this process, which passes over them itself."""
    monkeypatch.setattr(base, "DEFAULT", replace(base.DEFAULT, sample_rows=300))
    model = MultinomialINB(engine=engine).fit(shards, DATA.y)
    assert engine.read_outside == [0]
    engine.assert_every_row_was_seen_in_every_pass(at_least=5)
    model.partial_fit(shards, DATA.y)
    engine.assert_every_row_was_seen_in_every_pass(at_least=1)


@pytest.mark.parametrize("memory", [None, "2GB"])
def test_of_the_audit_of_a_table(engine, tmp_path, memory):
    columns = {f"f{j}": DATA.X[:, j] for j in range(8)}
    path = tmp_path / "table.csv"
    lines = [",".join(["label", *columns])]
    lines += [",".join([f"c{y}", *map(str, row[:8])]) for y, row in zip(DATA.y, DATA.X.astype(int), strict=True)]
    path.write_text("\n".join(lines) + "\n")
    audit(path, label="label", binary=list(columns), engine=engine, memory=memory)
    assert len(engine.rows_of_passes) > 10
    assert set(engine.rows_of_passes) == {N}


def test_an_engine_that_cannot_be_used_is_refused():
    model = MislabelClassifier(n_folds=3).fit(DATA.X[:200], DATA.y[:200])
    for option in ({"engine": CountingEngine()}, {"memory": "2GB"}, {"scheduler": "tcp://x"}):
        with pytest.raises(ValueError) as refused:  # noqa: PT011
            audit(model, DATA.X[:200], DATA.y[:200], **option)
        assert str(refused.value) == (
            "engine, scheduler, memory, families and mislabel are for tables; set them when you create the "
            "classifier: BernoulliINB(engine=...)"
        )
    with pytest.raises(TypeError, match="unexpected keyword argument 'engine'"):
        MislabelClassifier(engine=CountingEngine())
    with pytest.raises(ValueError, match="engine must be one of 'local', 'dask' or a function map_sum"):
        BernoulliINB(engine="spark").fit(DATA.X, DATA.y)
