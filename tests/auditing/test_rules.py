"""Which rows are suspects: laws over any probabilities."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noisybayes.auditing import Rule
from noisybayes.auditing.rules import ranking, review_curve, suspects

SOME = settings(max_examples=25, deadline=None)
PROBABILITY = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1))
#: P(wrong), whether another label is probable enough, whether the row may be a suspect
ROWS = st.lists(st.tuples(PROBABILITY, st.booleans(), st.booleans()), min_size=1, max_size=60)


def columns(rows):
    """P(wrong), how many rows that may be suspects have another probable label, and which may be suspects."""
    p_wrong, disputed, eligible = map(np.array, zip(*rows, strict=True))
    return p_wrong, int((disputed & eligible).sum()), eligible


@SOME
@given(ROWS)
def test_by_default_as_many_as_are_disputed_from_the_top_of_the_ranking(rows):
    p_wrong, disputed, eligible = columns(rows)
    chosen = suspects(Rule(), p_wrong, disputed, eligible)
    candidates = ranking(p_wrong, eligible & (p_wrong > 0))
    np.testing.assert_array_equal(np.flatnonzero(chosen), np.sort(candidates[:disputed]))


@SOME
@given(ROWS, st.floats(0.01, 1))
def test_the_longest_list_of_the_asked_precision(rows, precision):
    p_wrong, disputed, eligible = columns(rows)
    chosen = suspects(Rule(precision=precision), p_wrong, disputed, eligible)
    assert not (chosen & ~eligible).any()
    n = int(chosen.sum())
    assert n == 0 or p_wrong[chosen].mean() >= precision - 1e-12
    candidates = ranking(p_wrong, eligible & (p_wrong > 0))
    np.testing.assert_array_equal(np.flatnonzero(chosen), np.sort(candidates[:n]))
    assert n == len(candidates) or p_wrong[candidates[: n + 1]].mean() < precision + 1e-12


@SOME
@given(ROWS, st.integers(0, 80))
def test_a_budget_is_spent_on_the_most_suspicious(rows, budget):
    p_wrong, disputed, eligible = columns(rows)
    chosen = suspects(Rule(budget=budget), p_wrong, disputed, eligible)
    possible = eligible & (p_wrong > 0)
    assert chosen.sum() == min(budget, possible.sum())
    assert not (chosen & ~possible).any()
    left = possible & ~chosen
    assert not chosen.any() or not left.any() or p_wrong[chosen].min() >= p_wrong[left].max()


@SOME
@given(ROWS, st.sampled_from([Rule(), Rule(precision=0.2), Rule(budget=1_000)]))
def test_rows_that_are_verified_or_unlabeled_are_never_suspects(rows, rule):
    p_wrong, disputed, _ = columns(rows)
    assert not suspects(rule, p_wrong, disputed, np.zeros(len(rows), dtype=bool)).any()


@SOME
@given(ROWS)
def test_more_precision_or_less_budget_gives_a_shorter_list(rows):
    p_wrong, disputed, eligible = columns(rows)
    for rules in ([Rule(precision=p) for p in (0.3, 0.6, 0.9)], [Rule(budget=n) for n in (30, 5, 0)]):
        lists = [suspects(rule, p_wrong, disputed, eligible) for rule in rules]
        for longer, shorter in pairwise(lists):
            assert not (shorter & ~longer).any()


@SOME
@given(ROWS, st.integers(2, 80))
def test_the_review_curve_finds_more_with_less_precision(rows, points):
    p_wrong, _, eligible = columns(rows)
    curve = review_curve(p_wrong, eligible, points)
    assert len(curve.rows) == len(curve.precision) == len(curve.found)
    if not eligible.any():
        assert len(curve.rows) == 0
        return
    assert np.all(np.diff(curve.rows) > 0)
    assert np.all(np.diff(curve.found) >= -1e-12)
    assert np.all(np.diff(curve.precision) <= 1e-12)
    assert curve.rows[-1] == eligible.sum()
    assert curve.precision[-1] == pytest.approx(p_wrong[eligible].mean())
    if p_wrong[eligible].sum() > 1e-300:
        assert curve.found[-1] == pytest.approx(1.0)


def test_ties_are_in_the_order_of_the_rows():
    p_wrong = np.array([0.5, 0.9, 0.5, 0.5])
    assert ranking(p_wrong, np.array([True, True, False, True])).tolist() == [1, 0, 3]
    chosen = suspects(Rule(budget=2), p_wrong, p_wrong > 0, p_wrong > 0)
    assert np.flatnonzero(chosen).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("rule", "name", "text"),
    [
        (
            Rule(),
            "posterior",
            "the rows with the highest P(wrong), as many as have another label with a probability above 40 %, "
            "averaged over the posteriors with and without the given label",
        ),
        (Rule(0.8), "precision", "the longest list of which at least 80 % are expected to be wrong"),
        (Rule(budget=1_500), "budget", "the 1,500 rows whose labels are most probably wrong"),
        (Rule(budget=1), "budget", "the row whose label is most probably wrong"),
        (Rule(budget=0), "budget", "the 0 rows whose labels are most probably wrong"),
    ],
)
def test_rules_say_what_they_mean(rule, name, text):
    rule.check()
    assert (rule.name, rule.text) == (name, text)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (Rule(0.5, 10), "precision and budget are mutually exclusive; give only one of them"),
        (Rule(0.0), "precision must be above 0 and at most 1, got 0.0"),
        (Rule(1.5), "precision must be above 0 and at most 1, got 1.5"),
        (Rule(float("nan")), "precision must be above 0 and at most 1, got nan"),
        (Rule(budget=-1), "budget must be a whole number of at least 0, got -1"),
        (Rule(budget=2.5), "budget must be a whole number of at least 0, got 2.5"),
        (Rule(budget=float("nan")), "budget must be a whole number of at least 0, got nan"),
        (Rule(budget=float("inf")), "budget must be a whole number of at least 0, got inf"),
    ],
)
def test_bad_rules_are_refused(rule, message):
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        rule.check()
    assert str(refused.value) == message
