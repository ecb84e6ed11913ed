"""One set of laws over all baselines."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from noisybayes.baselines import BASELINES

from .needs_torch import torch

D = 60
NAMES = np.array(["red", "green", "blue"])
#: 30 % of the labels of two classes are wrong, all in one direction; columns are true classes.
CHANNEL = np.array([[0.7, 0.0, 0.1], [0.3, 0.7, 0.1], [0.0, 0.3, 0.8]])
QUICK = {"hidden_layer_sizes": 20, "learning_rate": 0.01, "max_epochs": 30, "patience": 5, "random_state": 0}
over_baselines = pytest.mark.parametrize("name", BASELINES)
over_noise_layers = pytest.mark.parametrize("name", [name for name in BASELINES if name != "network"])


def draw(n, seed):
    """Binary features that tell three classes apart almost without fail; observed and true labels as codes."""
    rng = np.random.default_rng(seed)
    true = rng.integers(3, size=n)
    prob = np.random.default_rng(99).uniform(0.1, 0.9, (3, D))
    X = (rng.random((n, D)) < prob[true]).astype(float)
    return X, rng.multinomial(1, CHANNEL.T[true]).argmax(axis=1), true


X, Y, TRUE = draw(400, seed=0)
X_TEST, _, TRUE_TEST = draw(1_000, seed=1)


def quick(name, **changes):
    return BASELINES[name](**QUICK | changes)


def accuracy(model):
    return np.mean(model.predict(X_TEST) == TRUE_TEST)


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([quick(name, learning_rate=0.03, max_epochs=12) for name in BASELINES])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@over_baselines
def test_the_same_seed_gives_the_same_fit_and_another_one_another(name):
    first, second, other = (quick(name, random_state=seed).fit(X, Y).predict_proba(X_TEST) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, second)
    assert np.abs(first - other).max() > 1e-3


@over_baselines
def test_no_global_state_is_read_or_changed(name):
    torch.manual_seed(5)
    before = torch.get_rng_state(), np.random.get_state()[1].copy(), torch.get_num_threads()  # noqa: NPY002
    first = quick(name, random_state=None).fit(X, Y)
    assert torch.equal(torch.get_rng_state(), before[0])
    np.testing.assert_array_equal(np.random.get_state()[1], before[1])  # noqa: NPY002
    assert torch.get_num_threads() == before[2]
    torch.manual_seed(6)
    second = quick(name, random_state=None).fit(X, Y)
    np.testing.assert_array_equal(first.predict_proba(X_TEST), second.predict_proba(X_TEST))


@over_baselines
def test_sparse_rows_give_what_dense_rows_give(name):
    dense = quick(name).fit(X, Y)
    for make in (sparse.csr_array, sparse.csr_matrix, sparse.coo_array):
        thin = quick(name).fit(make(X), Y)
        np.testing.assert_allclose(thin.predict_proba(make(X_TEST)), dense.predict_proba(X_TEST), atol=1e-5)
        np.testing.assert_allclose(thin.mislabel_matrix_, dense.mislabel_matrix_, atol=1e-5)


@over_baselines
def test_strings_are_learned_as_their_codes_are(name):
    seen = np.arange(len(Y)) < 20
    strings = quick(name).fit(X, NAMES[Y], verified=np.where(seen, NAMES[TRUE], None))
    assert strings.classes_.tolist() == ["blue", "green", "red"]
    code = np.array([2, 1, 0])  # of red, green and blue
    codes = quick(name).fit(X, code[Y], verified=np.where(seen, code[TRUE], np.nan))
    np.testing.assert_array_equal(strings.predict(X_TEST), strings.classes_[codes.predict(X_TEST)])
    np.testing.assert_array_equal(strings.mislabel_matrix_, codes.mislabel_matrix_)


@over_baselines
def test_clean_labels_are_learned(name):
    model = quick(name).fit(X, TRUE)
    assert accuracy(model) > 0.9
    assert np.diag(model.mislabel_matrix_).min() > 0.8


@over_baselines
def test_the_matrix_and_the_probabilities_are_such(name):
    model = quick(name).fit(X, Y)
    assert model.mislabel_matrix_.shape == (3, 3)
    assert (model.mislabel_matrix_ >= 0).all()
    np.testing.assert_allclose(model.mislabel_matrix_.sum(axis=0), 1.0)
    proba = model.predict_proba(X_TEST)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(X_TEST), proba.argmax(axis=1))


@pytest.fixture(scope="module")
def by_seed():
    """Fits with default settings to three noisy samples."""
    samples = [draw(1_000, seed=10 + seed) for seed in range(3)]
    return {
        name: [make(random_state=seed).fit(*sample[:2]) for seed, sample in enumerate(samples)]
        for name, make in BASELINES.items()
    }


@over_noise_layers
def test_a_noise_layer_costs_no_accuracy(name, by_seed):
    mean = {key: np.mean([accuracy(model) for model in by_seed[key]]) for key in ("network", name)}
    assert mean[name] > mean["network"] - 0.02
    assert mean[name] > 0.9


@over_noise_layers
def test_the_matrix_is_found_roughly(name, by_seed):
    """Too clean, as rows that were learned from seem to be; but clearly nearer to the truth than no noise at all is."""
    found = np.mean([model.mislabel_matrix_ for model in by_seed[name]], axis=0)
    assert np.abs(found - CHANNEL).mean() < 0.75 * np.abs(np.eye(3) - CHANNEL).mean()
    # the commonest mistake of classes 0 and 1
    wrong = found - np.diag(np.diag(found))
    assert wrong.argmax(axis=0)[:2].tolist() == [1, 2]


def test_the_simple_layer_finds_the_matrix(by_seed):
    found = np.mean([model.mislabel_matrix_ for model in by_seed["nal"]], axis=0)
    assert np.abs(found - CHANNEL).max() < 0.15


@over_baselines
def test_verified_labels_are_believed(name):
    half = np.arange(len(Y)) % 2 == 0
    verified = np.where(half, TRUE.astype(float), np.nan)
    # all labels are wrong, so that only the verified ones can teach which class is which
    model, wrong = quick(name), (TRUE + 1) % 3
    assert accuracy(clone(model).fit(X, wrong)) < 0.1
    model.fit(X, wrong, verified=verified)
    everything = clone(model).fit(X, wrong, verified=TRUE)
    assert accuracy(everything) > 0.9
    if name != "network":
        assert everything.mislabel_matrix_[[1, 2, 0], [0, 1, 2]].min() > 0.8
        assert accuracy(model) > 0.8


@over_baselines
def test_verifying_nothing_changes_nothing(name):
    with_none = quick(name).fit(X, Y, verified=[None] * len(Y))
    np.testing.assert_array_equal(with_none.predict_proba(X_TEST), quick(name).fit(X, Y).predict_proba(X_TEST))


@over_baselines
def test_it_can_be_cloned_copied_and_pickled(name):
    model = BASELINES[name](hidden_layer_sizes=(8, 4), max_epochs=3)
    assert clone(model).get_params() == model.get_params()
    assert model.get_params()["hidden_layer_sizes"] == (8, 4)
    model.fit(X, Y)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict_proba(X_TEST), model.predict_proba(X_TEST))


@pytest.mark.parametrize(
    ("name", "in_the_layer"), [("network", 0), ("nlnn", 9), ("nal", 9), ("nal-complex", 9 * (4 + 1))]
)
def test_parameters_and_rounds_are_counted(name, in_the_layer):
    model = quick(name, hidden_layer_sizes=(8, 4)).fit(X, Y)
    assert model.n_parameters_ == (D * 8 + 8) + (8 * 4 + 4) + (4 * 3 + 3) + in_the_layer
    assert 1 <= model.n_iter_ <= model.n_epochs_


def test_the_best_round_of_em_is_kept():
    model = BASELINES["nlnn"](random_state=0).fit(X, Y)
    history = model.objective_history_
    assert len(history) == model.n_iter_ + 1
    assert history.max() >= history[-1]
    assert (np.diff(history)[:-1] >= model.tol).all()
