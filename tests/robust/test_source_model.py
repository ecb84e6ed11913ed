"""Laws of the effects of sources, given P(true | x)."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, log_softmax, logit, logsumexp

from noisybayes.robust.effect_priors import SPREADS, Independent, Walk, best_spread
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


def test_effects_are_where_the_likelihood_times_the_prior_is_highest(model, effects):
    """A derivative by differences of the likelihood summed over true labels, which EM never computes."""
    precision = model._precision(effects.chosen, effects.spread)
    design = model._design(effects.chosen)

    def height(values):
        joint = model._log_joint(design @ values, effects.shares)
        return logsumexp(joint, axis=1).sum() - 0.5 * values @ precision @ values

    for at in range(len(effects.values)):
        step = np.zeros(len(effects.values))
        step[at] = 1e-4
        slope = (height(effects.values + step) - height(effects.values - step)) / 2e-4
        assert abs(slope) < 0.01
        assert height(effects.values + 1e3 * step) < height(effects.values)


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


def test_one_level_says_nothing_beyond_the_shift(model):
    alone = SourceModel(
        model.log_prior, model.label, model.mislabel, model.log_odds,
        (Levels(np.zeros(N, dtype=int), 1, Independent()),), model.fold,
    )  # fmt: skip
    found = alone.fitted((0,))
    assert found.spread == (SPREADS[0],)
    assert abs(found.values[1]) < 1e-3


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


def test_what_a_label_says_is_a_ratio_of_probabilities(model):
    care = np.linspace(-2.0, 2.0, N)
    told = np.exp(model.log_evidence(care)) * model.mislabel[model.label]
    right = model.mislabel[0, 0]
    wrong = np.exp(care) * (1 - right) / (right + np.exp(care) * (1 - right))
    np.testing.assert_allclose(told[np.arange(N), model.label], 1 - wrong)
    others = (model.label + 1) % K
    np.testing.assert_allclose(told[np.arange(N), others], wrong / (K - 1))


def test_spread_of_effects():
    rng = np.random.default_rng(0)
    for spread in (0.25, 1.0):
        effects = rng.normal(scale=spread, size=200)
        for prior, values in ((Independent(), effects), (Walk(), effects.cumsum() - effects.cumsum().mean())):
            information = np.full(200, 50.0)
            linear = information * values + rng.normal(size=200) * np.sqrt(information)
            assert best_spread(prior, information, linear) == pytest.approx(spread, rel=0.5)
    assert best_spread(Independent(), np.full(200, 50.0), rng.normal(size=200) * np.sqrt(50.0)) == SPREADS[0]
