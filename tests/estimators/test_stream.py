"""partial_fit: close to the batch fit, with all that fit takes."""

from __future__ import annotations

import numpy as np
import pytest

from noisybayes import BernoulliINB, GaussianINB, MixedINB, MultinomialINB, simulate

DATA = simulate(6_000, random_state=0)
TRAIN, TEST = slice(0, 4_000), slice(4_000, None)


def accuracy(model):
    return np.mean(model.predict(DATA.X[TEST]) == DATA.true[TEST])


def test_a_stream_comes_close_to_the_batch_fit():
    best = accuracy(BernoulliINB(method="em").fit(DATA.X[TRAIN], DATA.y[TRAIN]))
    model = BernoulliINB()
    scores = []
    for _ in range(3):
        for start in range(0, 4_000, 100):
            rows = slice(start, start + 100)
            model.partial_fit(DATA.X[rows], DATA.y[rows], classes=range(5))
        scores.append(accuracy(model))
    assert scores[0] > best - 0.015
    assert scores[2] > best - 0.005


@pytest.mark.parametrize("make", [BernoulliINB, MultinomialINB, GaussianINB, MixedINB])
def test_every_family_streams_and_goes_on_from_a_fit(make):
    rng = np.random.default_rng(0)
    true = rng.integers(3, size=3_000)
    X = rng.poisson(rng.gamma(1.0, 2.0, (3, 12))[true]).astype(float)
    y = np.where(rng.random(3_000) < 0.2, rng.integers(3, size=3_000), true)
    model = make().fit(X[:1_000], y[:1_000])  # a fit can be continued
    for start in range(1_000, 3_000, 250):
        model.partial_fit(X[start : start + 250], y[start : start + 250])
    assert model.statistics_.joint.sum() == pytest.approx(3_000)
    assert np.mean(model.predict(X) == true) > np.mean(make(method="em").fit(X, y).predict(X) == true) - 0.02


def test_a_batch_may_lack_classes_and_labels():
    model = BernoulliINB(missing_label=-1).partial_fit(DATA.X[:1], [2], classes=range(5))
    model.partial_fit(DATA.X[1:4], [-1, 0, -1], verified=[1, np.nan, np.nan], sample_weight=[1, 2, 3])
    assert np.isfinite(model.predict_proba(DATA.X[:10])).all()


def test_bad_batches_are_named():
    model = BernoulliINB().partial_fit(DATA.X[:50], DATA.y[:50], classes=range(5))
    with pytest.raises(ValueError, match="classes=.* differ from those of the first call of partial_fit"):
        model.partial_fit(DATA.X[:50], DATA.y[:50], classes=range(4))
    with pytest.raises(ValueError, match="y contains labels that are not among the known classes: 9"):
        model.partial_fit(DATA.X[:1], [9])
    with pytest.raises(ValueError, match="X has 3 features, but BernoulliINB is expecting 500"):
        model.partial_fit(DATA.X[:1, :3], [1])
