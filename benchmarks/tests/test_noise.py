from __future__ import annotations

import numpy as np
import pytest

from benchmarks.data.noise import (
    boundary_noise,
    majority_noise,
    ordinal_noise,
    pair_noise,
    structured_noise,
    uniform_noise,
)

RNG = np.random.default_rng(0)
KINDS = {
    "uniform": uniform_noise,
    "pair": pair_noise,
    "ordinal": lambda K, rate: ordinal_noise(K, rate, 0.7),
    "structured": lambda K, rate: structured_noise(K, rate, RNG),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_classes", [2, 3, 20, 120])
@pytest.mark.parametrize("rate", [0.0, 0.1, 0.2, 0.4])
def test_columns_are_distributions_with_the_right_label_on_top(kind, n_classes, rate):
    matrix = KINDS[kind](n_classes, rate)
    np.testing.assert_allclose(matrix.sum(axis=0), 1.0)
    assert (matrix >= 0).all()
    assert (matrix.argmax(axis=0) == np.arange(n_classes)).all()
    assert 1 - np.diag(matrix).mean() == pytest.approx(rate)


def test_uniform_noise_is_even_and_pair_noise_goes_to_the_next_class():
    np.testing.assert_allclose(uniform_noise(3, 0.2), [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
    np.testing.assert_allclose(pair_noise(3, 0.2), [[0.8, 0, 0.2], [0.2, 0.8, 0], [0, 0.2, 0.8]])


def test_ordinal_noise_falls_off_with_the_distance():
    first = ordinal_noise(4, 0.2, np.log(2.0))[:, 0]
    np.testing.assert_allclose(first, [0.8, 0.2 * 4 / 7, 0.2 * 2 / 7, 0.2 / 7])


def test_structured_noise_has_a_few_favourites_and_differs_between_classes():
    matrix = structured_noise(20, 0.2, np.random.default_rng(1))
    others = np.sort(matrix - np.diag(np.diag(matrix)), axis=0)
    assert (others[-3:].sum(axis=0) > 0.85 * others.sum(axis=0)).all()
    assert (others[1:] > 0).all()
    assert np.ptp(np.diag(matrix)) > 0.02
    np.testing.assert_array_equal(matrix, structured_noise(20, 0.2, np.random.default_rng(1)))


@pytest.mark.parametrize("kind", KINDS)
def test_noise_that_hides_the_classes_is_refused(kind):
    with pytest.raises(ValueError, match="class 0 would get another label at least as often as its own"):
        KINDS[kind](2, 0.7)
    with pytest.raises(ValueError, match=r"at least 2 classes and a rate in \[0, 1\), got 1 and 0.1"):
        KINDS[kind](1, 0.1)
    with pytest.raises(ValueError, match="got 3 and 1.5"):
        KINDS[kind](3, 1.5)


def test_majority_noise_goes_to_larger_classes_in_proportion_to_their_shares():
    matrix = majority_noise((0.3, 0.6, 0.1), 0.2)
    np.testing.assert_allclose(matrix, [[0.8, 0, 0.2 / 3], [0.2, 1, 0.4 / 3], [0, 0, 0.8]])
    np.testing.assert_allclose(majority_noise((0.5, 0.5), 0.2), np.eye(2))  # no class is larger than the other
    with pytest.raises(ValueError, match="class 1 would get another label at least as often as its own"):
        majority_noise((0.9, 0.1), 0.5)


def hesitant(n=1_000, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(n_classes, size=n), rng.dirichlet(np.ones(n_classes), size=n)


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.2, 0.5])
def test_boundary_noise_is_where_the_classifier_hesitates_towards_its_runner_up(rate):
    true, proba = hesitant()
    before = true.copy(), proba.copy()
    observed = boundary_noise(true, proba, rate, np.random.default_rng(1))
    wrong = observed != true
    assert wrong.sum() == round(rate * 1_000)
    rows = np.arange(1_000)
    others = np.where(np.arange(3) == true[:, None], -1, proba)
    np.testing.assert_array_equal(observed[wrong], others.argmax(axis=1)[wrong])
    margin = np.abs(proba[rows, true] - others.max(axis=1))
    assert (np.argsort(np.argsort(margin))[wrong] < 2 * rate * 1_000).all()
    np.testing.assert_array_equal(observed, boundary_noise(true, proba, rate, np.random.default_rng(1)))
    for value, kept in zip((true, proba), before, strict=True):
        np.testing.assert_array_equal(value, kept)


def test_boundary_noise_has_no_room_for_more_than_half_of_the_rows():
    with pytest.raises(ValueError, match="boundary noise needs a rate of at most 0.5, got 0.6"):
        boundary_noise(*hesitant(), 0.6, np.random.default_rng(0))
    with pytest.raises(ValueError, match="got 3 and 1.5"):
        boundary_noise(*hesitant(), 1.5, np.random.default_rng(0))
