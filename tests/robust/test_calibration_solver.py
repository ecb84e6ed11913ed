"""A calibration fitted to labels: by EM with Newton steps, and accelerated, which ends at the same maximum."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from noisybayes.robust.calibration import Calibration, Labels, centred
from noisybayes.robust.calibration_solver import Target, accelerate, maximise, objective
from noisybayes.robust.constants import DEFAULT
from noisybayes.robust.old_model.mislabel import Full, constant_rate

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


def start(n_scores=2):
    zeros = np.zeros((1, K))
    return Calibration(np.ones((1, n_scores)), zeros, constant_rate(K, 0.9)[None], zeros)


def by_anderson(target, start):
    return accelerate(target, start, target.config.calibration_tolerance, target.config.pseudo_rows)


def test_the_accelerated_fit_ends_at_the_same_maximum():
    aim = target(*labels_and_scores(0), tolerance=1e-11)
    plain, accelerated = maximise(aim, start()), by_anderson(aim, start())
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
