"""Recalibrated posteriors are posteriors, and a row does not overtake another."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from noisybayes.robust.recalibration import Recalibration, adjust


@given(
    logits=st.lists(st.lists(st.floats(-60, 60), min_size=3, max_size=3), min_size=2, max_size=12),
    intercept=st.floats(-4, 4),
    slope=st.floats(0.05, 3),
)
def test_the_order_of_p_wrong_stays(logits, intercept, slope):
    true = np.exp(np.array(logits) - np.max(logits, axis=1, keepdims=True))
    true /= true.sum(axis=1, keepdims=True)
    observed = np.arange(len(true)) % 3
    adjusted = adjust(true, observed, Recalibration(intercept, slope))
    np.testing.assert_allclose(adjusted.sum(axis=1), 1.0)
    rows = np.arange(len(true))
    before, after = true[rows, observed], adjusted[rows, observed]
    order = np.argsort(before)
    assert (np.diff(after[order]) >= -1e-12).all()
    unlabeled = np.full(len(true), 3)
    np.testing.assert_array_equal(adjust(true, unlabeled, Recalibration(intercept, slope)), true)


def test_certainty_that_a_label_is_right_does_not_turn_into_its_opposite():
    true = np.array([[1.0, 1e-18, 0.0], [1.0, 0.0, 0.0], [0.9, 0.1, 0.0]])
    adjusted = adjust(true, np.zeros(3, dtype=int), Recalibration(-0.6, 0.43))
    assert (adjusted[:, 0] > 0.5).all()
    assert adjusted[0, 0] >= adjusted[2, 0]
    assert adjusted[0, 1] > adjusted[0, 2] == 0.0
