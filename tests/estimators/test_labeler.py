"""Who gave the labels, told to the classifiers: laws, scikit-learn's routing, and what is refused."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer

from noisybayes import BernoulliINB, GaussianINB
from noisybayes.dataset import Shards
from noisybayes.dataset.tree import summed

N, P = 900, 30
RNG = np.random.default_rng(0)
TRUE = RNG.integers(3, size=N)
X = (RNG.random((N, P)) < RNG.uniform(0.2, 0.8, (3, P))[TRUE]).astype(float)
WHO = RNG.choice(np.array(["ann", "bob", "cleo"]), size=N)
ERRS = {"ann": 0.02, "bob": 0.1, "cleo": 0.5}
CARELESS = RNG.random(N) < np.array([ERRS[name] for name in WHO])
Y = np.where(CARELESS, (TRUE + 1) % 3, TRUE)


@pytest.fixture(scope="module")
def told():
    return BernoulliINB().fit(X, Y, labeler=WHO)


@pytest.fixture(scope="module")
def alone():
    return BernoulliINB().fit(X, Y)


def test_the_matrix_of_each_labeler(told):
    assert told.labelers_.tolist() == ["ann", "bob", "cleo"]
    assert told.labelers_differ_
    np.testing.assert_allclose(told.mislabel_by_labeler_.sum(axis=1), 1.0)
    for matrix, rate in zip(told.mislabel_by_labeler_, ERRS.values(), strict=True):
        assert 1 - np.diag(matrix).mean() == pytest.approx(rate, abs=0.1)


def test_posteriors_use_the_labelers(told, alone):
    right = [np.mean(model.true_proba_.argmax(axis=1) == TRUE) for model in (told, alone)]
    assert right[0] > right[1]
    wrong = Y != TRUE
    p_wrong = [1 - model.true_proba_[np.arange(N), Y] for model in (told, alone)]
    loss = [-np.log(np.where(wrong, p, 1 - p) + 1e-9).mean() for p in p_wrong]
    assert loss[0] < loss[1] - 0.02
    assert told.noise_rate_ == pytest.approx(1 - told.true_proba_[np.arange(N), Y].mean(), abs=1e-6)


def test_one_labeler_is_the_fit_without(alone):
    one = BernoulliINB().fit(X, Y, labeler=["ann"] * N)
    np.testing.assert_allclose(one.true_proba_, alone.true_proba_, atol=1e-9)
    np.testing.assert_allclose(one.predict_proba(X), alone.predict_proba(X), atol=1e-9)
    assert not one.labelers_differ_
    assert one.noise_rate_ == alone.noise_rate_


def test_renaming_classes_and_labelers(told):
    letters, other = np.array(["c", "a", "b"]), {"ann": 3, "bob": 1, "cleo": 2}
    renamed = BernoulliINB().fit(X, letters[Y], labeler=[other[name] for name in WHO])
    of_class, of_labeler = np.argsort(letters), [1, 2, 0]
    np.testing.assert_allclose(renamed.true_proba_, told.true_proba_[:, of_class], atol=1e-9)
    expected = told.mislabel_by_labeler_[of_labeler][:, of_class][:, :, of_class]
    np.testing.assert_allclose(renamed.mislabel_by_labeler_, expected, atol=1e-9)


def in_pieces(fn, parts):
    """An engine that cuts the rows in other places."""
    edges = [sorted({0, 1, part.n_rows // 3, part.n_rows}) for part in parts]
    return summed(fn(part.view(a, b)) for part, cuts in zip(parts, edges, strict=True) for a, b in pairwise(cuts))


@pytest.mark.parametrize("settings", [{"n_jobs": 1}, {"engine": in_pieces}])
def test_threads_and_engines_change_nothing(told, settings):
    other = BernoulliINB(**settings).fit(X, Y, labeler=WHO)
    np.testing.assert_allclose(other.true_proba_, told.true_proba_, atol=1e-9)
    np.testing.assert_allclose(other.mislabel_by_labeler_, told.mislabel_by_labeler_, atol=1e-9)


def test_new_rows_are_judged_by_their_labeler(told):
    rows, labels = X[:50], Y[:50]
    by_ann, by_cleo, by_nobody, by_all = (
        told.predict_true_proba(rows, labels, labeler=who) for who in (["ann"] * 50, ["cleo"] * 50, ["zoe"] * 50, None)
    )
    given = np.arange(50), labels
    assert (by_ann[given] >= by_cleo[given]).all()
    np.testing.assert_allclose(by_nobody, by_all)


def test_verified_rows_keep_their_label():
    verified = [TRUE[i] if i < 100 else None for i in range(N)]
    model = BernoulliINB().fit(X, Y, verified=verified, labeler=WHO)
    np.testing.assert_array_equal(model.true_proba_[:100].argmax(axis=1), TRUE[:100])
    np.testing.assert_allclose(model.true_proba_[:100].max(axis=1), 1.0)


def test_missing_labels_are_nobodys():
    given = np.where(np.arange(N) < 60, np.nan, Y)
    model = BernoulliINB(missing_label=np.nan).fit(X, given, labeler=WHO)
    assert model.true_proba_.shape == (N, 3)
    assert model.labelers_differ_


def test_a_fit_without_labelers_forgets_them(told):
    model = BernoulliINB().fit(X, Y, labeler=WHO)
    assert not hasattr(model.fit(X, Y), "labelers_")


def test_in_a_pipeline_and_a_grid_search(told):
    with sklearn.config_context(enable_metadata_routing=True):
        model = BernoulliINB().set_fit_request(labeler=True)
        pipeline = make_pipeline(Binarizer(), model).fit(X, Y, labeler=WHO)
        np.testing.assert_allclose(pipeline[-1].true_proba_, told.true_proba_, atol=1e-9)
        search = GridSearchCV(model, {"alpha": [1.0, "auto"]}, cv=2).fit(X, Y, labeler=WHO)
        assert search.best_estimator_.labelers_.tolist() == ["ann", "bob", "cleo"]


def test_names_of_labelers_are_not_saved(told, tmp_path):
    told.save(tmp_path / "model")
    assert b"cleo" not in (tmp_path / "model").read_bytes()
    loaded = BernoulliINB.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(X), told.predict_proba(X))


@pytest.mark.parametrize(
    ("settings", "extra", "who", "message"),
    [
        ({"method": "em"}, {}, WHO, 'labeler= needs method="crossfit"'),
        ({}, {"sample_weight": np.ones(N)}, WHO, "labeler= cannot be combined with sample_weight="),
        ({}, {}, WHO[:-1], "labeler has 899 entries but X has 900 rows"),
        ({}, {}, [None, *WHO[1:]], "labeler contains NaN or None, first in row 0"),
        ({}, {}, [np.nan] * N, "labeler contains NaN or None"),
        ({}, {}, np.arange(N), "looks like an identifier"),
    ],
)
def test_what_is_refused(settings, extra, who, message):
    with pytest.raises(ValueError, match=message):
        BernoulliINB(**settings).fit(X, Y, labeler=who, **extra)


def test_handfuls_shards_and_models_that_were_not_told(tmp_path, alone):
    with pytest.raises(ValueError, match="at least 10 rows"):
        GaussianINB().fit(X[:6], Y[:6], labeler=WHO[:6])
    stored = Shards.write(tmp_path / "rows", [sparse.csr_array(X)], P)
    with pytest.raises(ValueError, match="needs the rows in memory"):
        BernoulliINB().fit(stored, Y, labeler=WHO)
    with pytest.raises(ValueError, match="needs a model that was fitted with labeler="):
        alone.predict_true_proba(X, Y, labeler=WHO)
