from __future__ import annotations

import numpy as np
import pytest
from scipy.special import xlogy

from noisybayes.model.matrix import Full, Ordinal, Symmetric, Uniform, ranks_of

RNG = np.random.default_rng(0)


def value(counts, matrix):
    return xlogy(counts, matrix).sum()


@pytest.mark.parametrize("n_classes", [1, 2, 8])
@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e7])
def test_no_symmetric_matrix_nearby_is_better(n_classes, scale):
    counts = scale * (RNG.gamma(0.3, 1.0, (n_classes, n_classes)) + 5 * np.diag(RNG.random(n_classes)))
    best = Symmetric().estimate(counts)
    np.testing.assert_allclose(best, best.T, atol=1e-10)
    np.testing.assert_allclose(best.sum(axis=0), 1.0, atol=1e-12)
    if n_classes == 2:  # symmetric means one rate
        np.testing.assert_allclose(Uniform().estimate(counts), best, atol=1e-9)
    for _ in range(50):
        step = RNG.normal(size=best.shape) * best
        step = np.tril(step, -1) + np.tril(step, -1).T
        step -= np.diag(step.sum(axis=0))  # keeps symmetry and column sums
        for size in (1e-3, -1e-3):
            trial = best + size * step
            if (trial >= 0).all():
                assert value(counts, trial) <= value(counts, best) + 1e-9 * abs(value(counts, best))


@pytest.mark.parametrize("structure", [Full(), Symmetric(), Uniform(), Ordinal()])
def test_a_class_without_rows_keeps_probabilities(structure):
    counts = np.array([[5.0, 1.0, 0.0], [1.0, 4.0, 0.0], [0.0, 0.0, 0.0]])
    matrix = structure.estimate(counts)
    assert np.isfinite(matrix).all()
    np.testing.assert_allclose(matrix.sum(axis=0), 1.0)


def of_rates(right, spread):
    """The matrix with these rates on the diagonal, and wrong labels in these proportions."""
    spread = spread - np.diag(np.diag(spread))
    return np.diag(right) + spread / np.maximum(spread.sum(axis=0), 1e-300) * (1.0 - right)


@pytest.mark.parametrize("n_classes", [2, 3, 5, 9])
def test_no_ordinal_matrix_nearby_is_better(n_classes):
    rng = np.random.default_rng(n_classes)
    ranks = rng.permutation(n_classes)
    between = np.abs(np.subtract.outer(ranks, ranks))
    counts = rng.uniform(0.7, 1.4, (n_classes, n_classes)) * np.exp(-1.5 * between) + np.diag(rng.random(n_classes))
    best = Ordinal(ranks=tuple(ranks.tolist())).estimate(counts)
    np.testing.assert_allclose(best.sum(axis=0), 1.0, atol=1e-12)
    right = np.diag(best)
    for size in (-0.3, -1e-3, 1e-3, 0.3):
        other_decay = of_rates(right, best * np.exp(size * between))
        assert value(counts, other_decay) <= value(counts, best) + 1e-9
        for one_class in range(n_classes):
            other_rate = np.where(np.arange(n_classes) == one_class, np.clip(right + 0.1 * size, 1e-3, 1.0), right)
            assert value(counts, of_rates(other_rate, best)) <= value(counts, best) + 1e-9


@pytest.mark.parametrize(
    ("classes", "ranks"),
    [
        (np.array([1, 2, 5]), (0, 1, 2)),
        (np.array(["1", "10", "2"]), (0, 2, 1)),
        (np.array(["4 stars", "five (5)", "no stars: 0"]), (1, 2, 0)),
        (np.array(["-1", "0", "0.5"]), (0, 1, 2)),
    ],
)
def test_places_on_the_scale(classes, ranks):
    assert ranks_of(classes) == ranks


@pytest.mark.parametrize("classes", [["bad", "good"], ["1 star", "2 of 5 stars"], ["1 low", "1 high"]])
def test_names_without_a_scale_are_refused(classes):
    with pytest.raises(ValueError, match="needs labels on a scale: numbers, or names with one number each"):
        ranks_of(np.array(classes))
