"""scikit-learn's estimator checks, the places where INB must be scikit-learn's naive Bayes, and the precision of X."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from noisybayes import BernoulliINB, GaussianINB, MislabelClassifier, MixedINB, MultinomialINB

from ..contracts import cases

WRAPPED = MislabelClassifier(LogisticRegression(), n_folds=3)


# scikit-learn's tiny random data need not converge nor be identifiable
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [BernoulliINB(), MultinomialINB(), GaussianINB(), MixedINB(), GaussianINB(method="em"), WRAPPED]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def labeled(make, seed=1):
    rng = np.random.default_rng(seed)
    true = rng.integers(cases.K, size=300)
    return make(rng, true), np.array(["b", "a", "c"])[true], rng.integers(1, 4, 300).astype(float)


@pytest.mark.parametrize(
    ("make", "ours", "theirs"),
    [
        (cases.bernoulli_rows, BernoulliINB(alpha=1.0), BernoulliNB(alpha=1.0)),
        (cases.sparse_rows(cases.bernoulli_rows), BernoulliINB(alpha=0.3, binarize=None), BernoulliNB(alpha=0.3)),
        (cases.gaussian_rows, GaussianINB(alpha=0.0), GaussianNB()),
        (lambda rng, true: 1e8 + cases.gaussian_rows(rng, true), GaussianINB(alpha=0.0), GaussianNB()),
        (cases.count_rows, MultinomialINB(alpha=1.0), MultinomialNB(alpha=1.0)),
        (cases.sparse_rows(cases.count_rows), MultinomialINB(alpha=0.2), MultinomialNB(alpha=0.2)),
        (cases.bernoulli_rows, MixedINB(alpha=1.0), BernoulliNB(alpha=1.0)),
    ],
)
def test_without_mislabeling_it_is_scikit_learns_naive_bayes(make, ours, theirs):
    X, y, weights = labeled(make)
    for weight in (None, weights):
        ours = clone(ours).set_params(method="em", mislabel=np.eye(cases.K)).fit(X, y, sample_weight=weight)
        theirs = clone(theirs).fit(X, y, sample_weight=weight)
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    if isinstance(ours, GaussianINB):
        np.testing.assert_allclose(ours.theta_, theirs.theta_)
        np.testing.assert_allclose(ours.var_, theirs.var_, rtol=1e-6)
    if isinstance(ours, BernoulliINB):
        np.testing.assert_allclose(ours.feature_prob_, np.exp(theirs.feature_log_prob_))
        np.testing.assert_allclose(ours.class_prior_, np.exp(theirs.class_log_prior_))


# its own search must not stop early in single precision
CONVERGED = MislabelClassifier(LogisticRegression(tol=1e-8, max_iter=5_000), n_folds=3)


@pytest.mark.parametrize("estimator", [BernoulliINB(), MultinomialINB(), GaussianINB(), MixedINB(), CONVERGED])
def test_single_precision_and_whole_numbers_give_nearly_the_same(estimator):
    X, y, _ = labeled(cases.bernoulli_rows)
    types = (float, np.float32, np.int8, bool)
    double, single, *whole = (clone(estimator).fit(X.astype(dtype), y) for dtype in types)
    np.testing.assert_allclose(single.true_proba_, double.true_proba_, atol=1e-3)
    for other in whole:
        np.testing.assert_allclose(other.true_proba_, double.true_proba_, atol=1e-6)


def test_search_over_settings_clone_and_routing_of_verified_labels():
    X, y, weight = labeled(cases.bernoulli_rows)
    verified = np.where(np.arange(300) % 10 == 0, y, None)
    with sklearn.config_context(enable_metadata_routing=True):
        model = BernoulliINB().set_fit_request(verified=True, sample_weight=True).set_score_request(sample_weight=False)
        search = GridSearchCV(model, {"mislabel": ["full", "uniform"], "alpha": ["auto", 1.0]}, cv=3)
        search.fit(X, y, verified=verified, sample_weight=weight)
        pipeline = make_pipeline(FunctionTransformer(), clone(model)).fit(X, y, verified=verified, sample_weight=weight)
    assert search.best_score_ > 0.5
    known = np.flatnonzero(verified != None)  # noqa: E711
    true = pipeline[-1].true_proba_[known].argmax(axis=1)
    np.testing.assert_array_equal(pipeline[-1].classes_[true], verified[known])
    assert set_config_of(search.best_estimator_) <= {"mislabel", "alpha"}


def set_config_of(model):
    defaults = type(model)().get_params()
    return {name for name, value in model.get_params().items() if value != defaults[name]}


@pytest.mark.filterwarnings("ignore::noisybayes.model.matrix.IdentifiabilityWarning")
@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.csr_matrix])
@pytest.mark.parametrize("make", [BernoulliINB, MultinomialINB, GaussianINB, MixedINB])
def test_every_form_of_sparse_rows_is_accepted(make, form):
    X, y, _ = labeled(cases.bernoulli_rows)
    first, other = make(method="em").fit(sparse.csr_array(X), y), make(method="em").fit(form(X), y)
    np.testing.assert_allclose(other.predict_proba(form(X)), first.predict_proba(X), atol=1e-9)


def test_missing_numbers_cost_little():
    rng = np.random.default_rng(0)
    true = rng.integers(3, size=600)
    X = rng.normal(0, 1, (3, 8))[true] + rng.normal(size=(600, 8))
    y = np.where(rng.random(600) < 0.2, rng.integers(3, size=600), true)
    gaps = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    for make in (GaussianINB, MixedINB):
        whole, partly = make().fit(X, y), make().fit(gaps, y)
        assert np.mean(partly.predict(gaps) == true) > np.mean(whole.predict(X) == true) - 0.05
        np.testing.assert_allclose(partly.predict_proba(np.full((1, 8), np.nan))[0], partly.class_prior_, atol=0.1)
    with pytest.raises(ValueError, match="NaN, which only dense X may"):
        GaussianINB().fit(sparse.csr_array(gaps), y)
    with pytest.raises(ValueError, match="NaN in a block of the family Bernoulli; only Gaussian columns may"):
        MixedINB([("bernoulli", [0]), ("gaussian", range(1, 8))]).fit(np.where(np.isnan(gaps), np.nan, gaps > 0), y)
    with pytest.raises(ValueError, match="Input X contains NaN"):
        BernoulliINB().fit(gaps, y)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_a_mixed_frame_needs_no_encoding(library):
    rng = np.random.default_rng(0)
    true = rng.integers(2, size=600)
    colors = np.where(rng.random(600) < 0.8, np.array(["red", "blue"])[true], "green").astype(object)
    colors[::50] = None
    price = rng.normal(10 + 2 * true)
    price[3] = np.nan
    frame = library({"color": colors.tolist(), "asked": rng.random(600) < 0.2 + 0.6 * true, "price": price})
    y = np.where(rng.random(600) < 0.2, 1 - true, true)
    model = MixedINB().fit(frame, y)
    assert np.mean(model.predict(frame) == true) > 0.95
    assert [len(columns) for _, columns in model.blocks_] == [4, 1]
    assert model.feature_names_in_.tolist() == ["color", "asked", "price"]
    new = library({"color": ["violet"], "asked": [True], "price": [np.nan]})
    assert np.isfinite(model.predict_proba(new)).all()
    named = MixedINB([("bernoulli", ["color", "asked"]), ("gaussian", ["price"])]).fit(frame, y)
    np.testing.assert_allclose(named.predict_proba(frame), model.predict_proba(frame), atol=1e-9)
    with pytest.raises(ValueError, match="the column 'color' has categories; put it in a block of 'bernoulli'"):
        MixedINB([("gaussian", ["color", "price"]), ("bernoulli", ["asked"])]).fit(frame, y)
    with pytest.raises(ValueError, match="X must be a data frame: the model was fitted on one with categories"):
        model.predict(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="the column 'color' has 600 categories|feature names"):
        MixedINB().fit(library({"color": [str(i) for i in range(600)], "price": price}), y).predict(frame)


def test_columns_that_are_not_yes_or_no_are_named():
    X, y, _ = labeled(cases.bernoulli_rows)
    X[0, 3], X[5, 7] = 2.0, -1.0
    message = r"the columns {} of X contain values other than 0 and 1; they count as 1 above binarize=0.0 and as 0"
    for form, names in ((X, "3, 7"), (sparse.csr_array(X), "3, 7"), (pd.DataFrame(X).add_prefix("c"), "c3, c7")):
        with pytest.warns(UserWarning, match=message.format(names)):
            BernoulliINB().fit(form, y)


@pytest.mark.parametrize(("rate", "gain"), [(0.1, 0.0), (0.3, 0.03)])
def test_new_rows_are_classified_better_than_by_naive_bayes_of_the_labels(rate, gain):
    X, true = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    y = np.where(rng.random(len(true)) < rate, (true + rng.integers(1, 10, len(true))) % 10, true)
    model = GaussianINB().fit(X[::2], y[::2])
    plain = GaussianNB(var_smoothing=1e-3).fit(X[::2], y[::2])
    assert np.mean(model.predict(X[1::2]) == true[1::2]) > np.mean(plain.predict(X[1::2]) == true[1::2]) + gain
