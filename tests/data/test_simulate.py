from __future__ import annotations

import numpy as np
import pytest

from noisybayes import simulate
from noisybayes.data.simulate import OFF_DIAGONAL


def test_it_is_the_papers_generator():
    data = simulate(20_000, random_state=0)
    assert data.X.shape == (20_000, 500)
    assert set(np.unique(data.X)) == {0.0, 1.0}
    np.testing.assert_allclose(data.mislabel_matrix.sum(axis=0), 1.0)
    diagonal = np.diag(data.mislabel_matrix)
    assert ((diagonal >= 0.55) & (diagonal < 0.65)).all()
    # Uniform(0, 0.1) + Normal(0.65, 0.06)
    assert data.feature_prob.mean() == pytest.approx(0.70, abs=0.005)
    assert data.feature_prob.std() == pytest.approx(np.hypot(0.06, 0.1 / np.sqrt(12)), abs=0.005)
    means = np.array([data.X[data.true == k].mean(axis=0) for k in range(5)])
    np.testing.assert_allclose(means, data.feature_prob, atol=0.04)
    shares = np.array([[np.mean(data.y[data.true == k] == label) for k in range(5)] for label in range(5)])
    np.testing.assert_allclose(shares, data.mislabel_matrix, atol=0.03)


def test_the_first_class_is_three_times_as_large_when_unbalanced():
    data = simulate(50_000, n_features=2, balanced=False, random_state=0)
    np.testing.assert_allclose(np.bincount(data.true) / 50_000, [3 / 7, 1 / 7, 1 / 7, 1 / 7, 1 / 7], atol=0.01)


def test_right_labels_only():
    data = simulate(500, diagonal=(1.0, 1.0), random_state=0)
    np.testing.assert_array_equal(data.y, data.true)


@pytest.mark.parametrize("rule", OFF_DIAGONAL)
def test_no_class_is_favoured_by_its_number(rule):
    """Sticks are broken in random order, for instance."""
    made = (simulate(1, n_features=1, off_diagonal=rule, random_state=seed) for seed in range(2_000))
    matrices = [data.mislabel_matrix for data in made]
    np.testing.assert_allclose(np.sum(matrices, axis=1), 1.0)
    wrong = np.mean([(m - np.diag(np.diag(m))) for m in matrices], axis=0)
    off_diagonal = wrong[~np.eye(5, dtype=bool)]
    np.testing.assert_allclose(off_diagonal, 0.1, atol=0.01)


def test_the_rules_differ_in_how_uneven_the_shares_are():
    """Mean sum of squares of four shares: E[n] = 1/3 + E[n - 1] / 3 for sticks, 2 / (n + 1) for Dirichlet."""
    rng = np.random.default_rng(0)
    squares = {}
    for rule, draw in OFF_DIAGONAL.items():
        shares = np.array([draw(4, rng) for _ in range(20_000)])
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)
        assert (shares >= 0).all()
        squares[rule] = (shares**2).sum(axis=1).mean()
    assert squares["stick-breaking"] == pytest.approx(14 / 27, abs=0.005)
    assert squares["dirichlet"] == pytest.approx(2 / 5, abs=0.005)
    assert 1 / 4 < squares["uniform"] < 0.35


def test_the_rule_changes_the_matrix_only():
    one, other = (simulate(50, off_diagonal="uniform", diagonal=diagonal, random_state=1) for diagonal in HALVES)
    np.testing.assert_array_equal(one.X, other.X)
    np.testing.assert_array_equal(one.true, other.true)
    with pytest.raises(ValueError, match="off_diagonal must be one of 'stick-breaking', 'dirichlet', 'uniform', got 1"):
        simulate(off_diagonal=1)


HALVES = ((0.5, 0.6), (0.9, 1.0))


def test_a_seed_repeats_and_another_differs():
    one, same, other = (simulate(50, random_state=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.X, same.X)
    assert not np.array_equal(one.X, other.X)
    assert simulate(3, n_classes=1, random_state=0).mislabel_matrix.tolist() == [[1.0]]
