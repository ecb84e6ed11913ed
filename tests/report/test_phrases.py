"""Sentences of the report."""

from __future__ import annotations

import pytest

from noisybayes.report.phrases import MANY_ROWS, about, caveat, headline, shorten


def summary(**numbers):
    return {"run": {}, "n_verified": 0, "n_suspects": 10, "review_count": 0, "n_labeled": 1_000, **numbers}


@pytest.mark.parametrize(("n_labeled", "told"), [(MANY_ROWS, False), (MANY_ROWS + 1, True)])
def test_narrow_intervals_of_many_rows_are_explained(n_labeled, told):
    assert ("the intervals are narrow" in caveat(summary(n_labeled=n_labeled))) == told


def test_a_longer_list_is_named():
    assert "review the first 25 rows" in caveat(summary(review_count=25))
    assert "review the first" not in caveat(summary(review_count=5))


@pytest.mark.parametrize(
    ("share", "told"), [(0.168, "about 16.8 %"), (0.99999, "more than 99.9 %"), (0.0001, "less than 0.1 %")]
)
def test_about_is_said_of_numbers_only(share, told):
    assert about(share) == told


def test_only_rows_checked_at_random_make_it_unnecessary():
    rate = {"estimate": 0.2, "low": 0.1, "high": 0.3, "level": 0.9, "n_checked": 60, "text": "From 60 rows."}
    assert caveat(summary(noise_rate=rate, n_labeled=10 * MANY_ROWS)) == "From 60 rows."
    assert "check 50 rows drawn at random" in caveat(summary(n_verified=500))


def test_the_headline_is_as_sure_as_the_number():
    rate = {"estimate": 0.2, "low": 0.1, "high": 0.3, "level": 0.9, "n_checked": 60}
    assert headline(summary(noise_rate=rate)) == (
        "About 200 of 1,000 labels (20.0 %, between 10.0 and 30.0 %) are wrong, based on 60 rows checked at random; "
        "10 rows are listed below."
    )
    assert headline(summary(noise_rate={**rate, "level": None, "n_checked": 0})) == (
        "Between 10.0 and 30.0 % of 1,000 labels may be wrong, about 200 (20.0 %) if mistakes do not depend on the "
        "row; 10 rows are listed below."
    )


def test_names_are_cut_in_the_middle():
    assert shorten("price", 5) == "price"
    cut = [shorten(f"card_payment_not_recognised_{i}", 20) for i in (5, 6)]
    assert cut == ["card_payme…ognised_5", "card_payme…ognised_6"]
    assert all(len(name) <= 20 for name in cut)
