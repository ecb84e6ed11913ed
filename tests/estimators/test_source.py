"""Where labels come from, told to the classifiers: laws, scikit-learn's routing, and what is refused."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy import sparse
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer

from noisybayes import BernoulliINB, GaussianINB
from noisybayes.dataset import Shards

N, P = 1_200, 30
RNG = np.random.default_rng(2)
TRUE = RNG.integers(3, size=N)
X = (RNG.random((N, P)) < RNG.uniform(0.2, 0.8, (3, P))[TRUE]).astype(float)
CHANNEL = RNG.choice(np.array(["chat", "mail", "phone"]), size=N)
COIN = RNG.choice(np.array(["heads", "tails"]), size=N)
RATE = {"chat": 0.03, "mail": 0.1, "phone": 0.5}
WRONG = RNG.random(N) < np.array([RATE[name] for name in CHANNEL])
Y = np.where(WRONG, (TRUE + RNG.integers(1, 3, size=N)) % 3, TRUE)


@pytest.fixture(scope="module")
def told():
    return BernoulliINB().fit(X, Y, source=CHANNEL)


@pytest.fixture(scope="module")
def alone():
    return BernoulliINB().fit(X, Y)


def loss(model):
    p_wrong = 1 - model.true_proba_[np.arange(N), Y]
    return -np.log(np.where(WRONG, p_wrong, 1 - p_wrong) + 1e-9).mean()


def test_each_level_has_its_rate(told):
    (source,) = told.sources_
    assert (source.name, source.kind, source.kept) == ("source", "category", True)
    assert source.levels == ("chat", "mail", "phone")
    np.testing.assert_array_equal(source.n_rows, [(name == CHANNEL).sum() for name in source.levels])
    np.testing.assert_allclose(source.error_rate, list(RATE.values()), atol=0.08)


def test_posteriors_use_it(told, alone):
    assert loss(told) < loss(alone) - 0.02
    assert told.noise_rate_ == pytest.approx(1 - told.true_proba_[np.arange(N), Y].mean(), abs=1e-6)
    np.testing.assert_allclose(told.predict_proba(X), alone.predict_proba(X), atol=1e-9)


def test_a_source_that_explains_nothing_changes_nothing(alone):
    model = BernoulliINB().fit(X, Y, source=COIN)
    assert not model.sources_[0].kept
    np.testing.assert_allclose(model.true_proba_, alone.true_proba_, atol=1e-9)
    assert model.noise_rate_ == alone.noise_rate_


def test_several_sources_and_names(told):
    frame = pl.DataFrame({"coin": COIN, "channel": CHANNEL})
    models = [BernoulliINB().fit(X, Y, source=source) for source in (frame, np.column_stack([COIN, CHANNEL]))]
    assert [source.name for source in models[0].sources_] == ["coin", "channel"]
    assert [source.name for source in models[1].sources_] == ["source 1", "source 2"]
    for model in models:
        assert [source.kept for source in model.sources_] == [False, True]
        np.testing.assert_allclose(model.true_proba_, told.true_proba_, atol=0.02)


def test_times_are_put_into_periods():
    days = [date(2026, 1, 1) + timedelta(days=int(day)) for day in np.sort(RNG.integers(120, size=N))]
    wrong = RNG.random(N) < np.linspace(0.6, 0.02, N)
    given = np.where(wrong, (TRUE + 1) % 3, TRUE)
    (source,) = BernoulliINB().fit(X, given, source=days).sources_
    assert (source.kind, source.kept) == ("time", True)
    assert source.error_rate[0] > source.error_rate[-1] + 0.2
    (same,) = BernoulliINB().fit(X, given, source=pd.Series(pd.to_datetime(days))).sources_
    np.testing.assert_allclose(same.error_rate, source.error_rate, atol=1e-9)


def test_renaming_classes_and_levels(told):
    letters, other = np.array(["c", "a", "b"]), {"chat": "z", "mail": "y", "phone": "x"}
    renamed = BernoulliINB().fit(X, letters[Y], source=[other[name] for name in CHANNEL])
    np.testing.assert_allclose(renamed.true_proba_, told.true_proba_[:, np.argsort(letters)], atol=1e-5)
    np.testing.assert_allclose(renamed.sources_[0].error_rate, told.sources_[0].error_rate[::-1], atol=1e-5)


def test_together_with_labelers(told):
    who = RNG.choice(np.array(["ann", "bob"]), size=N)
    careless = (who == "bob") & (RNG.random(N) < 0.4)
    given = np.where(careless, (TRUE + 1) % 3, Y)
    model = BernoulliINB().fit(X, given, labeler=who, source=CHANNEL)
    assert model.labelers_differ_
    assert model.sources_[0].kept
    right = model.true_proba_[np.arange(N), TRUE].mean()
    for other in ({"labeler": who}, {"source": CHANNEL}):
        assert right > BernoulliINB().fit(X, given, **other).true_proba_[np.arange(N), TRUE].mean()


def test_missing_labels_and_levels():
    given = np.where(np.arange(N) < 60, np.nan, Y)
    channel = [None if i < 30 or i > N - 30 else name for i, name in enumerate(CHANNEL)]
    model = BernoulliINB(missing_label=np.nan).fit(X, given, source=channel)
    assert model.sources_[0].n_rows.sum() == N - 60 - 29
    assert np.isfinite(model.true_proba_).all()


def test_in_a_pipeline_and_a_grid_search(told):
    with sklearn.config_context(enable_metadata_routing=True):
        model = BernoulliINB().set_fit_request(source=True)
        pipeline = make_pipeline(Binarizer(), model).fit(X, Y, source=CHANNEL)
        np.testing.assert_allclose(pipeline[-1].true_proba_, told.true_proba_, atol=1e-9)
        frame = pd.DataFrame({"channel": CHANNEL})
        search = GridSearchCV(model, {"alpha": [1.0, "auto"]}, cv=2).fit(X, Y, source=frame)
        assert search.best_estimator_.sources_[0].name == "channel"


def test_levels_are_not_saved_and_are_forgotten(told, tmp_path):
    told.save(tmp_path / "model")
    assert b"phone" not in (tmp_path / "model").read_bytes()
    assert not hasattr(BernoulliINB().fit(X, Y, source=CHANNEL).fit(X, Y), "sources_")


@pytest.mark.parametrize(
    ("settings", "extra", "source", "message"),
    [
        ({"method": "em"}, {}, CHANNEL, 'source= needs method="crossfit"'),
        ({}, {"sample_weight": np.ones(N)}, CHANNEL, "source= cannot be combined with sample_weight="),
        ({}, {}, CHANNEL[:-1], "source has 1199 rows but X has 1200 rows"),
        ({}, {}, [None] * N, "is empty in every row"),
        ({}, {}, [f"row {i}" for i in range(N)], "looks like an identifier"),
        ({}, {}, np.zeros((N, 1, 1)), "source must have one dimension"),
    ],
)
def test_what_is_refused(settings, extra, source, message):
    with pytest.raises(ValueError, match=message):
        BernoulliINB(**settings).fit(X, Y, source=source, **extra)


def test_handfuls_and_shards(tmp_path):
    with pytest.raises(ValueError, match="at least 10 rows"):
        GaussianINB().fit(X[:6], Y[:6], source=CHANNEL[:6])
    stored = Shards.write(tmp_path / "rows", [sparse.csr_array(X)], P)
    with pytest.raises(ValueError, match="needs the rows in memory"):
        BernoulliINB().fit(stored, Y, source=CHANNEL)
