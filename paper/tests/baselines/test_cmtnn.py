from __future__ import annotations

import numpy as np

from paper.baselines.cmtnn import _doubt

from .needs_torch import needs_torch
from .small import TRUE, D, X, Y, accuracy, quick


def test_a_label_is_doubted_if_both_networks_reject_it():
    truth = np.array([[0.2, 0.9], [0.2, 0.9], [0.8, 0.1]])
    falsity = np.array([[0.7, 0.1], [0.3, 0.8], [0.9, 0.2]])
    verdict = _doubt(truth, falsity, np.array([0, 0, 0]))
    assert verdict.doubted.tolist() == [True, False, False]
    np.testing.assert_allclose(verdict.suspicion, [0.75, 0.55, 0.55])


@needs_torch
def test_two_classes_are_the_published_method():
    two = TRUE < 2
    wrong = np.arange(two.sum()) % 5 == 0
    model = quick("cmtnn").fit(X[two], np.where(wrong, 1 - TRUE[two], TRUE[two]))
    assert wrong[~model.kept_].mean() > 0.8
    assert (~model.kept_)[wrong].mean() > 0.5


@needs_torch
def test_three_networks_are_counted():
    model = quick("cmtnn").fit(X, Y)
    assert model.n_parameters_ == 3 * ((D * 20 + 20) + (20 * 3 + 3))
    assert model.n_iter_ < model.n_epochs_
    assert accuracy(model) > 0.8
