"""How sure the numbers are."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.special import logit
from sklearn.naive_bayes import BernoulliNB

from noisybayes import BernoulliINB, MislabelClassifier, simulate
from noisybayes.auditing.intervals import intervals
from noisybayes.auditing.judged import judge

NUMBERS = ("mislabel_matrix", "noise_rate", "wrong_by_label")


def simulated(n=600, seed=0):
    return simulate(n, n_features=60, n_classes=3, diagonal=(0.7, 0.9), random_state=seed)


@cache
def judged(n=600, verified=False, method="crossfit"):
    made = simulated(n)
    model = MislabelClassifier(BernoulliNB(), n_folds=3) if method == "any" else BernoulliINB(method=method)
    known = np.where(np.arange(n) % 5 == 0, made.true, np.nan) if verified else None
    return judge(model.fit(made.X, made.y, verified=known), made.X, made.y)


def found(what, level=0.9, draws=12, seed=0):
    return intervals(what, level, draws, seed)


def width(found, number):
    interval = getattr(found, number)
    return np.mean(interval.high - interval.low)


CASES = {
    "robust": {},
    "with verified rows": {"verified": True},
    "generative": {"method": "em"},
    "any classifier": {"method": "any"},
}


@pytest.mark.parametrize("case", CASES)
def test_the_estimate_lies_inside(case):
    what = found(judged(**CASES[case]))
    for number in NUMBERS:
        estimate, low, high = getattr(what, number)
        assert np.all((low >= 0) & (low <= estimate) & (estimate <= high) & (high <= 1))
        assert np.all(high > low)
    np.testing.assert_allclose(what.mislabel_matrix.estimate.sum(axis=0), 1.0)


@pytest.mark.parametrize("number", NUMBERS)
def test_more_rows_narrow_and_a_higher_level_widens(number):
    assert width(found(judged(2_400)), number) < 0.8 * width(found(judged()), number)
    levels = [width(found(judged(), level), number) for level in (0.5, 0.8, 0.99)]
    assert np.all(np.diff(levels) > 0)


def test_a_seed_repeats_and_another_seed_differs_little():
    one, same, other = (found(judged(), seed=seed) for seed in (0, 0, 1))
    for number in NUMBERS:
        np.testing.assert_array_equal(getattr(one, number), getattr(same, number))
        assert width(other, number) == pytest.approx(width(one, number), rel=0.6)
    assert not np.array_equal(one.noise_rate, other.noise_rate)


def test_verified_rows_narrow_what_they_tell():
    assert width(found(judged(verified=True)), "wrong_by_label") < width(found(judged()), "wrong_by_label")


def test_of_many_rows_a_sample_tells_the_spread_and_all_rows_the_place(monkeypatch):
    data = simulate(3_000, n_features=60, n_classes=3, diagonal=(0.7, 0.8), random_state=5)
    judged = judge(BernoulliINB(random_state=0).fit(data.X, data.y), data.X, data.y)
    whole = intervals(judged, 0.9, 30, 0).noise_rate
    monkeypatch.setattr("noisybayes.auditing.intervals._MAX_ROWS", 1_000)
    sampled = intervals(judged, 0.9, 30, 0).noise_rate
    below, above = (abs(logit(end) - logit(sampled.estimate)) for end in (sampled.low, sampled.high))
    np.testing.assert_allclose(below, above)
    assert sampled.estimate == whole.estimate
    assert 0.5 < (sampled.high - sampled.low) / (whole.high - whole.low) < 2


def test_the_method_is_named():
    drawn = "weighted-likelihood bootstrap, 12 draws, "
    assert found(judged()).method == drawn + "scores, calibration and matrix recomputed"
    assert found(judged(method="any")).method == drawn + "calibration and matrix recomputed"
    assert "25 draws" in found(judged(), draws=None).method
    assert found(judged()).level == 0.9


def test_intervals_cover_the_true_matrix():
    hits = []
    for seed in range(20):
        made = simulated(seed=seed)
        model = BernoulliINB(random_state=seed).fit(made.X, made.y)
        _, low, high = found(judge(model, made.X, made.y), draws=25, seed=seed).mislabel_matrix
        hits.append((low <= made.mislabel_matrix) & (made.mislabel_matrix <= high))
    assert 0.78 <= np.mean(hits) <= 0.98


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"level": 0.0}, "level must be between 0 and 1, got 0.0"),
        ({"level": 90}, "level must be between 0 and 1, got 90"),
        ({"draws": 1}, "draws must be at least 2, got 1"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        found(judged(), **arguments)
    assert str(refused.value) == message
