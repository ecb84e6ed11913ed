"""The drift warning sounds where EM follows a hidden topic instead of the labels, and not where the model holds."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from noisybayes import BernoulliINB, simulate
from noisybayes.estimators.latent import DRIFT_ALARM
from noisybayes.model.mislabel import DriftWarning


def with_hidden_topic(seed):
    rng = np.random.default_rng(seed)
    data = simulate(600, n_features=200, n_classes=3, diagonal=(0.8, 0.9), random_state=seed)
    rates = np.where(rng.random((3, 15)) < 0.5, 0.2, 0.8)
    topic = (rng.random((600, 15)) < rates[rng.integers(3, size=600)]).astype(float)
    return np.hstack([data.X, np.repeat(topic, 5, axis=1)]), data.y


@pytest.mark.parametrize("make", [lambda: BernoulliINB(method="em"), BernoulliINB.paper])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_alarm_sounds_where_em_drifts(make, seed):
    X, y = with_hidden_topic(seed)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = make().fit(X, y)
    assert model.drift_ > DRIFT_ALARM
    assert any(issubclass(warning.category, DriftWarning) for warning in caught)


@pytest.mark.parametrize("diagonal", [(0.55, 0.65), (0.75, 0.85)])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_it_is_silent_on_the_simulation_of_the_paper(diagonal, seed):
    data = simulate(500, diagonal=diagonal, random_state=seed)
    assert BernoulliINB.paper().fit(data.X, data.y).drift_ < 0
