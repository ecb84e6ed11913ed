from __future__ import annotations

import numpy as np
import pytest
from scipy.special import xlogy

from noisybayes.model.mislabel import Full, Symmetric, Uniform, matching, unidentified

RNG = np.random.default_rng(0)


def value(counts, matrix):
    return xlogy(counts, matrix).sum()


@pytest.mark.parametrize("n_classes", [1, 2, 3, 8, 30])
@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e7])
def test_no_symmetric_matrix_nearby_is_better(n_classes, scale):
    counts = scale * (RNG.gamma(0.3, 1.0, (n_classes, n_classes)) + 5 * np.diag(RNG.random(n_classes)))
    best = Symmetric().estimate(counts[None])[0]
    np.testing.assert_allclose(best, best.T, atol=1e-10)
    np.testing.assert_allclose(best.sum(axis=0), 1.0, atol=1e-12)
    for _ in range(50):
        step = RNG.normal(size=best.shape) * best
        step = np.tril(step, -1) + np.tril(step, -1).T
        step -= np.diag(step.sum(axis=0))  # keeps symmetry and column sums
        for size in (1e-3, -1e-3):
            trial = best + size * step
            if (trial >= 0).all():
                assert value(counts, trial) <= value(counts, best) + 1e-9 * abs(value(counts, best))


def test_two_classes_symmetric_is_one_rate():
    counts = np.array([[[50.0, 7.0], [3.0, 40.0]]])
    np.testing.assert_allclose(Symmetric().estimate(counts), Uniform().estimate(counts), atol=1e-9)


@pytest.mark.parametrize("structure", [Full(), Symmetric(), Uniform()])
def test_a_class_without_rows_keeps_probabilities(structure):
    counts = np.array([[[5.0, 1.0, 0.0], [1.0, 4.0, 0.0], [0.0, 0.0, 0.0]]])
    matrix = structure.estimate(counts)[0]
    assert np.isfinite(matrix).all()
    np.testing.assert_allclose(matrix.sum(axis=0), 1.0)


def test_matching_undoes_a_permutation():
    matrix = np.array([[0.6, 0.1, 0.3], [0.3, 0.8, 0.1], [0.1, 0.1, 0.6]])
    shuffled = matrix[:, [2, 0, 1]]
    np.testing.assert_array_equal(shuffled[:, matching(shuffled)], matrix)


def test_unidentified_names_the_columns_that_break_the_condition():
    matrix = np.array([[0.5, 0.6, 0.1], [0.5, 0.3, 0.2], [0.0, 0.1, 0.7]])
    np.testing.assert_array_equal(unidentified(matrix), [0, 1])
