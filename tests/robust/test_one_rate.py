"""One rate of mistakes where that is enough, a matrix where labels call for one."""

from __future__ import annotations

import numpy as np
import pytest

from noisybayes import BernoulliINB, MultinomialINB
from noisybayes.data.simulate import simulate
from noisybayes.model.mislabel import constant_rate
from noisybayes.robust.calibration import Calibration, Labels
from noisybayes.robust.one_rate import needs_matrix

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


@pytest.mark.parametrize("seed", range(3))
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


@pytest.mark.parametrize("seed", range(3))
def test_mistakes_that_favour_a_label_have_a_matrix(seed):
    X, true, rng = unbalanced(seed)
    y = np.where((true == 1) & (rng.random(len(true)) < 0.4), 0, true)
    model, choice = fitted(X, y)
    assert not choice.has_one_rate
    assert model.mislabel_matrix_[0, 1] > model.mislabel_matrix_[1, 0]


def test_right_labels_have_a_matrix():
    """A rate of zero is not a way to explain mistakes."""
    X, true, _ = unbalanced(0)
    _, choice = fitted(X, true)
    assert not choice.has_one_rate


def test_another_structure_is_kept():
    X, true, rng = unbalanced(0)
    y = np.where(rng.random(len(true)) < 0.2, 1 - true, true)
    _, choice = fitted(X, y, mislabel="symmetric")
    assert not choice.has_one_rate


def test_tables_keep_their_matrix():
    data = simulate(500, n_features=60, random_state=0)
    assert not BernoulliINB().fit(data.X, data.y)._training.robust_fit.choice.has_one_rate


def test_the_lead_of_a_matrix_grows_with_the_number_of_rows():
    """A sample decides for the table that it was drawn from."""
    rng = np.random.default_rng(0)
    skewed = np.array([[0.8, 0.2, 0.1], [0.1, 0.7, 0.2], [0.1, 0.1, 0.7]])
    scores = rng.normal(scale=2.0, size=(600, 3))
    prior = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    label = [rng.choice(3, p=skewed @ each) for each in prior]
    labels = Labels(np.array(label), None, np.ones((600, 1)))
    matrix_fit, rate_fit = (
        Calibration(np.ones((1, 1)), np.zeros((1, 3)), each[None], np.zeros((1, 3)))
        for each in (skewed, constant_rate(3, 0.73))
    )
    scores = scores[None, :, None]
    assert [needs_matrix(matrix_fit, rate_fit, scores, labels, n) for n in (100, 1e7)] == [False, True]
    assert not needs_matrix(rate_fit, matrix_fit, scores, labels, 1e7)
