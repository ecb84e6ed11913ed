"""What a user relies on in the generative fit: recovery, labels of all kinds, verified rows, warnings, sampling."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from noisybayes import BernoulliINB, GaussianINB, MislabelClassifier, MixedINB, MultinomialINB, simulate
from noisybayes.model.matrix import IdentifiabilityWarning

EM = partial(BernoulliINB, method="em")


@pytest.fixture(scope="module")
def easy():
    """1,000 rows whose 60 features tell three classes well apart, with a quarter of the labels wrong."""
    rng = np.random.default_rng(0)
    data = simulate(1_000, n_features=60, n_classes=3, diagonal=(0.7, 0.8), random_state=rng)
    prob = rng.uniform(0.2, 0.8, (3, 60))
    return data._replace(X=(rng.random((1_000, 60)) < prob[data.true]).astype(float), feature_prob=prob)


def test_the_matrix_is_found_and_the_label_helps(easy):
    model = EM().fit(easy.X, easy.y)
    np.testing.assert_allclose(model.mislabel_matrix_, easy.mislabel_matrix, atol=0.08)
    assert model.converged_
    assert len(model.objective_history_) == model.n_iter_ + 1
    with_label = model.predict_true_proba(easy.X, easy.y)
    np.testing.assert_allclose(with_label.sum(axis=1), 1.0)
    assert np.mean(with_label.argmax(axis=1) == easy.true) > np.mean(model.predict(easy.X) == easy.true)
    assert np.mean(with_label.argmax(axis=1) == easy.true) > np.mean(easy.y == easy.true) + 0.1


@pytest.mark.parametrize(
    ("names", "missing"),
    [(["x", "y", "z"], ""), ([1, 2, 3], -1), ([1.0, 2.0, 3.0], np.nan), (["x", "y", "z"], None), ([1, 2, 3], None)],
)
def test_labels_keep_their_names_and_rows_without_one_help(easy, names, missing):
    """A third of the labels are gone; using those rows must not do worse than dropping them, by more than noise."""
    kind = object if missing is None else type(names[0])
    y = np.array(names, dtype=kind)[easy.y]
    gone = np.arange(len(y)) % 3 == 0
    y[gone] = missing
    model = EM(missing_label=np.nan if missing is None else missing).fit(easy.X, y)
    np.testing.assert_array_equal(model.classes_, names)
    dropped = EM().fit(easy.X[~gone], y[~gone].astype(type(names[0])))
    accuracy = [np.mean(m.predict(easy.X) == np.array(names)[easy.true]) for m in (model, dropped)]
    assert accuracy[0] > accuracy[1] - 0.01
    proba = model.predict_true_proba(easy.X[gone], y[gone])
    np.testing.assert_allclose(proba, model.predict_proba(easy.X[gone]), atol=1e-9)


def test_verified_labels_of_any_form(easy):
    known = np.random.default_rng(0).random(len(easy.y)) < 0.3
    forms = (
        np.where(known, easy.true, None),
        np.where(known, easy.true, np.nan),
        pd.Series(np.where(known, easy.true, 0), dtype="Int64").where(known),
    )
    first, *others = (EM().fit(easy.X, easy.y, verified=form).mislabel_matrix_ for form in forms)
    for other in others:
        np.testing.assert_array_equal(other, first)


def test_verified_rows_of_a_misnamed_class_put_it_right():
    """Class 2 is labeled 1 more often than 2: without help its name is lost, with verified rows it is not."""
    mislabel = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.55], [0.1, 0.1, 0.35]])
    rng = np.random.default_rng(0)
    true = rng.integers(3, size=1_500)
    y = rng.multinomial(1, mislabel.T[true]).argmax(axis=1)
    X = (rng.random((1_500, 40)) < rng.uniform(0.1, 0.9, (3, 40))[true]).astype(float)
    with pytest.warns(IdentifiabilityWarning, match="true classes 2 are given another label"):
        model = EM().fit(X, y, verified=np.where(np.arange(1_500) < 60, true, np.nan))
    np.testing.assert_allclose(model.mislabel_matrix_, mislabel, atol=0.07)


@pytest.mark.parametrize("structure", ["full", "symmetric", "uniform", "ordinal"])
def test_each_structure_recovers_its_own_kind(structure):
    matrix = {
        "full": np.array([[0.8, 0.3, 0.0], [0.2, 0.7, 0.1], [0.0, 0.0, 0.9]]),
        "symmetric": np.array([[0.7, 0.2, 0.1], [0.2, 0.8, 0.0], [0.1, 0.0, 0.9]]),
        "uniform": np.full((3, 3), 0.1) + 0.7 * np.eye(3),
        "ordinal": np.array([[0.7, 0.1, 0.05], [0.24, 0.8, 0.2], [0.06, 0.1, 0.75]]),
    }[structure]
    rng = np.random.default_rng(0)
    true = rng.integers(3, size=4_000)
    X = (rng.random((4_000, 40)) < rng.uniform(0.2, 0.8, (3, 40))[true]).astype(float)
    y = rng.multinomial(1, matrix.T[true]).argmax(axis=1)
    model = EM(mislabel=structure).fit(X, y)
    np.testing.assert_allclose(model.mislabel_matrix_, matrix, atol=0.03)
    pulled = EM(mislabel=structure, mislabel_prior=1e6 * np.eye(3)).fit(X, y).mislabel_matrix_
    assert np.diag(pulled).min() > 0.95 > np.diag(model.mislabel_matrix_).max()


def test_a_fit_that_was_cut_short_says_what_to_do(easy):
    with pytest.warns(ConvergenceWarning, match="max_iter=2 iterations.*raise max_iter"):
        model = EM(max_iter=2).fit(easy.X, easy.y)
    assert not model.converged_
    assert model.n_iter_ == 2


def test_mixed_blocks_by_name_position_and_guess():
    rng = np.random.default_rng(0)
    true = rng.integers(2, size=600)
    asked, counts = rng.random(600) < 0.2 + 0.6 * true, rng.poisson(np.array([[3, 5], [6, 2]])[true]).astype(float)
    columns = {"asked": asked * 1.0, "price": rng.normal(10 + 2 * true), "words": counts[:, 0], "n": counts[:, 1]}
    frame = pd.DataFrame(columns)
    y = np.where(rng.random(600) < 0.2, 1 - true, true)
    named = MixedINB([("bernoulli", ["asked"]), ("gaussian", ["price"]), ("multinomial", ["words", "n"])]).fit(frame, y)
    placed = MixedINB([("bernoulli", [0]), ("gaussian", 1), ("multinomial", slice(2, 4))]).fit(frame.to_numpy(), y)
    guessed = MixedINB().fit(frame, y)
    np.testing.assert_allclose(named.predict_proba(frame), placed.predict_proba(frame.to_numpy()))
    assert [list(columns) for _, columns in guessed.blocks_] == [[0], [1, 2, 3]]
    for model in (named, guessed):
        assert np.mean(model.predict(frame) == true) > 0.9


def test_samples_look_like_the_model(easy):
    model = EM().fit(easy.X, easy.y)
    X, observed, true = model.sample(20_000, random_state=0)
    assert X.shape == (20_000, 60)
    np.testing.assert_allclose(np.bincount(true) / 20_000, model.class_prior_, atol=0.02)
    share = np.array([[np.mean(observed[true == k] == label) for k in range(3)] for label in range(3)])
    np.testing.assert_allclose(share, model.mislabel_matrix_, atol=0.02)
    np.testing.assert_array_equal(model.sample(5, random_state=1)[0], model.sample(5, random_state=1)[0])


@pytest.mark.parametrize("make", [BernoulliINB, GaussianINB, MultinomialINB, MislabelClassifier])
def test_a_row_of_weight_zero_is_as_good_as_dropped(make):
    data = simulate(300, n_features=30, n_classes=3, diagonal=(0.7, 0.8), random_state=1)
    weight = np.random.default_rng(0).integers(0, 3, 300).astype(float)
    kept = weight > 0
    whole = make(random_state=0).fit(data.X, data.y, sample_weight=weight)
    fewer = make(random_state=0).fit(data.X[kept], data.y[kept], sample_weight=weight[kept])
    np.testing.assert_array_equal(whole.predict_proba(data.X), fewer.predict_proba(data.X))
    np.testing.assert_array_equal(whole.true_proba_[kept], fewer.true_proba_)
    np.testing.assert_array_equal(whole.true_proba_[~kept], fewer.predict_true_proba(data.X[~kept], data.y[~kept]))
