"""Why a row is suspected: the parts add up to what the audit says."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy import sparse
from sklearn.naive_bayes import GaussianNB

from noisybayes import BernoulliINB, GaussianINB, MislabelClassifier, MixedINB, MultinomialINB, audit

from ..made_texts import bursty_texts

N, N_WORDS, N_YES_NO, N_NUMBERS = 300, 150, 12, 4


def _yes_no(true, rng):
    return (rng.random((len(true), N_YES_NO)) < rng.uniform(0.2, 0.8, (3, N_YES_NO))[true]).astype(float)


def _numbers(true, rng):
    return 2.0 + rng.normal(0, 1.2, (3, N_NUMBERS))[true] + rng.normal(size=(len(true), N_NUMBERS))


def _all_kinds(words, true, rng):
    others = np.hstack([_yes_no(true, rng), _numbers(true, rng)])
    return sparse.csr_array(sparse.hstack([words, sparse.csr_array(others)]))


KINDS = [
    ("multinomial", slice(0, N_WORDS)),
    ("bernoulli", slice(N_WORDS, N_WORDS + N_YES_NO)),
    ("gaussian", slice(N_WORDS + N_YES_NO, None)),
]
MODELS = {
    "bernoulli": (BernoulliINB, lambda words, true, rng: _yes_no(true, rng)),
    "texts": (MultinomialINB, lambda words, true, rng: words),
    "gaussian": (lambda: GaussianINB(alpha=2.0), lambda words, true, rng: _numbers(true, rng)),
    "mixed": (lambda: MixedINB(KINDS, alpha=0.5), _all_kinds),
    "any classifier": (
        lambda: MislabelClassifier(GaussianNB(), n_folds=3), lambda words, true, rng: _numbers(true, rng),
    ),
}  # fmt: skip


@cache
def audited(name):
    """The fitted model, its rows, and what was found in them."""
    make, features = MODELS[name]
    rng = np.random.default_rng(0)
    words, true, _, _ = bursty_texts(0, n=N, n_test=1, n_classes=3, n_words=N_WORDS)
    X, y = features(words, true, rng), np.where(rng.random(N) < 0.2, (true + 1) % 3, true)
    model = make().fit(X, y, verified=np.where(np.arange(N) % 8 == 0, true, np.nan))
    return model, X, y, audit(model, X, y)


@pytest.mark.parametrize("name", MODELS)
def test_the_parts_add_up_to_the_log_odds_of_the_posterior(name):
    model, _, y, found = audited(name)
    suggested = np.searchsorted(model.classes_, found.table["suggested"])
    for why in found.evidence(np.arange(N), most=7):
        assert len(why.columns) == len(why.weights) <= 7
        assert why.weights.sum() + why.rest + why.label == pytest.approx(why.log_odds, abs=1e-8)
        true = np.maximum(model.true_proba_[why.row, [suggested[why.row], y[why.row]]], 1e-12)
        assert why.log_odds == pytest.approx(np.log(true[0] / true[1]), abs=1e-8)
    same = np.flatnonzero((found.table["suggested"] == found.table["given"]) & ~found.table["verified"])[:5]
    assert {why.log_odds for why in found.evidence(same)} == {0.0}
    assert found.evidence([]) == []


@pytest.mark.parametrize("name", ["bernoulli", "texts", "gaussian", "mixed"])
def test_the_largest_terms_come_first_and_more_of_them_change_no_earlier_one(name):
    _, X, _, found = audited(name)
    rows = found.suspects.index[:20]
    for few, many in zip(found.evidence(rows, 3), found.evidence(rows, 10_000), strict=True):
        assert np.all(np.diff(np.abs(many.weights)) <= 0)
        np.testing.assert_array_equal(few.columns, many.columns[:3])
        assert len(set(many.columns.tolist())) == len(many.columns)
        if name in ("texts", "mixed"):  # words that are absent are not shown
            assert set(many.columns[many.columns < N_WORDS].tolist()) <= set(X[[many.row]].indices.tolist())
        if name != "mixed":  # every column has a term of its own, so nothing is left over
            assert abs(many.rest) < 1e-8


def test_a_classifier_of_another_kind_explains_by_its_scores_alone():
    *_, found = audited("any classifier")
    for why in found.evidence(found.suspects.index):
        assert len(why.columns) == len(why.weights) == 0
        assert why.rest != 0.0
