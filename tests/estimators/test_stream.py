"""partial_fit: close to the batch fit, in any size of batch, with all that fit takes."""

from __future__ import annotations

import numpy as np
import pytest

from noisybayes import BernoulliINB, GaussianINB, MixedINB, MultinomialINB, simulate

DATA = simulate(7_000, random_state=0)
TRAIN, TEST = slice(0, 4_000), slice(4_000, None)


def accuracy(model):
    return np.mean(model.predict(DATA.X[TEST]) == DATA.true[TEST])


@pytest.mark.parametrize("batch", [50, 100, 500, 4_000])
def test_a_stream_comes_close_to_the_batch_fit(batch):
    best = accuracy(BernoulliINB(method="em").fit(DATA.X[TRAIN], DATA.y[TRAIN]))
    model = BernoulliINB()
    scores = []
    for _ in range(3):
        for start in range(0, 4_000, batch):
            rows = slice(start, start + batch)
            model.partial_fit(DATA.X[rows], DATA.y[rows], classes=range(5))
        scores.append(accuracy(model))
    # a single batch is a single EM step, which is not yet a fit
    assert batch == 4_000 or scores[0] > best - 0.015
    assert scores[2] > best - 0.005


@pytest.mark.parametrize("make", [BernoulliINB, MultinomialINB, GaussianINB, MixedINB])
def test_every_family_streams(make):
    rng = np.random.default_rng(0)
    true = rng.integers(3, size=3_000)
    X = rng.poisson(rng.gamma(1.0, 2.0, (3, 12))[true]).astype(float)
    y = np.where(rng.random(3_000) < 0.2, rng.integers(3, size=3_000), true)
    model = make()
    for start in range(0, 3_000, 250):
        model.partial_fit(X[start : start + 250], y[start : start + 250], classes=[0, 1, 2])
    assert np.mean(model.predict(X) == true) > np.mean(make(method="em").fit(X, y).predict(X) == true) - 0.02


def test_rows_seen_before_the_warm_up_count_by_their_labels():
    model = BernoulliINB(alpha=1.0)
    for start in range(0, 200, 10):
        rows = slice(start, start + 10)
        model.partial_fit(DATA.X[rows], DATA.y[rows], classes=range(5))
    counts = np.array([DATA.X[:200][DATA.y[:200] == k].sum(axis=0) for k in range(5)])
    size = np.bincount(DATA.y[:200], minlength=5)[:, None]
    np.testing.assert_allclose(model.feature_prob_, (counts + 1) / (size + 2))


def test_a_fit_can_be_continued():
    model = BernoulliINB().fit(DATA.X[:2_000], DATA.y[:2_000])
    before = accuracy(model)
    for start in range(2_000, 4_000, 200):
        model.partial_fit(DATA.X[start : start + 200], DATA.y[start : start + 200])
    assert accuracy(model) > before
    assert model.statistics_.joint.sum() == pytest.approx(4_000)


def test_a_batch_may_lack_classes_and_labels():
    model = BernoulliINB(missing_label=-1).partial_fit(DATA.X[:1], [2], classes=range(5))
    model.partial_fit(DATA.X[1:4], [-1, 0, -1], verified=[1, np.nan, np.nan], sample_weight=[1, 2, 3])
    assert np.isfinite(model.predict_proba(DATA.X[:10])).all()


def test_a_class_may_come_late():
    """Class 4 is announced, but first seen when the others have been learned."""
    early, late = np.flatnonzero(DATA.y[TRAIN] != 4), np.arange(4_000)
    model = BernoulliINB()
    for rows in (*np.array_split(early, 10), *np.array_split(late, 20)):
        model.partial_fit(DATA.X[rows], DATA.y[rows], classes=range(5))
    assert np.mean(model.predict(DATA.X[TEST][DATA.true[TEST] == 4]) == 4) > 0.8


def test_bad_batches_are_named():
    model = BernoulliINB().partial_fit(DATA.X[:50], DATA.y[:50], classes=range(5))
    with pytest.raises(ValueError, match="classes=.* differ from those of the first call of partial_fit"):
        model.partial_fit(DATA.X[:50], DATA.y[:50], classes=range(4))
    with pytest.raises(ValueError, match="y contains labels that are not among the known classes: 9"):
        model.partial_fit(DATA.X[:1], [9])
    with pytest.raises(ValueError, match="X has 3 features, but BernoulliINB is expecting 500"):
        model.partial_fit(DATA.X[:1, :3], [1])
