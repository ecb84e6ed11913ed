"""Sentences of the report."""

from __future__ import annotations

import pytest

from noisybayes.report.words import ENOUGH_VERIFIED, MANY_ROWS, caveat


def summary(**numbers):
    return {"n_verified": 0, "n_suspects": 10, "review_count": 0, "n_labeled": 1_000, **numbers}


@pytest.mark.parametrize(("n_labeled", "told"), [(MANY_ROWS, False), (MANY_ROWS + 1, True)])
def test_narrow_intervals_of_many_rows_are_explained(n_labeled, told):
    assert ("the intervals are narrow" in caveat(summary(n_labeled=n_labeled))) == told


def test_a_longer_list_is_named():
    assert "review the first 25 rows" in caveat(summary(review_count=25))
    assert "review the first" not in caveat(summary(review_count=5))


def test_enough_verified_rows_make_it_unnecessary():
    assert caveat(summary(n_verified=ENOUGH_VERIFIED, n_labeled=10 * MANY_ROWS)) == ""
