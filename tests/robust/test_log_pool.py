"""The log pool of the posteriors with and without the label."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from noisybayes.robust.log_pool import LogPool

Array = np.ndarray[Any, Any]


def made(n: int = 200) -> tuple[Array, Array, Array, Array]:
    """P(true | x, label), P(true | x), labels (some are missing), weights."""
    rng = np.random.default_rng(0)
    prior = rng.dirichlet(np.full(3, 0.3), size=n)
    observed = rng.integers(4, size=n)
    table = np.array([[0.95, 0.2, 0.05], [0.03, 0.7, 0.15], [0.02, 0.1, 0.8], [1.0, 1.0, 1.0]])
    true = prior * table[observed]
    return true / true.sum(axis=1, keepdims=True), prior, observed, rng.uniform(0.5, 2.0, size=n)


def p_wrong(told: Array, observed: Array) -> Array:
    return 1.0 - told[np.arange(len(told)), observed]


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_as_many_labels_are_wrong_as_the_posteriors_expect_on_average(share: float) -> None:
    true, prior, observed, weight = made()
    told = LogPool.fit(true, prior, observed, weight, share)(true, prior, observed)
    assert told.sum(axis=1) == pytest.approx(1.0)
    there = observed < 3
    wrong, by_label, by_row = (p_wrong(part[there], observed[there]) for part in (told, true, prior))
    assert weight[there] @ wrong == pytest.approx(weight[there] @ (by_label + by_row) / 2)


def test_a_matrix_that_has_not_earned_its_place_does_not_change_the_order() -> None:
    true, prior, observed, weight = (part[made()[2] < 3] for part in made())
    orders = {}
    for share in (0.0, 1.0):
        told = LogPool.fit(true, prior, observed, weight, share)(true, prior, observed)
        orders[share] = np.argsort(p_wrong(told, observed))
    assert np.array_equal(orders[0.0], np.argsort(p_wrong(prior, observed)))
    assert not np.array_equal(orders[1.0], orders[0.0])


def test_a_row_without_a_label_is_told_as_it_was() -> None:
    true, prior, observed, weight = made()
    told = LogPool.fit(true, prior, observed, weight)(true, prior, observed)
    assert told[observed == 3] == pytest.approx(true[observed == 3])


def test_labels_that_cannot_be_wrong_are_not_shifted_beyond_measure() -> None:
    sure = np.eye(3)[[0, 1, 2, 0]]
    found = LogPool.fit(sure, sure, np.array([0, 1, 2, 0]), np.ones(4))
    assert np.isfinite(found.shift)
    assert found(sure, sure, np.array([0, 1, 2, 0])) == pytest.approx(sure)
