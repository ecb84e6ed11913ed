"""Laws of the default fit: weights are repeated rows, and neither their order nor the names of classes matter."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from noisybayes import MislabelClassifier, simulate

from .cases import MODELS

N = 240
DATA = simulate(N, n_features=30, n_classes=3, diagonal=(0.85, 0.95), random_state=1)
# numbers, so that no two rows are equal, whatever a family makes of them
X = np.round(2 * DATA.X + np.random.default_rng(2).random(DATA.X.shape), 3)
#: How often each row counts: not at all, or some times.
WEIGHT = np.random.default_rng(3).integers(0, 5, size=N)
REGRESSION = LogisticRegression(C=0.1, solver="newton-cholesky", tol=1e-8)
ALL = {**MODELS, "logistic regression": lambda **how: MislabelClassifier(REGRESSION, **how)}
# the tables are small, and some made to mislead
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*contain values other than 0 and 1"),
    pytest.mark.filterwarnings("ignore::noisybayes.model.matrix.IdentifiabilityWarning"),
]


def rows_for(name):
    return (X >= 2).astype(float) * X if name in ("bernoulli", "multinomial", "mixed") else X


def assert_same(first, second, of, tolerance=1e-7):
    np.testing.assert_allclose(second.mislabel_matrix_, first.mislabel_matrix_, atol=tolerance)
    np.testing.assert_allclose(second.predict_proba(of), first.predict_proba(of), atol=tolerance)


@pytest.mark.parametrize("name", ALL)
def test_a_weight_is_as_good_as_so_many_equal_rows(name):
    X = rows_for(name)
    weighted = ALL[name]().fit(X, DATA.y, sample_weight=WEIGHT)
    repeated = ALL[name]().fit(np.repeat(X, WEIGHT, axis=0), np.repeat(DATA.y, WEIGHT))
    assert_same(weighted, repeated, X)
    first = np.flatnonzero(WEIGHT)
    starts = np.concatenate([[0], np.cumsum(WEIGHT[first])[:-1]])
    mean = np.add.reduceat(repeated.true_proba_, starts) / WEIGHT[first, None]  # copies may be in several folds
    np.testing.assert_allclose(weighted.true_proba_[first], mean, atol=1e-7)


@pytest.mark.parametrize("name", ALL)
def test_fractions_of_rows_are_weights_too(name):
    X = rows_for(name)
    whole, half = (ALL[name]().fit(X, DATA.y, sample_weight=np.full(N, weight)) for weight in (1.0, 1.0 + 1e-9))
    assert_same(whole, half, X, 1e-4)


@pytest.mark.parametrize("name", ALL)
def test_the_order_of_rows_changes_nothing(name):
    X, order = rows_for(name), np.random.default_rng(4).permutation(N)
    given, reordered = ALL[name]().fit(X, DATA.y), ALL[name]().fit(X[order], DATA.y[order])
    assert_same(given, reordered, X)
    np.testing.assert_allclose(reordered.true_proba_, given.true_proba_[order], atol=1e-7)


@pytest.mark.parametrize("name", ALL)
def test_renaming_classes_renames_the_answer(name):
    X, order = rows_for(name), np.array([2, 0, 1])
    given, renamed = ALL[name]().fit(X, DATA.y), ALL[name]().fit(X, order[DATA.y])
    np.testing.assert_allclose(renamed.true_proba_[:, order], given.true_proba_, atol=1e-4)
    np.testing.assert_allclose(renamed.predict_proba(X)[:, order], given.predict_proba(X), atol=1e-4)


@pytest.mark.parametrize("name", ALL)
def test_a_verified_row_keeps_its_label(name):
    verified = np.where(np.arange(N) < 20, (DATA.true + 1) % 3, np.nan)
    model = ALL[name]().fit(rows_for(name), DATA.y, verified=verified)
    np.testing.assert_array_equal(model.true_proba_[:20], np.eye(3)[verified[:20].astype(int)])


@pytest.mark.parametrize("name", ALL)
def test_rows_without_a_label_are_scored_and_teach_nothing(name):
    X, missing = rows_for(name), np.arange(N) % 7 == 0
    model = ALL[name](missing_label=-1).fit(X, np.where(missing, -1, DATA.y))
    without = ALL[name]().fit(X[~missing], DATA.y[~missing])
    np.testing.assert_allclose(model.true_proba_.sum(axis=1), 1.0)
    np.testing.assert_allclose(model.true_proba_[~missing], without.true_proba_, atol=0.05)


@pytest.mark.parametrize("name", MODELS)
def test_where_features_never_differ_labels_are_taken_as_given(name):
    same = np.repeat(rows_for(name)[:1], N, axis=0)
    verified = np.where(np.arange(N) < 10, (DATA.y + 1) % 3, np.nan)
    with pytest.warns(UserWarning, match="all rows have the same features, so labels are taken as given"):
        model, helped = (ALL[name]().fit(same, DATA.y, verified=known) for known in (None, verified))
    np.testing.assert_array_equal(helped.true_proba_[:10].argmax(axis=1), verified[:10])
    np.testing.assert_array_equal(model.mislabel_matrix_, np.eye(3))
    assert model.noise_rate_ == 0.0
    np.testing.assert_allclose(model.predict_proba(same[:1])[0], np.bincount(DATA.y) / N, atol=1e-4)
