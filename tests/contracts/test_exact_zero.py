"""Maximum likelihood means that zero is zero: `BernoulliINB.paper()` against the paper's formulas, term by term."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from noisybayes import BernoulliINB

N, D, K = 300, 40, 4


@pytest.fixture
def rare():
    """Rows in which most columns are rare, and some are never or always 1 in a class."""
    rng = np.random.default_rng(0)
    prob = np.where(rng.random((K, D)) < 0.5, 0.01, rng.uniform(0.1, 0.6, (K, D)))
    prob[0, 0], prob[1, 0] = 1.0, 1.0
    true = rng.integers(K, size=N)
    X = (rng.random((N, D)) < prob[true]).astype(float)
    return X, np.where(rng.random(N) < 0.2, rng.integers(K, size=N), true)


def literal_em(X, y, n_steps):
    """The E- and M-steps as printed, with log 0 = -inf; starts as `paper()` does."""
    gamma = np.eye(K)[y]
    rho = np.full((K, K), 0.2 / (K - 1))
    np.fill_diagonal(rho, 0.8)
    pi, p = gamma.mean(axis=0), (gamma.T @ X) / gamma.sum(axis=0)[:, None]
    for _ in range(n_steps):
        zeta = np.zeros((len(y), K))
        for i in range(len(y)):
            for k in range(K):
                zeta[i, k] = pi[k] * rho[y[i], k] * np.prod(np.where(X[i] == 1, p[k], 1 - p[k]))
        gamma = zeta / zeta.sum(axis=1, keepdims=True)
        pi, p = gamma.mean(axis=0), (gamma.T @ X) / gamma.sum(axis=0)[:, None]
        # in all rows that belong to the class at all
        p[np.array([(X[gamma[:, k] > 0] == 1).all(axis=0) for k in range(K)])] = 1.0
        rho = np.array([gamma[y == label].sum(axis=0) for label in range(K)]) / gamma.sum(axis=0)
    return pi, p, rho


@pytest.mark.parametrize("n_steps", [1, 12])
@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_array])
@pytest.mark.filterwarnings("ignore")
def test_the_estimator_is_the_printed_em(rare, n_steps, as_rows):
    X, y = rare
    model = BernoulliINB.paper(max_iter=n_steps, tol=0.0).fit(as_rows(X), y)
    pi, p, rho = literal_em(X, y, n_steps)
    assert (p == 0).sum() >= 10
    np.testing.assert_allclose(model.class_prior_, pi, atol=1e-10)
    np.testing.assert_allclose(model.feature_prob_, p, atol=1e-10)
    np.testing.assert_allclose(model.mislabel_matrix_, rho, atol=1e-10)
    assert ((model.feature_prob_ == 0) == (p == 0)).all()


def exact(X, y, **kwargs):
    return BernoulliINB.paper(mislabel=np.eye(2), **kwargs).fit(X, y)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_evidence_outweighs_an_impossible_value(dtype):
    """5,000 columns speak for class 1, in which the last column is never 1."""
    n_columns = 5_001
    X = np.zeros((200, n_columns), dtype)
    X[:100, : n_columns - 1] = np.arange(100)[:, None] < 1  # in one row of a hundred of class 0
    X[100:, : n_columns - 1] = np.arange(100)[:, None] < 99
    X[0, -1] = 1
    y = np.repeat([0, 1], 100)
    row = np.ones((1, n_columns), dtype)
    # another number in place of zero would be worth some tens of the 5,000 columns
    assert BernoulliINB.paper(alpha=1e-10, mislabel=np.eye(2)).fit(X, y).predict(row) == 1
    assert exact(X, y).predict(row) == 0
    assert exact(X, y).predict_proba(row)[0, 1] == 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_fewest_impossible_values_win_where_every_class_has_some(dtype):
    #           never 1 in class 1   never 1 in class 0   common in class 1
    X = np.array([[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 1], [0, 0, 0, 1]], dtype)
    model = exact(X, [0, 0, 1, 1])
    # class 0 always has column 0 and never 2 and 3; class 1 never has 0 and 1, and always has 3
    assert model.predict(np.array([[1, 1, 1, 0]], dtype)) == 0  # one against three
    assert model.predict(np.array([[1, 0, 1, 1]], dtype)) == 1  # two against one
    assert np.isfinite(model.predict_joint_log_proba(np.ones((1, 4), dtype))).all()
