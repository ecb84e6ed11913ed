"""One rate of mistakes where that is enough, a matrix where labels call for one."""

import numpy as np
import pytest

from noisybayes.data.simulate import simulate
from noisybayes.robust.old_estimators.inb import BernoulliINB, MultinomialINB

from ..made_texts import bursty_texts


def unbalanced(seed, n=2_000, small=0.25):
    """Two classes of texts, the second one small."""
    rng = np.random.default_rng(seed)
    X, true, _, _ = bursty_texts(seed, n=4 * n, n_test=1, n_classes=2)
    size = int(small * n)
    rows = np.concatenate([np.flatnonzero(true == 0)[: n - size], np.flatnonzero(true == 1)[:size]])
    rows = rng.permutation(rows)
    return X[rows], true[rows], rng


def fitted(X, y, **settings):
    model = MultinomialINB(**settings).fit(X, y)
    return model, model._training.robust_fit.choice


@pytest.mark.parametrize("seed", range(2))
def test_mistakes_that_are_spread_evenly_have_one_rate(seed):
    X, true, rng = unbalanced(seed)
    y = np.where(rng.random(len(true)) < 0.2, 1 - true, true)
    model, choice = fitted(X, y)
    assert choice.has_one_rate
    # labels are more balanced than the classes: the small label is wrong far more often than the large one
    p_wrong = 1.0 - model.true_proba_[np.arange(len(y)), y]
    for label in (0, 1):  # with bursty words the rate is underestimated: .27 to .43 instead of .43 over seeds and folds
        assert p_wrong[y == label].mean() == pytest.approx((y != true)[y == label].mean(), abs=0.2)
    assert p_wrong[y == 1].mean() > 3 * p_wrong[y == 0].mean()


@pytest.mark.parametrize("seed", range(2))
def test_mistakes_that_favour_a_label_have_a_matrix(seed):
    X, true, rng = unbalanced(seed)
    y = np.where((true == 1) & (rng.random(len(true)) < 0.4), 0, true)
    model, choice = fitted(X, y)
    assert not choice.has_one_rate
    assert model.mislabel_matrix_[0, 1] > model.mislabel_matrix_[1, 0]


def test_right_labels_tables_and_other_structures_keep_their_matrix():
    """A rate of zero is not a way to explain mistakes."""
    X, true, rng = unbalanced(0)
    _, choice = fitted(X, true)
    assert not choice.has_one_rate
    y = np.where(rng.random(len(true)) < 0.2, 1 - true, true)
    _, choice = fitted(X, y, mislabel="symmetric")
    assert not choice.has_one_rate
    data = simulate(500, n_features=60, random_state=0)
    assert not BernoulliINB().fit(data.X, data.y)._training.robust_fit.choice.has_one_rate
