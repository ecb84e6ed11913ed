"""The caller chooses the precision of a fit by that of X."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from noisybayes import BernoulliINB, MislabelClassifier, MultinomialINB, simulate

DATA = simulate(400, n_features=30, n_classes=3, diagonal=(0.8, 0.9), random_state=0)


@pytest.mark.parametrize("estimator", [BernoulliINB, MultinomialINB])
def test_single_precision_tells_the_same_of_the_rows(estimator):
    double = estimator().fit(DATA.X, DATA.y)
    single = estimator().fit(DATA.X.astype(np.float32), DATA.y)
    assert (double.true_proba_.dtype, single.true_proba_.dtype) == (np.float64, np.float32)
    np.testing.assert_allclose(single.true_proba_, double.true_proba_, atol=1e-3)
    assert single.noise_rate_ == pytest.approx(double.noise_rate_, abs=1e-4)


@pytest.fixture(scope="module")
def fitted_to_floats():
    return MislabelClassifier(LogisticRegression()).fit(DATA.X, DATA.y)


@pytest.mark.parametrize("dtype", [np.int8, np.int64, bool])
def test_whole_numbers_are_features_of_any_classifier(dtype, fitted_to_floats):
    whole = MislabelClassifier(LogisticRegression()).fit(DATA.X.astype(dtype), DATA.y)
    np.testing.assert_allclose(whole.true_proba_, fitted_to_floats.true_proba_, atol=1e-6)
