"""The equations of Section 2.4 against exact probabilities and against simulated data."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.data.noise import uniform_noise

from paper.impact import CASES, CONFUSING, IMPACT, N_CONTRAST
from paper.impact_theory import confusing_matrix, constant_rate, one_confusing_class, two_classes
from paper.methods import METHODS

BY_CASE = pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)


def exact(matrix, first, others):
    """P(Y = k | x = 1) for every k, by summing over the true labels."""
    K = len(matrix)
    prob = np.full(K, others)
    prob[0] = first
    joint = matrix @ (prob / K)
    return joint / joint.sum()


@pytest.mark.parametrize("right", [0.55, 0.7, 0.95])
def test_two_classes(right):
    observed = exact(uniform_noise(2, 1 - right), 0.7, 0.2)
    assert two_classes(0.7, 0.2, right) == pytest.approx(observed[0] - observed[1])
    assert constant_rate(0.7, 0.2, right, 2) == pytest.approx(two_classes(0.7, 0.2, right))


@pytest.mark.parametrize("n_classes", [3, 8])
def test_constant_rate(n_classes):
    observed = exact(uniform_noise(n_classes, 0.4), 0.7, 0.2)
    assert constant_rate(0.7, 0.2, 0.6, n_classes) == pytest.approx(observed[0] - observed[1])


@pytest.mark.parametrize("n_classes", [5, 12, 50])
def test_one_confusing_class(n_classes):
    observed = exact(confusing_matrix(n_classes, 0.9), 0.1, 0.6)
    assert one_confusing_class(0.1, 0.6, 0.9, n_classes) == pytest.approx(observed[0] - observed[2])
    assert observed[2:] == pytest.approx(observed[2])


def test_the_confusing_class_wins_once_there_are_classes_enough():
    """The paper: K much greater than rho / (1 - rho) + 1, here 10."""
    assert one_confusing_class(0.01, 0.6, 0.9, 8) < 0 < one_confusing_class(0.01, 0.6, 0.9, 12)
    assert CASES[2].n_classes > 4 * 10


def test_the_matrix_is_the_one_printed_in_the_paper():
    expected = [[0.9, 0.1, 0.1, 0.1], [0.1, 0.9, 0, 0], [0, 0, 0.9, 0], [0, 0, 0, 0.9]]
    assert confusing_matrix(4, 0.9) == pytest.approx(np.array(expected))


@BY_CASE
def test_columns_sum_to_one(case):
    assert case.matrix.sum(axis=0) == pytest.approx(1)


@BY_CASE
def test_simulated_rows_agree_with_the_equation(case):
    data = IMPACT.draw(case._replace(n=200_000, n_test=10, n_telling=1), 0)
    x = data.X[:, :N_CONTRAST].astype(bool)
    gaps = []
    for j in range(N_CONTRAST):
        shares = np.bincount(data.y[x[:, j]], minlength=case.n_classes) / x[:, j].sum()
        gaps.append(shares[0] - (shares[2:] if case.n_classes > 2 else shares[1:]).mean())
    assert np.mean(gaps) == pytest.approx(case.difference, abs=0.007)


@BY_CASE
def test_naive_bayes_keeps_the_order_or_not_as_the_paper_says(case):
    data = IMPACT.draw(case._replace(n=20_000, n_test=1_000), 1)
    found = {name: IMPACT.measure(data, METHODS[name](data, 0)) for name in ("nb", "nb-correct")}
    assert found["nb"]["difference"] == pytest.approx(case.difference, abs=0.015)
    assert found["nb-correct"]["order_kept"] == 1
    lost = found["nb-correct"]["accuracy"] - found["nb"]["accuracy"]
    if case.title == CONFUSING:
        assert found["nb"]["order_kept"] == 0
        assert found["nb"]["taken_for_first"] > 5 * found["nb-correct"]["taken_for_first"]
        assert lost > 0.02
    else:
        assert found["nb"]["order_kept"] == 1
        assert lost < 0.02


def test_more_rows_leave_the_test_rows_as_they_are():
    small, large = (IMPACT.draw(CASES[1]._replace(n=n, n_test=50), 3) for n in (100, 300))
    assert np.array_equal(small.true_test, large.true_test)
    assert np.array_equal(small.X_test, large.X_test)
