"""Measures label by label against values computed by hand."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.quality.label_measures import (
    average_precision_within,
    from_one_cell,
    in_one_cell,
    label_order,
    means_by_label,
)

# 200 rows of label 0, of which 2 are wrong; 20 of label 2, of which 10 are; label 1 is never given
Y = np.repeat([0, 2], [200, 20])
WRONG = np.concatenate([np.arange(200) < 2, np.arange(20) < 10])


def test_rows_are_ranked_within_their_label():
    p_wrong = np.concatenate([np.linspace(1.0, 0.9, 200), np.linspace(0.1, 0.0, 20)])
    assert average_precision_within(Y, WRONG, p_wrong) == 1.0  # though the labels as a whole are in the wrong order
    p_wrong[[1, 2]] = p_wrong[[2, 1]]
    assert average_precision_within(Y, WRONG, p_wrong) == pytest.approx(((1 + 2 / 3) / 2 + 1) / 2)
    assert average_precision_within(Y, WRONG & (Y == 0), p_wrong) == pytest.approx((1 + 2 / 3) / 2)
    assert np.isnan(average_precision_within(Y, Y == 0, p_wrong))  # no label has right and wrong rows


def test_means_of_labels_survive_a_cell():
    means = means_by_label(Y, WRONG)
    np.testing.assert_array_equal(means, [0.01, np.nan, 0.5])
    assert in_one_cell(means) == "0.01 nan 0.5"
    np.testing.assert_array_equal(from_one_cell("0.01 nan 0.5"), means)


def test_the_label_that_is_wrong_more_often_should_look_more_suspicious():
    assert label_order(Y, WRONG, np.where(Y == 2, 0.3, 0.02)) == 1.0
    assert label_order(Y, WRONG, np.where(Y == 2, 0.01, 0.02)) == 0.0
    assert label_order(Y, WRONG, np.full(220, 0.1)) == 0.0  # equal suspicion is not a higher one


def test_labels_count_in_pairs():
    y = np.repeat([0, 1, 2], 100)
    wrong = np.concatenate([np.arange(100) < count for count in (50, 20, 0)])
    assert label_order(y, wrong, np.repeat([0.1, 0.3, 0.2], 100)) == pytest.approx(1 / 3)


def test_labels_that_are_wrong_about_equally_often_do_not_count():
    y = np.repeat([0, 1], 100)
    wrong = np.concatenate([np.arange(100) < count for count in (20, 25)])
    assert np.isnan(label_order(y, wrong, np.repeat([0.3, 0.2], 100)))
