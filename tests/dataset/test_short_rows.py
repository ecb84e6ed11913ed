"""Sums and maxima of short rows are numpy's, whatever the number of columns and the precision."""

from __future__ import annotations

import numpy as np
import pytest

from noisybayes.dataset.short_rows import row_max, row_sums


@pytest.mark.parametrize("n_columns", [1, 2, 32, 33, 100])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_they_are_numpys(n_columns, dtype):
    values = np.random.default_rng(0).normal(size=(50, n_columns)).astype(dtype)
    values[0] = -np.inf
    np.testing.assert_array_equal(row_max(values), values.max(axis=1))
    np.testing.assert_allclose(row_sums(values), values.sum(axis=1), rtol=1e-5, atol=1e-5)
    assert row_sums(values).dtype == dtype


def test_sums_of_an_array_of_three_axes_are_over_the_last():
    values = np.arange(24.0).reshape(2, 3, 4)
    np.testing.assert_array_equal(row_sums(values), values.sum(axis=2))
