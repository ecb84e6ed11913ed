"""Why a row is suspected: the parts add up to what the audit says."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from noisybayes import audit

from ..made_texts import bursty_texts

N, N_WORDS, N_YES_NO, N_NUMBERS = 300, 150, 12, 4


def _yes_no(true, rng):
    return (rng.random((len(true), N_YES_NO)) < rng.uniform(0.2, 0.8, (3, N_YES_NO))[true]).astype(float)


def _numbers(true, rng):
    return 2.0 + rng.normal(0, 1.2, (3, N_NUMBERS))[true] + rng.normal(size=(len(true), N_NUMBERS))


CLASSIFIER = LogisticRegression()
MODELS = {
    "yes/no": (None, lambda words, true, rng: _yes_no(true, rng)),
    "words": (None, lambda words, true, rng: words),
    "numbers": (None, lambda words, true, rng: _numbers(true, rng)),
    "yes/no and numbers": (None, lambda words, true, rng: np.hstack([_yes_no(true, rng), _numbers(true, rng)])),
    "any classifier": (CLASSIFIER, lambda words, true, rng: _numbers(true, rng)),
}


@cache
def audited(name):
    """The rows, their labels, and what was found in them."""
    model, features = MODELS[name]
    rng = np.random.default_rng(0)
    words, true, _, _ = bursty_texts(0, n=N, n_test=1, n_classes=3, n_words=N_WORDS)
    X, y = features(words, true, rng), np.where(rng.random(N) < 0.2, (true + 1) % 3, true)
    verified = np.where(np.arange(N) % 8 == 0, true, np.nan)
    return X, y, audit(X, y, verified=verified) if model is None else audit(model, X, y, verified=verified)


@pytest.mark.parametrize("name", MODELS)
def test_the_parts_add_up_to_the_log_odds_of_the_posterior(name):
    _, y, found = audited(name)
    suggested, posterior = found.table["suggested"].to_numpy(), found.findings.judged.pool.posterior
    for why in found.evidence(np.arange(N), most=7):
        assert len(why.columns) == len(why.weights) <= 7
        others = sum(weight for _, weight in why.others)
        assert why.weights.sum() + why.rest + why.label + others == pytest.approx(why.log_odds, abs=1e-8)
        true = np.maximum(posterior[why.row, [suggested[why.row], y[why.row]]], 1e-6)
        assert why.log_odds == pytest.approx(np.log(true[0] / true[1]), abs=1e-8)
    same = np.flatnonzero((found.table["suggested"] == found.table["given"]) & ~found.table["verified"])[:5]
    assert {why.log_odds for why in found.evidence(same)} == {0.0}
    assert found.evidence([]) == []


@pytest.mark.parametrize("name", MODELS)
def test_the_largest_terms_come_first_and_more_of_them_change_no_earlier_one(name):
    X, _, found = audited(name)
    rows = found.suspects.index[:20]
    for few, many in zip(found.evidence(rows, 3), found.evidence(rows, 10_000), strict=True):
        assert np.all(np.diff(np.abs(many.weights)) <= 0)
        np.testing.assert_array_equal(few.columns, many.columns[:3])
        assert len(set(many.columns.tolist())) == len(many.columns)
        if name == "words":  # words that are absent are not shown
            assert set(many.columns.tolist()) <= set(X[[many.row]].indices.tolist())


def test_what_a_classifier_says_is_one_term():
    *_, found = audited("any classifier")
    assert any(weight != 0.0 for why in found.evidence(found.suspects.index) for _, weight in why.others)
