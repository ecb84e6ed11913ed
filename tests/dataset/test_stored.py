"""A fit from disk is the fit in memory."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from noisybayes import BernoulliINB, MislabelClassifier
from noisybayes.auditing import examine
from noisybayes.data.simulate import simulate
from noisybayes.dataset.shards import Shards
from noisybayes.estimators import inb_model as base
from noisybayes.robust.constants import DEFAULT

DATA = simulate(1_500, n_features=60, n_classes=3, diagonal=(0.75, 0.85), random_state=1)
X = sparse.csr_array(DATA.X.astype(float))


@pytest.fixture
def shards(tmp_path):
    edges = [0, 1, 400, 401, 1_100, 1_500]
    return Shards.write(tmp_path / "rows", (X[a:b] for a, b in pairwise(edges)), 60)


@pytest.fixture(autouse=True)
def a_sample_decides(monkeypatch):
    monkeypatch.setattr(base, "DEFAULT", replace(DEFAULT, sample_rows=600))


def test_the_fit_and_the_audit_from_disk_are_those_in_memory(shards):
    verified = np.full(1_500, None, dtype=object)
    verified[:40] = DATA.true[:40]
    here, there = (BernoulliINB(random_state=3).fit(rows, DATA.y, verified=verified) for rows in (X, shards))
    for name in ("mislabel_matrix_", "class_prior_", "noise_rate_"):
        np.testing.assert_allclose(getattr(there, name), getattr(here, name), atol=1e-9)
    assert there.em_steps_ == here.em_steps_
    np.testing.assert_allclose(there.predict_proba(shards), here.predict_proba(X), atol=1e-9)
    one, other = examine(here, X, DATA.y), examine(there, shards, DATA.y)
    np.testing.assert_array_equal(one.table["suspect"], other.table["suspect"])
    np.testing.assert_array_equal(one.table["suggested"], other.table["suggested"])
    np.testing.assert_allclose(one.table["p_wrong"], other.table["p_wrong"], atol=1e-9)
    for a, b in zip(one.intervals.mislabel_matrix, other.intervals.mislabel_matrix, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-9)
    rows = one.suspects.index[:5].to_numpy()
    for a, b in zip(one.evidence(rows), other.evidence(rows), strict=True):
        np.testing.assert_allclose(a.log_odds, b.log_odds, atol=1e-9)


def test_the_number_of_threads_changes_no_digit(shards):
    one, two = (BernoulliINB(random_state=0, n_jobs=n).fit(shards, DATA.y) for n in (1, 2))
    np.testing.assert_array_equal(one.mislabel_matrix_, two.mislabel_matrix_)
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


def test_what_is_refused(shards):
    with pytest.raises(ValueError, match="60 columns, but the model was fitted with 20"):
        BernoulliINB().fit(X[:, :20], DATA.y).predict(shards)
    with pytest.raises(ValueError, match="needs its rows in memory"):
        MislabelClassifier().fit(shards, DATA.y)
