"""Texts that are hard on naive Bayes as real ones are."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy import sparse


@cache
def bursty_texts(seed, n=1_500, n_test=1_500, n_classes=5, n_words=600, length=60):
    """Texts whose words come in bursts, so that naive Bayes counts the same evidence many times, as in real texts.
    They are made once, and not to be changed."""
    rng = np.random.default_rng(seed)
    true = rng.integers(n_classes, size=n + n_test)
    topics = rng.dirichlet(np.full(n_words, 0.1), size=n_classes)
    common = rng.dirichlet(np.full(n_words, 0.5))
    X = np.zeros((n + n_test, n_words))
    for i, k in enumerate(true):
        own = rng.dirichlet(4_000 / n_words * (0.25 * topics[k] + 0.75 * common) + 1e-3)
        X[i] = rng.multinomial(length, own)
    X = sparse.csr_array(np.log1p(X))
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1))).ravel()
    X = sparse.csr_array(sparse.diags_array(1 / norms) @ X)
    return X[:n], true[:n], X[n:], true[n:]
