from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from noisybayes.dataset.csr import row_view, squared, transposed_product
from noisybayes.dataset.merge import merge_equal
from noisybayes.dataset.rows import Rows, split


def rows_of(X, y=None, **kwargs):
    y = np.zeros(X.shape[0], dtype=int) if y is None else y
    return Rows(X, y, kwargs.get("verified"), kwargs.get("weight"))


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 40), st.integers(1, 70), st.integers(0, 3), st.booleans(), st.integers(0, 2**32 - 1), st.booleans()
)
def test_merging_finds_exactly_the_equal_rows(n, d, values, as_sparse, seed, with_verified):
    rng = np.random.default_rng(seed)
    X = (rng.integers(0, values + 1, (n, d)) * rng.choice([1.0, -0.5, 0.0])).round(1)
    y = rng.integers(2, size=n)
    verified = rng.integers(-1, 2, size=n) if with_verified else None
    weight = rng.random(n)
    merged = merge_equal(
        rows_of(sparse.csr_array(X) if as_sparse else X, y, verified=verified, weight=weight), when=True
    )
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
    assert merge_equal(rows_of(stored), when=True).n_rows == 1


def test_rows_are_merged_only_if_that_pays():
    rng = np.random.default_rng(0)
    few, many = rng.integers(2, size=(5_000, 4)).astype(float), rng.random((5_000, 4))
    assert merge_equal(rows_of(few)).n_rows == 16
    assert merge_equal(rows_of(many)).n_rows == 5_000
    assert merge_equal(rows_of(few), when=False).n_rows == 5_000
    assert merge_equal(rows_of(few[:100])).n_rows == 100


@pytest.mark.parametrize("as_sparse", [True, False])
def test_chunks_are_views_of_all_rows_in_order(as_sparse):
    X = np.arange(60_000.0).reshape(20_000, 3)
    rows = rows_of(sparse.csr_array(X) if as_sparse else X, weight=np.arange(20_000.0))
    chunks = split(rows, n_components=100)
    assert len(chunks) > 5
    whole = [chunk.X.toarray() if as_sparse else chunk.X for chunk in chunks]
    np.testing.assert_array_equal(np.vstack(whole), X)
    np.testing.assert_array_equal(np.concatenate([chunk.weight for chunk in chunks]), rows.weight)
    data = rows.X.data if as_sparse else rows.X
    assert all(np.shares_memory(chunk.X.data if as_sparse else chunk.X, data) for chunk in chunks)


def test_wide_sparse_rows_are_not_cut_into_crumbs():
    """Each chunk returns sums over a million columns: it should hold about as many entries."""
    X = sparse.csr_array(sparse.random(4_000, 1_000_000, 1e-5, "csr", None, np.random.default_rng(0)))
    assert len(split(rows_of(X), n_components=20)) == 1


def test_views_share_memory_and_products_agree():
    X = sparse.csr_array(sparse.random(500, 30, 0.2, "csr", None, np.random.default_rng(0)))
    view = row_view(X, 100, 150)
    assert np.shares_memory(view.data, X.data)
    dense = X.toarray()[100:150]
    right = np.random.default_rng(1).random((50, 4))
    np.testing.assert_allclose(view.toarray(), dense)
    np.testing.assert_allclose(transposed_product(view, right), dense.T @ right)
    np.testing.assert_allclose(squared(view).toarray(), dense**2)
