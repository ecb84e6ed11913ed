"""Laws of the matrices of labelers: statistics are sums, order and names change nothing, favourites are learned."""

from __future__ import annotations

import numpy as np
import pytest

from noisybayes.model.mislabel import Full, constant_rate
from noisybayes.robust.labeler_model import GivenLabels, LabelerModel

N, K, G = 600, 3, 4
RNG = np.random.default_rng(3)
TRUE = RNG.integers(K, size=N)
LOG_PRIOR = np.log(np.where(np.eye(K)[TRUE] > 0, 0.8, 0.1))
ROW = RNG.integers(N, size=900)  # some rows have several labels, some none
LABELER = RNG.integers(G + 1, size=900)  # the last: nobody knows
LABEL = np.where(RNG.random(900) < 0.15 * LABELER, RNG.integers(K, size=900), TRUE[ROW])
FOLD = RNG.integers(5, size=N)


def model(order=slice(None)):
    given = GivenLabels(ROW[order], LABEL[order], LABELER[order], G)
    return LabelerModel(LOG_PRIOR, given, FOLD, constant_rate(K, 0.8), Full())


def test_the_order_of_labels_and_of_rows_changes_nothing():
    found = model().solved()
    other = model(RNG.permutation(900)).solved()
    np.testing.assert_allclose(other.of_labelers, found.of_labelers, atol=1e-9)
    rows = RNG.permutation(N)
    place = np.argsort(rows)
    moved = LabelerModel(
        LOG_PRIOR[rows], GivenLabels(place[ROW], LABEL, LABELER, G), FOLD[rows], constant_rate(K, 0.8), Full()
    ).solved()
    np.testing.assert_allclose(moved.of_labelers, found.of_labelers, atol=1e-9)
    np.testing.assert_allclose(moved.true, found.true[rows], atol=1e-9)


def test_statistics_are_sums():
    one = model()
    true = one.as_started().true
    first, rest = np.arange(250), np.arange(250, 900)
    np.testing.assert_allclose(one.counts(true), one.counts(true, first) + one.counts(true, rest))


def test_without_its_own_label_a_row_is_what_the_rest_says():
    one = model()
    found = one.solved()
    left = one.without_label(found)
    alone = np.flatnonzero(np.bincount(ROW, minlength=N)[ROW] == 1)
    np.testing.assert_allclose(left[alone], np.exp(LOG_PRIOR)[ROW[alone]])
    told = left * found.of_labelers[LABELER, LABEL]
    np.testing.assert_allclose(told / told.sum(axis=1, keepdims=True), found.true[ROW], atol=1e-4)


def test_who_favours_a_class_is_rarely_wrong_about_its_rows():
    rng = np.random.default_rng(0)
    true, who = rng.integers(K, size=2_000), rng.integers(2, size=2_000)
    label = np.where((who == 1) & (rng.random(2_000) < 0.5), 0, true)
    sharp = np.log(np.where(np.eye(K)[true] > 0, 0.9, 0.05))
    given = GivenLabels(np.arange(2_000), label, who, 2)
    found = LabelerModel(sharp, given, np.arange(2_000) % 5, constant_rate(K, 0.8), Full()).solved()
    np.testing.assert_allclose(np.diag(found.of_labelers[1]), [1.0, 0.5, 0.5], atol=0.08)


def test_one_labeler_does_not_differ():
    one = LabelerModel(
        LOG_PRIOR, GivenLabels(np.arange(N), TRUE, np.zeros(N, dtype=int), 1), FOLD, constant_rate(K, 0.8), Full()
    )
    assert not one.differ(one.solved())
    assert one.solved().true == pytest.approx(one.pooled().true, abs=0.05)
