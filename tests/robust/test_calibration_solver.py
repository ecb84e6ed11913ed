"""A calibration fitted to labels: by EM with Newton steps, and accelerated, which ends at the same maximum."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from noisybayes.dataset import Rows
from noisybayes.model.mislabel import Full, constant_rate
from noisybayes.robust import calibration_solver
from noisybayes.robust.anderson import Anderson
from noisybayes.robust.calibration import Calibration, Labels, centred
from noisybayes.robust.calibration_solver import Target, accelerate, maximise, objective
from noisybayes.robust.constants import DEFAULT
from noisybayes.robust.problem import RobustProblem
from noisybayes.robust.sample import SampledRows
from noisybayes.robust.selection import calibrate_sample

K = 4


def labels_and_scores(seed, n=1_500):
    rng = np.random.default_rng(seed)
    true = rng.integers(K, size=n)
    scores = rng.normal(size=(2, n, K))
    scores[:, np.arange(n), true] += [[1.5], [0.7]]
    matrix = constant_rate(K, 0.75)
    observed = np.array([rng.choice(K, p=matrix[:, t]) for t in true])
    return centred(scores), Labels(observed, None, rng.standard_exponential((n, 1)))


def target(scores, labels, tolerance, rounds=2_000):
    """What one replicate is fitted to. scores : (B, n, K)"""
    config = replace(DEFAULT, pseudo_rows=1.0, calibration_tolerance=tolerance, calibration_rounds=rounds)
    return Target(scores[:, :, None], labels, Full(0.0), np.array([0.01]), config)


def by_newton(target, start):
    return maximise(target, start)


def by_anderson(target, start):
    return accelerate(target, start, target.config.calibration_tolerance, target.config.pseudo_rows)


def start(n_scores=2):
    zeros = np.zeros((1, K))
    return Calibration(np.ones((1, n_scores)), zeros, constant_rate(K, 0.9)[None], zeros)


def counted(monkeypatch):
    calls, sums = [], calibration_solver._sums

    def count(*args):
        calls.append(args)
        return sums(*args)

    monkeypatch.setattr(calibration_solver, "_sums", count)
    return calls


@pytest.mark.parametrize("seed", range(4))
def test_the_accelerated_fit_ends_at_the_same_maximum_in_fewer_rounds(seed, monkeypatch):
    aim = target(*labels_and_scores(seed), tolerance=1e-11)
    calls = counted(monkeypatch)
    plain = by_newton(aim, start())
    n_plain = len(calls)
    accelerated = by_anderson(aim, start())
    assert len(calls) - n_plain < n_plain / 2
    np.testing.assert_allclose(accelerated.mislabel, plain.mislabel, atol=1e-3)
    np.testing.assert_allclose(accelerated.temperature, plain.temperature, rtol=1e-2)
    assert objective(aim, accelerated) >= objective(aim, plain) - 1e-7


@pytest.mark.parametrize("seed", range(4))
def test_the_accelerated_fit_never_ends_below_its_start(seed):
    """However far from the maximum it starts."""
    aim = target(*labels_and_scores(seed, n=200), tolerance=1e-6)
    far = start()._replace(temperature=np.array([[20.0, 1e-3]]), offset=np.array([[3.0, -1.0, -1.0, -1.0]]))
    accelerated = by_anderson(aim, far)
    assert np.isfinite(accelerated.mislabel).all()
    np.testing.assert_allclose(accelerated.mislabel.sum(axis=1), 1.0)
    assert objective(aim, accelerated) > objective(aim, far)


def test_a_linear_map_is_solved_in_as_many_steps_as_it_has_dimensions():
    rng = np.random.default_rng(0)
    A, b = 0.9 * np.linalg.qr(rng.normal(size=(3, 3)))[0], rng.normal(size=3)
    ahead, x = Anderson(), np.zeros(3)
    for _ in range(5):
        x = ahead.next(x, A @ x + b)
    np.testing.assert_allclose(x, np.linalg.solve(np.eye(3) - A, b), atol=1e-8)


@pytest.mark.parametrize("find", [by_newton, by_anderson])
def test_a_score_that_speaks_against_its_class_is_as_good_as_none(find):
    """Temperatures are not negative, and one that would be must not drive the others beyond the maximum."""
    scores, labels = labels_and_scores(0)
    rng = np.random.default_rng(1)
    against = centred(0.8 * scores[0] + 0.3 * rng.normal(size=scores[0].shape))
    against[np.arange(len(against)), labels.observed] -= 0.3
    both, alone = np.stack([scores[0], centred(against)]), scores[:1]
    two = find(target(both, labels, 1e-9, rounds=500), start())
    one = find(target(alone, labels, 1e-9, rounds=500), start(1))
    assert two.temperature[0, 1] < 0.02
    np.testing.assert_allclose(two.temperature[0, 0], one.temperature[0, 0], rtol=0.03)
    np.testing.assert_allclose(two.mislabel, one.mislabel, atol=0.01)


def test_replicates_fitted_together_are_those_fitted_alone():
    """Each has its own scores, weights and penalty."""
    made = [labels_and_scores(seed, n=400) for seed in range(3)]
    labels = made[0][1]
    scores = np.stack([scores for scores, _ in made], axis=2)
    weight = np.column_stack([each.weight[:, 0] for _, each in made])
    penalty = np.array([0.01, 0.1, 1.0])
    together = maximise(Target(scores, labels._replace(weight=weight), Full(0.0), penalty), start().take([0, 0, 0]))
    for r in range(3):
        own = labels._replace(weight=weight[:, [r]])
        alone = maximise(Target(scores[:, :, [r]], own, Full(0.0), penalty[[r]]), start())
        for a, b in zip(together.take([r]), alone, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-9)


def test_more_rows_leave_less_to_the_sample():
    """Seeds choose the rows that temperatures are fitted to: with more of them the seeds agree."""
    n = 4_000
    scores, labels = labels_and_scores(0, n=n)
    rows = Rows(np.zeros((n, 1)), labels.observed, None, labels.weight[:, 0])
    source = SimpleNamespace(n_threads=1)

    def spread(newton_rows):
        config = replace(DEFAULT, newton_rows=newton_rows, calibration_tolerance=1e-7, calibration_rounds=300)
        problem = RobustProblem(source, Full(0.0), K, config=config)
        drawn = [SampledRows(rows, np.random.default_rng(seed).permutation(n)) for seed in range(6)]
        found = [
            calibrate_sample(problem, each, scores[:, :, None], np.zeros((1, K)), np.array([0.01])) for each in drawn
        ]
        return np.std([one.temperature[0, 0] for one in found])

    assert spread(3_200) < spread(1_001) / 2
