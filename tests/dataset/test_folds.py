"""Folds by the content of rows: what lies together, what is spread."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from noisybayes.dataset import Dataset, Rows
from noisybayes.engines import ENGINES

RNG = np.random.default_rng(0)
LABEL = RNG.integers(3, size=60)
DISTINCT = RNG.random((60, 4))


def folds_of(X, label, weight=None, n_folds=5):
    data = Dataset.of(Rows(X, label, None, weight), ENGINES["local"](1), 3).in_folds(7, n_folds, 3)
    return data.folds.n_folds, data.folds.of(np.arange(len(label)))


@pytest.mark.parametrize("copies", [2, 4])
def test_a_few_equal_rows_share_the_fold_that_one_of_them_would_have(copies):
    _, once = folds_of(DISTINCT, LABEL)
    _, folds = folds_of(np.repeat(DISTINCT, copies, axis=0), np.repeat(LABEL, copies))
    np.testing.assert_array_equal(folds, np.repeat(once, copies))
    _, folds = folds_of(np.repeat(DISTINCT, 2, axis=0), RNG.integers(3, size=120))
    np.testing.assert_array_equal(folds[::2], folds[1::2])


def test_many_equal_rows_and_every_label_are_spread_over_all_folds():
    X = np.concatenate([np.zeros((50, 4)), DISTINCT])
    _, folds = folds_of(X, np.concatenate([np.zeros(50, dtype=int), LABEL]))
    assert (np.bincount(folds[:50], minlength=5) >= 8).all()
    _, folds = folds_of(DISTINCT, LABEL)
    counts = np.array([np.bincount(folds[k == LABEL], minlength=5) for k in range(3)])
    assert (counts.max(axis=1) - counts.min(axis=1) <= 1).all()


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_neither_the_order_of_rows_nor_the_last_digits_change_a_fold(kind):
    """Logarithms differ in them from one processor to another, and between single and double precision."""
    _, folds = folds_of(kind(DISTINCT), LABEL)
    order = RNG.permutation(60)
    np.testing.assert_array_equal(folds_of(kind(DISTINCT[order]), LABEL[order])[1], folds[order])
    for other in (DISTINCT * (1 + 2e-16 * RNG.integers(-1, 2, DISTINCT.shape)), DISTINCT.astype(np.float32)):
        np.testing.assert_array_equal(folds_of(kind(other), LABEL)[1], folds)
