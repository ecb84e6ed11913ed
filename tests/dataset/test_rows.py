"""Merging of equal rows."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from noisybayes.dataset.merge import merge_equal
from noisybayes.dataset.rows import Rows


@settings(max_examples=30)
@given(st.integers(1, 40), st.integers(1, 70), st.integers(0, 3), st.booleans(), st.integers(0, 99), st.booleans())
def test_merging_finds_exactly_the_equal_rows(n, d, values, as_sparse, seed, with_verified):
    rng = np.random.default_rng(seed)
    X = (rng.integers(0, values + 1, (n, d)) * rng.choice([1.0, -0.5, 0.0])).round(1)
    y = rng.integers(2, size=n)
    verified = rng.integers(-1, 2, size=n) if with_verified else None
    weight = rng.random(n)
    merged = merge_equal(Rows(sparse.csr_array(X) if as_sparse else X, y, verified, weight), when=True)
    parts = [X + 0.0, y[:, None]] + ([verified[:, None]] if with_verified else [])
    distinct, inverse = np.unique(np.hstack(parts), axis=0, return_inverse=True)
    assert merged.n_rows == len(distinct)
    dense = merged.X.toarray() if as_sparse else merged.X
    parts = [dense + 0.0, merged.observed[:, None]] + ([merged.verified[:, None]] if with_verified else [])
    order = np.lexsort(np.hstack(parts).T[::-1])
    np.testing.assert_array_equal(np.hstack(parts)[order], distinct)
    np.testing.assert_allclose(merged.weight[order], np.bincount(inverse.reshape(-1), weights=weight))


def test_explicit_zeros_are_zeros():
    stored = sparse.csr_array(([0.0, 1.0, 1.0], [0, 1, 1], [0, 2, 3]), shape=(2, 2))
    assert merge_equal(Rows(stored, np.zeros(2, dtype=int), None, None), when=True).n_rows == 1
