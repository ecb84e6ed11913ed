"""scikit-learn's estimator checks, the places where INB must be scikit-learn's naive Bayes, and the precision of X."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB
from sklearn.utils.estimator_checks import parametrize_with_checks

from noisybayes import BernoulliINB, GaussianINB, MislabelClassifier, MixedINB, MultinomialINB

from ..contracts import cases


# scikit-learn's tiny random data need not converge nor be identifiable
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([BernoulliINB(), GaussianINB(method="em")])
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


WRAPPED = MislabelClassifier(LogisticRegression(), n_folds=3)


@pytest.mark.parametrize("estimator", [BernoulliINB(), MultinomialINB(), GaussianINB(), MixedINB(), WRAPPED])
def test_single_precision_and_whole_numbers_give_nearly_the_same(estimator):
    X, y, _ = labeled(cases.bernoulli_rows)
    types = (float, np.float32, np.int8, bool)
    double, single, *whole = (clone(estimator).fit(X.astype(dtype), y) for dtype in types)
    np.testing.assert_allclose(single.true_proba_, double.true_proba_, atol=1e-3)
    for other in whole:
        np.testing.assert_allclose(other.true_proba_, double.true_proba_, atol=1e-6)
