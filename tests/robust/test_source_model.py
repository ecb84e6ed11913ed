"""Laws of the effects of sources, given P(true | x)."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, log_softmax, logit

from noisybayes.robust.effect_priors import Independent, Walk
from noisybayes.robust.source_model import Levels, SourceModel, log_odds_of_wrong

N, K, L, T = 1_500, 3, 4, 8
EFFECTS, OVER_TIME = np.array([-1.0, -0.5, 0.0, 1.5]), np.linspace(1.0, -1.0, T)


def made(seed=0, strength=1.0):
    """Rows with clear features, and mistakes that depend on two sources."""
    rng = np.random.default_rng(seed)
    true, channel, week = rng.integers(K, size=N), rng.integers(L, size=N), rng.integers(T, size=N)
    log_prior = log_softmax(2.0 * (2.0 * np.eye(K)[true] + rng.normal(size=(N, K))), axis=1)
    wrong = rng.random(N) < expit(logit(0.15) + strength * (EFFECTS[channel] + OVER_TIME[week]))
    label = np.where(wrong, (true + rng.integers(1, K, size=N)) % K, true)
    mislabel = np.where(np.eye(K), 0.8, 0.1)
    return SourceModel(
        log_prior, label, mislabel, np.repeat(log_odds_of_wrong(mislabel)[None], N, axis=0),
        (Levels(channel, L, Independent()), Levels(week, T, Walk())), rng.integers(5, size=N),
    )  # fmt: skip


@pytest.fixture(scope="module")
def model():
    return made()


@pytest.fixture(scope="module")
def effects(model):
    return model.fitted((0, 1))


def test_effects_are_recovered(effects):
    channel, week = effects.values[1 : 1 + L], effects.values[1 + L :]
    np.testing.assert_allclose(channel - channel.mean(), EFFECTS - EFFECTS.mean(), atol=0.5)
    np.testing.assert_allclose(week - week.mean(), OVER_TIME, atol=0.5)


def test_order_of_rows_and_names_of_levels_change_nothing(model, effects):
    order, renamed = np.random.default_rng(1).permutation(N), np.array([2, 0, 3, 1])
    channel, week = model.sources
    other = SourceModel(
        model.log_prior[order], model.label[order], model.mislabel, model.log_odds[order],
        (channel._replace(code=renamed[channel.code[order]]), week._replace(code=week.code[order])), model.fold[order],
    )  # fmt: skip
    found = other.fitted((0, 1))
    np.testing.assert_allclose(found.values[1 + renamed], effects.values[1 : 1 + L], atol=1e-4)
    np.testing.assert_allclose(other.care(found), model.care(effects)[order], atol=1e-4)


def test_a_row_has_no_say_in_its_own_effects(model, effects):
    """Labels of a fold may be anything: what is said of its rows stays almost the same."""
    here = model.fold == 0
    label = np.where(here & (model.sources[0].code == 0), (model.label + 1) % K, model.label)
    other = SourceModel(model.log_prior, label, model.mislabel, model.log_odds, model.sources, model.fold)
    found = other.fitted((0, 1))
    with_own = abs(found.values[1] - effects.values[1])
    level = here & (model.sources[0].code == 0)
    without = np.abs(other.care(found)[level] - model.care(effects)[level]).mean()
    assert without < 0.5 * with_own
