"""Who gave the labels, and where they come from: laws, scikit-learn's routing, and what is refused."""

from __future__ import annotations

from datetime import date, timedelta
from functools import cache

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

N, P = 1_000, 30
RNG = np.random.default_rng(0)
TRUE = RNG.integers(3, size=N)
X = (RNG.random((N, P)) < RNG.uniform(0.2, 0.8, (3, P))[TRUE]).astype(float)
RATE = {"ann": 0.03, "bob": 0.1, "cleo": 0.5}
WHO, COIN = RNG.choice(list(RATE), size=N), RNG.choice(["heads", "tails"], size=N)
WRONG = RNG.random(N) < np.array([RATE[name] for name in WHO])
Y = np.where(WRONG, (TRUE + RNG.integers(1, 3, size=N)) % 3, TRUE)
EITHER = pytest.mark.parametrize("kind", ["labeler", "source"])


@cache
def told(kind=None):
    return BernoulliINB().fit(X, Y, **({kind: WHO} if kind else {}))


def loss(model):
    p_wrong = 1 - model.true_proba_[np.arange(N), Y]
    return -np.log(np.where(WRONG, p_wrong, 1 - p_wrong) + 1e-9).mean()


def test_each_labeler_has_a_matrix_and_each_level_of_a_source_a_rate():
    model = told("labeler")
    assert model.labelers_.tolist() == list(RATE)
    assert model.labelers_differ_
    np.testing.assert_allclose(model.mislabel_by_labeler_.sum(axis=1), 1.0)
    for matrix, rate in zip(model.mislabel_by_labeler_, RATE.values(), strict=True):
        assert 1 - np.diag(matrix).mean() == pytest.approx(rate, abs=0.1)
    (source,) = told("source").sources_
    assert (source.name, source.kind, source.kept, source.levels) == ("source", "category", True, tuple(RATE))
    np.testing.assert_array_equal(source.n_rows, [(name == WHO).sum() for name in RATE])
    np.testing.assert_allclose(source.error_rate, list(RATE.values()), atol=0.1)
    for each in (model, told("source")):
        assert loss(each) < loss(told()) - 0.02
        assert each.noise_rate_ == pytest.approx(1 - each.true_proba_[np.arange(N), Y].mean(), abs=1e-6)


@pytest.mark.parametrize("nothing", [{"labeler": ["ann"] * N}, {"source": COIN}])
def test_what_explains_nothing_changes_nothing(nothing):
    model = BernoulliINB().fit(X, Y, **nothing)
    assert not (model.labelers_differ_ if "labeler" in nothing else model.sources_[0].kept)
    np.testing.assert_allclose(model.true_proba_, told().true_proba_, atol=1e-9)
    assert model.noise_rate_ == told().noise_rate_


@EITHER
def test_renaming_classes_and_levels(kind):
    letters, other = np.array(["c", "a", "b"]), {"ann": "z", "bob": "x", "cleo": "y"}
    model = BernoulliINB().fit(X, letters[Y], **{kind: [other[name] for name in WHO]})
    of_class, of_level = np.argsort(letters), [1, 2, 0]
    np.testing.assert_allclose(model.true_proba_, told(kind).true_proba_[:, of_class], atol=1e-5)
    if kind == "labeler":
        expected = told(kind).mislabel_by_labeler_[of_level][:, of_class][:, :, of_class]
        np.testing.assert_allclose(model.mislabel_by_labeler_, expected, atol=1e-9)
    else:
        expected = told(kind).sources_[0].error_rate[of_level]
        np.testing.assert_allclose(model.sources_[0].error_rate, expected, atol=1e-5)


@EITHER
def test_missing_and_verified_labels(kind):
    given = np.where(np.arange(N) < 60, np.nan, Y)
    verified = np.where(np.arange(N) >= N - 100, TRUE, np.nan)
    model = BernoulliINB(missing_label=np.nan).fit(X, given, verified=verified, **{kind: WHO})
    np.testing.assert_array_equal(model.true_proba_[-100:].argmax(axis=1), TRUE[-100:])
    np.testing.assert_allclose(model.true_proba_[-100:].max(axis=1), 1.0)
    np.testing.assert_allclose(model.true_proba_.sum(axis=1), 1.0)


@EITHER
def test_in_a_pipeline_and_a_grid_search(kind):
    with sklearn.config_context(enable_metadata_routing=True):
        model = BernoulliINB().set_fit_request(**{kind: True})
        pipeline = make_pipeline(Binarizer(), model).fit(X, Y, **{kind: WHO})
        np.testing.assert_allclose(pipeline[-1].true_proba_, told(kind).true_proba_, atol=1e-9)
        search = GridSearchCV(model, {"alpha": [1.0, "auto"]}, cv=2).fit(X, Y, **{kind: WHO})
        assert hasattr(search.best_estimator_, "labelers_" if kind == "labeler" else "sources_")


@EITHER
def test_names_are_not_saved_and_are_forgotten(kind, tmp_path):
    told(kind).save(tmp_path / "model")
    assert b"cleo" not in (tmp_path / "model").read_bytes()
    loaded = BernoulliINB.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(X), told(kind).predict_proba(X))
    again = BernoulliINB().fit(X, Y, **{kind: WHO}).fit(X, Y)
    assert not hasattr(again, "labelers_")
    assert not hasattr(again, "sources_")


def test_new_rows_are_judged_by_their_labeler():
    by_ann, by_cleo, by_nobody, by_all = (
        told("labeler").predict_true_proba(X[:50], Y[:50], labeler=who)
        for who in (["ann"] * 50, ["cleo"] * 50, ["zoe"] * 50, None)
    )
    given = np.arange(50), Y[:50]
    assert (by_ann[given] >= by_cleo[given]).all()
    np.testing.assert_allclose(by_nobody, by_all)
    with pytest.raises(ValueError, match="needs a model that was fitted with labeler="):
        told().predict_true_proba(X, Y, labeler=WHO)


def test_several_sources():
    frame = pl.DataFrame({"coin": COIN, "who": WHO})
    models = [BernoulliINB().fit(X, Y, source=source) for source in (frame, np.column_stack([COIN, WHO]))]
    assert [source.name for source in models[0].sources_] == ["coin", "who"]
    assert [source.name for source in models[1].sources_] == ["source 1", "source 2"]
    for model in models:
        assert [source.kept for source in model.sources_] == [False, True]
        np.testing.assert_allclose(model.true_proba_, told("source").true_proba_, atol=0.02)


def test_times_are_put_into_periods():
    days = [date(2026, 1, 1) + timedelta(days=int(day)) for day in np.sort(RNG.integers(120, size=N))]
    given = np.where(RNG.random(N) < np.linspace(0.6, 0.02, N), (TRUE + 1) % 3, TRUE)
    (source,) = BernoulliINB().fit(X, given, source=pd.Series(pd.to_datetime(days))).sources_
    assert (source.kind, source.kept) == ("time", True)
    assert source.error_rate[0] > source.error_rate[-1] + 0.2


@pytest.mark.parametrize(
    ("settings", "known", "message"),
    [
        ({"method": "em"}, {"labeler": WHO}, 'labeler= needs method="crossfit"'),
        ({"method": "em"}, {"source": WHO}, 'source= needs method="crossfit"'),
        ({}, {"labeler": WHO, "sample_weight": np.ones(N)}, "labeler= cannot be combined with sample_weight="),
        ({}, {"source": WHO, "sample_weight": np.ones(N)}, "source= cannot be combined with sample_weight="),
        ({}, {"labeler": WHO[:-1]}, "labeler has 999 entries but X has 1000 rows"),
        ({}, {"source": WHO[:-1]}, "source has 999 rows but X has 1000 rows"),
        ({}, {"labeler": [None, *WHO[1:]]}, "labeler contains NaN or None, first in row 0"),
        ({}, {"source": [None] * N}, "is empty in every row"),
        ({}, {"labeler": np.arange(N)}, "looks like an identifier"),
        ({}, {"source": [f"row {i}" for i in range(N)]}, "looks like an identifier"),
        ({}, {"source": np.zeros((N, 1, 1))}, "source must have one dimension"),
    ],
)
def test_what_is_refused(settings, known, message):
    with pytest.raises(ValueError, match=message):
        BernoulliINB(**settings).fit(X, Y, **known)


@EITHER
def test_handfuls_and_shards_are_refused(kind, tmp_path):
    with pytest.raises(ValueError, match="at least 10 rows"):
        GaussianINB().fit(X[:6], Y[:6], **{kind: WHO[:6]})
    with pytest.raises(ValueError, match="needs the rows in memory"):
        BernoulliINB().fit(Shards.write(tmp_path / "rows", [sparse.csr_array(X)], P), Y, **{kind: WHO})
