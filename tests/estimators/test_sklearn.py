"""All of scikit-learn's estimator checks, and the places where INB must be scikit-learn's naive Bayes."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from noisybayes import BernoulliINB, GaussianINB, MixedINB, MultinomialINB
from noisybayes.estimators import inb_model

from ..contracts import cases

CLASSES = [BernoulliINB, MultinomialINB, GaussianINB, MixedINB]
ESTIMATORS = [make() for make in CLASSES] + [make(method="em") for make in CLASSES]


def once_for_equal_rows(fit):
    """The robust fit, or what it found when it was given exactly the same rows and settings."""
    found = {}

    def remembered(data, problem, *rest):
        given = pickle.dumps((data.parts, problem))
        if given not in found:
            found[given] = fit(data, problem, *rest)
        return found[given]

    return remembered


# scikit-learn's tiny random data need not converge nor be identifiable
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [*ESTIMATORS, BernoulliINB.paper(), GaussianINB(method="em", start="random", mislabel="symmetric", max_iter=50)]
)
def test_scikit_learn_checks(estimator, check, monkeypatch):
    if "check_estimator_sparse" in str(check):  # all formats of sparse arrays become the same rows
        monkeypatch.setattr(inb_model.robust, "fit", once_for_equal_rows(inb_model.robust.fit))
    check(estimator)


def labeled(make, seed=1):
    rng = np.random.default_rng(seed)
    true = rng.integers(cases.K, size=300)
    return make(rng, true), np.array(["b", "a", "c"])[true], rng.integers(1, 4, 300).astype(float)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("make", "ours", "theirs"),
    [
        (cases.bernoulli_rows, BernoulliINB(alpha=1.0), BernoulliNB(alpha=1.0)),
        (cases.bernoulli_rows, BernoulliINB(alpha=0.3, binarize=None), BernoulliNB(alpha=0.3)),
        (cases.sparse_rows(cases.bernoulli_rows), BernoulliINB(alpha=0.5), BernoulliNB(alpha=0.5)),
        (cases.gaussian_rows, GaussianINB(alpha=0.0), GaussianNB()),
        (lambda rng, true: 1e8 + cases.gaussian_rows(rng, true), GaussianINB(alpha=0.0), GaussianNB()),
        (cases.count_rows, MultinomialINB(alpha=1.0), MultinomialNB(alpha=1.0)),
        (cases.sparse_rows(cases.count_rows), MultinomialINB(alpha=0.2), MultinomialNB(alpha=0.2)),
        (cases.bernoulli_rows, MixedINB(alpha=1.0), BernoulliNB(alpha=1.0)),
        (cases.gaussian_rows, MixedINB(alpha=0.0), GaussianNB()),
    ],
)
def test_without_mislabeling_it_is_scikit_learns_naive_bayes(make, ours, theirs, weighted):
    X, y, weight = labeled(make)
    weight = weight if weighted else None
    ours = clone(ours).set_params(method="em", mislabel=np.eye(cases.K)).fit(X, y, sample_weight=weight)
    theirs = clone(theirs).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_the_fitted_attributes_are_those_of_scikit_learn_where_both_have_them():
    X, y, _ = labeled(cases.gaussian_rows)
    ours, theirs = GaussianINB(method="em", alpha=0, mislabel=np.eye(3)).fit(X, y), GaussianNB().fit(X, y)
    np.testing.assert_allclose(ours.theta_, theirs.theta_)
    np.testing.assert_allclose(ours.var_, theirs.var_, rtol=1e-6)
    X, y, _ = labeled(cases.bernoulli_rows)
    ours, theirs = BernoulliINB(method="em", alpha=1, mislabel=np.eye(3)).fit(X, y), BernoulliNB().fit(X, y)
    np.testing.assert_allclose(ours.feature_prob_, np.exp(theirs.feature_log_prob_))
    np.testing.assert_allclose(ours.class_prior_, np.exp(theirs.class_log_prior_))


@pytest.mark.parametrize("estimator", ESTIMATORS[:4], ids=lambda e: type(e).__name__)
def test_single_precision_gives_nearly_the_same(estimator):
    make = {"MultinomialINB": cases.count_rows, "GaussianINB": cases.gaussian_rows}
    X, y, _ = labeled(make.get(type(estimator).__name__, cases.bernoulli_rows))
    fit = {"method": "em", "alpha": 1.0, "max_iter": 5, "tol": 0.0}
    with pytest.warns(match="not converged"):
        double = clone(estimator).set_params(**fit).fit(X, y)
    with pytest.warns(match="not converged"):
        single = clone(estimator).set_params(**fit).fit(X.astype(np.float32), y)
    np.testing.assert_allclose(single.mislabel_matrix_, double.mislabel_matrix_, atol=1e-3)
    assert single.predict_proba(X.astype(np.float32)).dtype == np.float32


def test_it_works_in_a_pipeline():
    X, y, _ = labeled(cases.bernoulli_rows)
    pipeline = make_pipeline(FunctionTransformer(sparse.csr_array), BernoulliINB()).fit(X, y)
    np.testing.assert_array_equal(pipeline.predict(X), BernoulliINB().fit(X, y).predict(X))
