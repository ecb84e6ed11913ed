"""Laws of the matrices of labelers: statistics are sums, order and names change nothing, favourites are learned."""

from __future__ import annotations

import numpy as np
import pytest

from noisybayes.model.mislabel import Full, constant_rate
from noisybayes.robust.labeled_rows import GivenLabels, InMemory, LabeledRows
from noisybayes.robust.labeler_model import LabelerModel

N, K, G = 600, 3, 4
RNG = np.random.default_rng(3)
TRUE = RNG.integers(K, size=N)
LOG_PRIOR = np.log(np.where(np.eye(K)[TRUE] > 0, 0.8, 0.1))
ROW = RNG.integers(N, size=900)  # some rows have several labels, some none
LABELER = RNG.integers(G + 1, size=900)  # the last: nobody knows
LABEL = np.where(RNG.random(900) < 0.15 * LABELER, RNG.integers(K, size=900), TRUE[ROW])
FOLD = RNG.integers(5, size=N)


ROWS = LabeledRows(LOG_PRIOR, GivenLabels(ROW, LABEL, LABELER, G), FOLD)


def model(rows=ROWS):
    return LabelerModel.of_rows(rows, constant_rate(K, 0.8), Full())


def true_of(rows, found):
    return rows.expected(found.of_labelers)[0]


def test_the_order_of_labels_and_of_rows_changes_nothing():
    found = model().solved()
    other = model(ROWS._replace(given=ROWS.given.take(RNG.permutation(900)))).solved()
    np.testing.assert_allclose(other.of_labelers, found.of_labelers, atol=1e-9)
    rows = RNG.permutation(N)
    place = np.argsort(rows)
    shuffled = LabeledRows(LOG_PRIOR[rows], GivenLabels(place[ROW], LABEL, LABELER, G), FOLD[rows])
    moved = model(shuffled).solved()
    np.testing.assert_allclose(moved.of_labelers, found.of_labelers, atol=1e-9)
    np.testing.assert_allclose(true_of(shuffled, moved), true_of(ROWS, found)[rows], atol=1e-9)


def blocks(*edges):
    """The rows cut into blocks, in another order."""
    parts = []
    for rows in np.split(np.random.default_rng(4).permutation(N), edges):
        rows = np.sort(rows)
        parts.append(ROWS.take(rows, np.flatnonzero(np.isin(ROW, rows))))
    return parts


def test_statistics_are_sums_over_blocks():
    whole = model()
    parts = LabelerModel(InMemory(blocks(100, 250, 251)), G, whole.n_folds, whole.start, whole.structure)
    found, other = whole.solved(), parts.solved()
    for one, same in zip(found, other, strict=True):
        np.testing.assert_allclose(same, one, atol=1e-9)
    np.testing.assert_allclose(parts.out_of_fold(other), whole.out_of_fold(found), atol=1e-9)
    assert parts.differ(other) == whole.differ(found)


def test_without_its_own_label_a_row_is_what_the_rest_says():
    found = model().solved()
    left = ROWS.without_label(found.of_labelers)
    alone = np.flatnonzero(np.bincount(ROW, minlength=N)[ROW] == 1)
    np.testing.assert_allclose(left[alone], np.exp(LOG_PRIOR)[ROW[alone]])
    told = left * found.of_labelers[LABELER, LABEL]
    np.testing.assert_allclose(told / told.sum(axis=1, keepdims=True), true_of(ROWS, found)[ROW], atol=1e-4)


def test_who_swaps_two_classes_is_shrunk_less_than_the_others():
    rng, n, labelers, classes = np.random.default_rng(5), 4_000, 10, 5
    true, who = rng.integers(classes, size=n), rng.integers(labelers, size=n)
    label = np.where(rng.random(n) < 0.2, rng.integers(classes, size=n), true)
    swapped = (who == 0) & (true < 2) & (rng.random(n) < 0.5)
    label[swapped] = 1 - true[swapped]
    prior = np.log(np.where(np.eye(classes)[true] > 0, 0.99, 0.01 / (classes - 1)))
    rows = LabeledRows(prior, GivenLabels(np.arange(n), label, who, labelers), rng.integers(5, size=n))
    found = LabelerModel.of_rows(rows, constant_rate(classes, 0.8), Full()).solved()
    assert found.of_labelers[0, 1, 0] > 0.35
    assert found.of_labelers[1:-1, 1, 0].max() < 0.15
    np.testing.assert_allclose(found.of_labelers.sum(axis=1), 1.0)
    assert found.strengths.sum() == pytest.approx(1.0)
