"""Calibration: the climb, and the leaps that end where it does."""

from __future__ import annotations

import numpy as np
import pytest
from noisybayes.model.anderson import Anderson
from noisybayes.model.calibration import Calibration, Labels, centred, posterior
from noisybayes.model.climbing import calibrate, climb, leap
from noisybayes.model.folded import KeptScores

from noisybayes.model import climbing
from noisybayes.model.mislabel import Full, constant_rate


def labels_and_scores(seed, n=1_500, K=4):
    rng = np.random.default_rng(seed)
    true = rng.integers(K, size=n)
    scores = rng.normal(size=(2, n, K))
    scores[:, np.arange(n), true] += [[1.5], [0.7]]
    matrix = constant_rate(K, 0.75)
    observed = np.array([rng.choice(K, p=matrix[:, t]) for t in true])
    return centred(scores), Labels(observed, None, rng.standard_exponential(n))


def start(K=4):
    return Calibration(np.ones(2), np.zeros(K), constant_rate(K, 0.9), np.zeros(K))


def height(calibration, scores, labels, penalty=0.01):
    likelihood = posterior(calibration, scores, labels).log_likelihood
    return np.average(likelihood, weights=labels.weight) - penalty * (calibration.offset**2).sum()


def counted(monkeypatch):
    calls, sums = [], climbing._sums

    def count(*args):
        calls.append(args)
        return sums(*args)

    monkeypatch.setattr(climbing, "_sums", count)
    return calls


@pytest.mark.parametrize("seed", range(4))
def test_leaps_end_where_the_climb_does_in_fewer_rounds(seed, monkeypatch):
    scores, labels = labels_and_scores(seed)
    monkeypatch.setattr(climbing, "_MOST_ROUNDS", 2_000)
    calls = counted(monkeypatch)
    climbed = climb(scores, labels, Full(0.0), 0.01, start(), 1.0, 1e-11)
    n_climb = len(calls)
    leapt = leap(scores, labels, Full(0.0), 0.01, start(), 1.0, 1e-11)
    assert len(calls) - n_climb < n_climb / 2
    np.testing.assert_allclose(leapt.mislabel, climbed.mislabel, atol=1e-3)
    np.testing.assert_allclose(leapt.temperature, climbed.temperature, rtol=1e-2)
    assert height(leapt, scores, labels) >= height(climbed, scores, labels) - 1e-7


@pytest.mark.parametrize("seed", range(4))
def test_a_leap_never_ends_below_its_start(seed):
    """However far from the top it starts."""
    scores, labels = labels_and_scores(seed, n=200)
    far = start()._replace(temperature=np.array([20.0, 1e-3]), offset=np.array([3.0, -1.0, -1.0, -1.0]))
    leapt = leap(scores, labels, Full(0.0), 0.01, far, 1.0, 1e-6)
    assert np.isfinite(leapt.mislabel).all()
    np.testing.assert_allclose(leapt.mislabel.sum(axis=0), 1.0)
    assert height(leapt, scores, labels) > height(far, scores, labels)


def test_a_linear_map_is_solved_in_as_many_steps_as_it_has_dimensions():
    rng = np.random.default_rng(0)
    A, b = 0.9 * np.linalg.qr(rng.normal(size=(3, 3)))[0], rng.normal(size=3)
    ahead, x = Anderson(), np.zeros(3)
    for _ in range(5):
        x = ahead.next(x, A @ x + b)
    np.testing.assert_allclose(x, np.linalg.solve(np.eye(3) - A, b), atol=1e-8)


@pytest.mark.parametrize("find", [climb, leap])
def test_a_score_that_speaks_against_its_class_is_as_good_as_none(find, monkeypatch):
    """Temperatures are not negative, and one that would be must not drive the others beyond the top."""
    scores, labels = labels_and_scores(0)
    rng = np.random.default_rng(1)
    against = centred(0.8 * scores[0] + 0.3 * rng.normal(size=scores[0].shape))
    against[np.arange(len(against)), labels.observed] -= 0.3
    both, alone = np.stack([scores[0], centred(against)]), scores[:1]
    monkeypatch.setattr(climbing, "_MOST_ROUNDS", 500)
    two = find(both, labels, Full(0.0), 0.01, start(), 1.0, 1e-9)
    one = find(alone, labels, Full(0.0), 0.01, start()._replace(temperature=np.ones(1)), 1.0, 1e-9)
    assert two.temperature[1] < 0.02
    np.testing.assert_allclose(two.temperature[0], one.temperature[0], rtol=0.03)
    np.testing.assert_allclose(two.mislabel, one.mislabel, atol=0.01)


def test_many_rows_leave_less_to_the_sample(monkeypatch):
    """Seeds choose the rows that settle temperatures: with more of them the seeds agree."""
    scores, labels = labels_and_scores(0, n=20_000)

    def spread():
        found = [
            calibrate(KeptScores(scores), labels, Full(0.0), 0.01, np.zeros(4), None, np.random.default_rng(seed))
            for seed in range(6)
        ]
        return np.std([one.temperature[0] for one in found])

    few = spread()
    monkeypatch.setattr(climbing, "_MANY_ROWS", 16_000)
    assert spread() < few / 2
