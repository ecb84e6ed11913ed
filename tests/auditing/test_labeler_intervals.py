"""Intervals of labelers' error rates: as wide as labels are few and columns are vague, and they cover."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta

from noisybayes.auditing.labeler_intervals import rate_posteriors
from noisybayes.data.labelers import make_labelers
from noisybayes.model.mislabel import Full, constant_rate
from noisybayes.robust.labeler_model import GivenLabels, LabelerModel

K, G = 4, 10


def labeled(seed, sharp=2.0, sizes=None):
    """Labels of rows whose P(true | x) is known, and the rates at which labelers err."""
    rng = np.random.default_rng(seed)
    sizes = np.geomspace(20, 1_000, G).astype(int) if sizes is None else sizes
    who = np.repeat(np.arange(G), rng.permutation(sizes))
    true = rng.integers(K, size=len(who))
    score = sharp * (sharp * np.eye(K)[true] + rng.normal(size=(len(who), K)))
    log_prior = score - np.log(np.exp(score).sum(axis=1, keepdims=True))
    matrices = make_labelers(G, K, rng)
    label = (rng.random(len(who))[:, None] > matrices.cumsum(axis=1)[who, :, true]).sum(axis=1).clip(max=K - 1)
    given = GivenLabels(np.arange(len(who)), label, who, G)
    model = LabelerModel(log_prior, given, np.arange(len(who)) % 5, constant_rate(K, 0.7), Full())
    return model, 1 - np.diagonal(matrices, axis1=1, axis2=2).mean(axis=1), true


def intervals(model, level=0.9):
    return rate_posteriors(model, model.solved()).intervals(level)


def test_nine_of_ten_hold_the_rate():
    inside = []
    for seed in range(20):
        model, rate, _ = labeled(seed)
        low, high = intervals(model)
        inside += ((low <= rate) & (rate <= high)).tolist()
    assert 0.82 <= np.mean(inside) <= 0.97


def test_with_known_true_labels_it_is_about_that_of_a_share():
    model, _, true = labeled(0, sharp=8.0, sizes=np.full(G, 200))
    given = model.given
    wrong = np.bincount(given.labeler, given.label != true, minlength=G)
    low, high = intervals(model)
    np.testing.assert_allclose(low, beta.ppf(0.05, wrong + 0.5, 200 - wrong + 0.5), atol=0.03)
    np.testing.assert_allclose(high, beta.ppf(0.95, wrong + 0.5, 200 - wrong + 0.5), atol=0.03)


def test_vague_columns_few_labels_and_a_higher_level_make_it_wider():
    sharp, vague = (np.diff(intervals(labeled(1, s, np.full(G, 150))[0]), axis=0).mean() for s in (4.0, 1.0))
    assert sharp < vague
    many, few = (np.diff(intervals(labeled(1, 2.0, np.full(G, n))[0]), axis=0).mean() for n in (800, 50))
    assert many < 0.5 * few
    model = labeled(1)[0]
    (low, high), (lower, higher) = intervals(model), intervals(model, 0.99)
    assert (lower < low).all()
    assert (high < higher).all()


def test_verified_rows_count_as_known():
    model, _, true = labeled(2, sharp=0.5, sizes=np.full(G, 100))
    known = LabelerModel(model.log_prior, model.given, model.fold, model.start, model.structure, true)
    assert np.diff(intervals(known), axis=0).mean() < 0.7 * np.diff(intervals(model), axis=0).mean()
    rate = np.bincount(model.given.labeler, model.given.label != true, minlength=G) / 100
    assert intervals(known).mean(axis=0) == pytest.approx(rate, abs=0.04)
