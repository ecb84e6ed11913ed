"""Laws of the methods that the paper compares with or discusses."""

from __future__ import annotations

from functools import cache, partial
from importlib import import_module

import numpy as np
import pytest
from scipy import sparse
from sklearn.naive_bayes import BernoulliNB

from noisybayes import BernoulliINB
from paper.baselines.bayesanil import BayesANIL
from paper.baselines.filters import EnsembleFilter, NaiveBayesFilter, SVMFilter, kept
from paper.methods import ExactNaiveBayes

from .marks import needs_torch

D = 60
#: 30 % of the labels of two classes are wrong, all in one direction; columns are true classes.
CHANNEL = np.array([[0.7, 0.0, 0.1], [0.3, 0.7, 0.1], [0.0, 0.3, 0.8]])
QUICK = {"hidden_layer_sizes": (20,), "learning_rate": 0.03, "batch_size": 100, "max_epochs": 30, "patience": 5}
NETWORKS = {
    "PlainNetwork": ("network", {}), "NLNN": ("noise_layers", {}), "NAL": ("noise_layers", {}),
    "Decoupling": ("row_selection", {}), "CMTNN": ("row_selection", {}),
    "CoTeaching": ("row_selection", {"noise_rate": 0.25}), "MentorNet": ("row_selection", {"noise_rate": 0.25}),
}  # fmt: skip
BAYES = {
    "majority": partial(EnsembleFilter, 2), "consensus": partial(EnsembleFilter, 3), "svm": SVMFilter,
    "nb": NaiveBayesFilter, "bayesanil": partial(BayesANIL, 0.25),
}  # fmt: skip
over_networks = pytest.mark.parametrize("name", NETWORKS)
over_all = pytest.mark.parametrize("name", [*BAYES, *(pytest.param(name, marks=needs_torch) for name in NETWORKS)])


def draw(n, seed):
    """Binary features that tell three classes apart almost without fail; observed and true labels."""
    rng = np.random.default_rng(seed)
    true = rng.integers(3, size=n)
    prob = np.random.default_rng(99).uniform(0.1, 0.9, (3, D))
    X = (rng.random((n, D)) < prob[true]).astype(float)
    return X, rng.multinomial(1, CHANNEL.T[true]).argmax(axis=1), true


X, Y, TRUE = draw(400, seed=0)
X_TEST, _, TRUE_TEST = draw(1_000, seed=1)
WRONG = Y != TRUE


def make(name, **changes):
    if name in BAYES:
        return BAYES[name](**changes)
    module, settings = NETWORKS[name]
    return getattr(import_module(f"paper.baselines.{module}"), name)(**QUICK | settings | changes)


@cache
def fitted(name):
    return make(name).fit(X, Y)


def accuracy(model):
    return np.mean(model.classes_[model.predict_proba(X_TEST).argmax(axis=1)] == TRUE_TEST)


@over_all
def test_wrong_labels_are_survived_and_right_ones_learned(name):
    assert accuracy(fitted(name)) > 0.75
    # two networks that learn only where they differ never become as good
    assert accuracy(make(name).fit(X, TRUE)) > (0.8 if name == "Decoupling" else 0.9)


@over_all
def test_probabilities_and_classes(name):
    proba = fitted(name).predict_proba(X_TEST)
    assert proba.shape == (len(X_TEST), 3)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    renamed = make(name).fit(X, 2 * Y + 1)
    assert renamed.classes_.tolist() == [1, 3, 5]
    np.testing.assert_allclose(renamed.predict_proba(X_TEST), proba)


@needs_torch
@over_networks
def test_a_seed_decides_everything_and_no_global_state_does(name):
    import torch

    torch.manual_seed(5)
    before = torch.get_rng_state(), torch.get_num_threads()
    again, other = make(name).fit(X, Y), make(name, random_state=4).fit(X, Y)
    assert torch.equal(torch.get_rng_state(), before[0])
    assert torch.get_num_threads() == before[1]
    np.testing.assert_array_equal(again.predict_proba(X_TEST), fitted(name).predict_proba(X_TEST))
    assert np.abs(other.predict_proba(X_TEST) - fitted(name).predict_proba(X_TEST)).max() > 1e-3


@needs_torch
@pytest.mark.parametrize("as_published", [False, True])
@pytest.mark.parametrize("name", ["NLNN", "NAL"])
def test_sparse_rows_give_what_dense_rows_give(name, as_published):
    """Rows that are not centered, as published, are never made dense: the product and its gradient are our own."""
    dense, thin = (
        make(name, as_published=as_published, max_epochs=3).fit(rows, Y) for rows in (X, sparse.csr_array(X))
    )
    np.testing.assert_allclose(thin.predict_proba(sparse.csr_array(X_TEST)), dense.predict_proba(X_TEST), atol=1e-4)


@needs_torch
def test_noise_layers_find_the_commonest_mistake():
    layer = fitted("NAL").layer_bias_.T  # log P(observed | true)
    for matrix in (fitted("NLNN").mislabel_matrix_, layer):
        assert matrix.argmax(axis=0).tolist() == [0, 1, 2]
        assert (matrix - 100 * np.eye(3)).argmax(axis=0)[:2].tolist() == [1, 2]


@needs_torch
@pytest.mark.parametrize("as_published", [False, True])
def test_mentornet_leaves_out_wrong_labels_first(as_published):
    model = make("MentorNet", as_published=as_published, max_epochs=20).fit(X, Y)
    assert model.weights_.mean() == pytest.approx(0.75, abs=0.1)
    assert model.weights_[WRONG].mean() < model.weights_[~WRONG].mean() - 0.3


@pytest.mark.parametrize("name", [*list(BAYES)[:4], pytest.param("CMTNN", marks=needs_torch)])
def test_filters_drop_mostly_wrong_labels(name):
    dropped = ~fitted(name).kept_
    assert WRONG[dropped].mean() > 2 * WRONG.mean()
    assert dropped[WRONG].mean() > 0.4


def test_a_class_that_would_lose_all_rows_keeps_them():
    doubted = np.array([True, False, True, True, False])
    assert kept(doubted, np.array([0, 0, 1, 1, 2])).tolist() == [False, True, True, True, True]
    assert (fitted("majority").kept_ <= fitted("consensus").kept_).all()


def test_bayesanil_never_falls_and_is_naive_bayes_without_noise():
    history = BayesANIL(0.3, tol=1e-12).fit(X, Y).objective_history_
    assert len(history) > 3
    assert np.diff(history).min() > -1e-10
    plain = BernoulliNB().fit(X, Y)
    np.testing.assert_allclose(BayesANIL(0.0).fit(X, Y).predict_proba(X_TEST), plain.predict_proba(X_TEST))


@pytest.mark.parametrize("equal_classes", [False, True])
def test_unsmoothed_naive_bayes_is_the_estimator_that_believes_all_labels(equal_classes):
    rng = np.random.default_rng(0)
    rare, y = (rng.random((300, 40)) < 0.03).astype(float), rng.integers(4, size=300)
    shares = np.full(4, 1 / 4) if equal_classes else None
    model = BernoulliINB.paper(mislabel=np.eye(4), class_prior=shares).fit(rare[:200], y[:200])
    plain = ExactNaiveBayes(equal_classes).fit(rare[:200], y[:200])
    assert (plain.feature_prob_ == 0).any()
    np.testing.assert_allclose(plain.predict_proba(rare[200:]), model.predict_proba(rare[200:]), atol=1e-12)
