"""BayesANIL depends on the noise rate that it is given."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.naive_bayes import BernoulliNB, MultinomialNB

from paper.baselines import BayesANIL

from .small import TRUE, D, X, Y


def uniform(rate):
    return np.full((3, 3), rate / 2) + np.eye(3) * (1 - 1.5 * rate)


@pytest.mark.parametrize("event_model", ["bernoulli", "multinomial"])
def test_the_objective_never_falls(event_model):
    history = BayesANIL(event_model=event_model, noise_rate=0.3, tol=0).fit(X, Y).objective_history_
    assert len(history) > 3
    assert np.diff(history[:-1]).min() > -1e-10


@pytest.mark.parametrize(("event_model", "plain"), [("bernoulli", BernoulliNB()), ("multinomial", MultinomialNB())])
def test_without_noise_it_is_naive_bayes(event_model, plain):
    model = BayesANIL(noise_rate=0.0, event_model=event_model).fit(X, Y)
    np.testing.assert_allclose(model.true_proba_, np.eye(3)[Y])
    shares = (np.bincount(Y) + 1) / (len(Y) + 3)  # its classes have a pseudo-count too
    plain.set_params(class_prior=shares).fit(X, Y)
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X))


def mean_accuracy(given_rate, true_rate, n, d):
    """Over eight draws of three classes that overlap."""
    found = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        true, true_test = rng.integers(3, size=n), rng.integers(3, size=2_000)
        prob = np.clip(0.5 + 0.1 * rng.standard_normal((3, d)), 0.05, 0.95)
        rows, test = ((rng.random((len(labels), d)) < prob[labels]).astype(float) for labels in (true, true_test))
        y = rng.multinomial(1, uniform(true_rate).T[true]).argmax(axis=1)
        found.append(np.mean(BayesANIL(noise_rate=given_rate).fit(rows, y).predict(test) == true_test))
    return np.mean(found)


def test_a_rate_that_is_too_high_costs_accuracy():
    """The features outvote right labels."""
    right, doubled, far_off = (mean_accuracy(rate, 0.2, n=400, d=20) for rate in (0.2, 0.4, 0.6))
    assert right > doubled > far_off
    assert right > far_off + 0.05


def test_a_rate_that_is_too_low_costs_accuracy():
    """Wrong labels are learned."""
    right, none = (mean_accuracy(rate, 0.4, n=200, d=60) for rate in (0.4, 0.0))
    assert right > none + 0.02


def test_the_matrix_is_that_of_the_rate_and_parameters_are_counted():
    model = BayesANIL(noise_rate=0.3).fit(X, Y)
    np.testing.assert_allclose(model.mislabel_matrix_, uniform(0.3))
    assert model.n_parameters_ == 2 + 3 * D
    np.testing.assert_allclose(model.true_proba_.sum(axis=1), 1)


def test_a_verified_row_keeps_its_label():
    seen = np.arange(len(Y)) < 50
    model = BayesANIL(noise_rate=0.0).fit(X, Y, verified=np.where(seen, TRUE.astype(float), np.nan))
    np.testing.assert_allclose(model.true_proba_[seen], np.eye(3)[TRUE[seen]])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (BayesANIL(noise_rate=0.7), "noise_rate must be below 2/3 with 3 classes, got 0.7"),
        (BayesANIL(noise_rate=-0.1), "noise_rate must be a number from 0 to 1, got -0.1"),
        (BayesANIL(event_model="x"), "event_model must be one of 'bernoulli', 'multinomial', got 'x'"),
    ],
)
def test_bad_arguments_are_named(model, message):
    with pytest.raises(ValueError) as error:  # noqa: PT011
        model.fit(X, Y)
    assert str(error.value) == message


def test_words_are_not_negative():
    with pytest.raises(ValueError, match="Negative values in data passed to BayesANIL with event_model='multinomial'"):
        BayesANIL(event_model="multinomial").fit(-X, Y)
