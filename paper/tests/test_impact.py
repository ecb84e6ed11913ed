"""The equations of Section 2.4 against exact probabilities and against simulated data; label noise."""

from __future__ import annotations

import numpy as np
import pytest

from paper.data import boundary_noise, pair_noise, structured_noise, uniform_noise
from paper.impact import CASES, CONFUSING, IMPACT, Case
from paper.methods import METHODS


@pytest.mark.parametrize("n_classes", [3, 8, 50])
@pytest.mark.parametrize("title", ["constant rate", CONFUSING])
def test_equations_are_exact(title, n_classes):
    case = Case(title, n_classes, 0.7, 0.7, 0.2, 0)
    prob = np.full(n_classes, 0.2)
    prob[0] = 0.7
    joint = case.matrix @ (prob / n_classes)
    observed = joint / joint.sum()  # P(Y = k | x = 1), by summing over the true labels
    assert case.difference == pytest.approx(observed[0] - observed[-1])


def test_the_matrix_is_the_one_printed_in_the_paper():
    expected = [[0.9, 0.1, 0.1, 0.1], [0.1, 0.9, 0, 0], [0, 0, 0.9, 0], [0, 0, 0, 0.9]]
    assert CASES[2]._replace(n_classes=4).matrix == pytest.approx(np.array(expected))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_naive_bayes_keeps_the_order_or_not_as_the_paper_says(case):
    data = IMPACT.draw(case._replace(n=20_000, n_test=1_000), 1)
    noisy, right = (IMPACT.measure(data, METHODS[name].run(data, 0)) for name in ("nb", "nb-correct"))
    assert noisy["difference"] == pytest.approx(case.difference, abs=0.015)
    assert right["order_kept"] == 1
    assert noisy["order_kept"] == (case.title != CONFUSING)
    assert (right["accuracy"] - noisy["accuracy"] > 0.02) == (case.title == CONFUSING)


@pytest.mark.parametrize("n_classes", [3, 20])
def test_noise_matrices_have_the_rate_and_a_right_label_that_is_most_frequent(n_classes):
    structured = structured_noise(n_classes, 0.3, np.random.default_rng(0))
    for matrix in (uniform_noise(n_classes, 0.3), pair_noise(n_classes, 0.3), structured):
        np.testing.assert_allclose(matrix.sum(axis=0), 1.0)
        assert 1 - np.diag(matrix).mean() == pytest.approx(0.3)
        assert (matrix.argmax(axis=0) == np.arange(n_classes)).all()
    assert pair_noise(3, 0.3)[[1, 2, 0], [0, 1, 2]] == pytest.approx(0.3)


def test_boundary_noise_gives_uncertain_rows_their_second_choice():
    rng = np.random.default_rng(0)
    proba, true = rng.dirichlet(np.ones(4), size=1_000), rng.integers(4, size=1_000)
    observed = boundary_noise(true, proba, 0.2, rng)
    wrong = np.flatnonzero(observed != true)
    assert len(wrong) == 200
    others = proba.copy()
    others[np.arange(1_000), true] = -1
    np.testing.assert_array_equal(observed[wrong], others.argmax(axis=1)[wrong])
    margin = np.abs(proba[np.arange(1_000), true] - others.max(axis=1))
    assert margin[wrong].max() <= np.sort(margin)[399]
