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

KINDS = {
    "uniform": uniform_noise,
    "pair": pair_noise,
    "ordinal": lambda K, rate: ordinal_noise(K, rate, 0.7),
    "structured": lambda K, rate: structured_noise(K, rate, np.random.default_rng(0)),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_classes", [2, 3, 120])
def test_columns_are_distributions_with_the_right_label_on_top(kind, n_classes):
    for rate in (0.0, 0.2, 0.4):
        matrix = KINDS[kind](n_classes, rate)
        np.testing.assert_allclose(matrix.sum(axis=0), 1.0)
        assert (matrix >= 0).all()
        assert (matrix.argmax(axis=0) == np.arange(n_classes)).all()
        assert 1 - np.diag(matrix).mean() == pytest.approx(rate)


def test_noise_by_hand():
    np.testing.assert_allclose(uniform_noise(3, 0.2), [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
    np.testing.assert_allclose(pair_noise(3, 0.2), [[0.8, 0, 0.2], [0.2, 0.8, 0], [0, 0.2, 0.8]])
    np.testing.assert_allclose(ordinal_noise(4, 0.2, np.log(2.0))[:, 0], [0.8, 0.2 * 4 / 7, 0.2 * 2 / 7, 0.2 / 7])
    matrix = majority_noise((0.3, 0.6, 0.1), 0.2)
    np.testing.assert_allclose(matrix, [[0.8, 0, 0.2 / 3], [0.2, 1, 0.4 / 3], [0, 0, 0.8]])
    structured = structured_noise(20, 0.2, np.random.default_rng(1))
    others = np.sort(structured - np.diag(np.diag(structured)), axis=0)
    assert (others[-3:].sum(axis=0) > 0.85 * others.sum(axis=0)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_noise_that_hides_the_classes_is_refused(kind):
    with pytest.raises(ValueError, match="class 0 would get another label at least as often as its own"):
        KINDS[kind](2, 0.7)
    with pytest.raises(ValueError, match=r"at least 2 classes and a rate in \[0, 1\), got 1 and 0.1"):
        KINDS[kind](1, 0.1)


@pytest.mark.parametrize("rate", [0.0, 0.2, 0.5])
def test_boundary_noise_is_where_the_classifier_hesitates_towards_its_second_choice(rate):
    rng, n = np.random.default_rng(0), 1_000
    true, proba = rng.integers(3, size=n), rng.dirichlet(np.ones(3), size=n)
    observed = boundary_noise(true, proba, rate, np.random.default_rng(1))
    wrong = observed != true
    assert wrong.sum() == round(rate * n)
    others = np.where(np.arange(3) == true[:, None], -1, proba)
    np.testing.assert_array_equal(observed[wrong], others.argmax(axis=1)[wrong])
    margin = np.abs(proba[np.arange(n), true] - others.max(axis=1))
    assert (np.argsort(np.argsort(margin))[wrong] < 2 * rate * n).all()
    with pytest.raises(ValueError, match="boundary noise needs a rate of at most 0.5, got 0.6"):
        boundary_noise(true, proba, 0.6, rng)
