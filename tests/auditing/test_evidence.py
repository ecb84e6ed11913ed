"""Why a row is suspected: the parts add up to what the audit says, and none of them knows the row's own label."""

from __future__ import annotations

from collections import defaultdict
from functools import cache

import numpy as np
import pytest
from scipy import sparse
from sklearn.naive_bayes import GaussianNB

from noisybayes import BernoulliINB, GaussianINB, MislabelClassifier, MixedINB, MultinomialINB, simulate
from noisybayes.auditing import examine
from noisybayes.data.noise import uniform_noise
from noisybayes.data.simulate import corrupt

from ..made_texts import bursty_texts

N, N_WORDS, N_YES_NO, N_NUMBERS = 400, 250, 12, 4


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
    "bernoulli, sparse": (BernoulliINB, lambda words, true, rng: sparse.csr_array(_yes_no(true, rng))),
    "bernoulli, many words": (BernoulliINB, lambda words, true, rng: words),
    "texts": (MultinomialINB, lambda words, true, rng: words),
    "gaussian": (lambda: GaussianINB(alpha=2.0), lambda words, true, rng: _numbers(true, rng)),
    "gaussian, sparse": (
        lambda: GaussianINB(alpha=2.0),
        lambda words, true, rng: sparse.csr_array(_numbers(true, rng)),
    ),
    "mixed": (lambda: MixedINB(KINDS, alpha=0.5), _all_kinds),
    "any classifier": (
        lambda: MislabelClassifier(GaussianNB(), n_folds=3),
        lambda words, true, rng: _numbers(true, rng),
    ),
}
#: Every column has a term of its own.
COMPLETE = ["bernoulli", "bernoulli, sparse", "gaussian", "gaussian, sparse"]


@cache
def texts():
    return bursty_texts(0, n=N, n_test=1, n_classes=3, n_words=N_WORDS)


@cache
def audited(name, verified):
    """The fitted model, its rows, and what was found in them."""
    make, features = MODELS[name]
    rng = np.random.default_rng(0)
    words, true, _, _ = texts()
    X, y = features(words, true, rng), corrupt(true, uniform_noise(3, 0.2), rng)
    known = np.where(np.arange(N) % 8 == 0, true, np.nan) if verified else None
    model = make().fit(X, y, verified=known)
    return model, X, y, examine(model, X, y, draws=2)


@pytest.mark.parametrize("verified", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_the_parts_add_up_to_the_log_odds_of_the_posterior(name, verified):
    model, _, y, found = audited(name, verified)
    suggested = np.searchsorted(model.classes_, found.table["suggested"])
    for why in found.evidence(np.arange(N), most=7):
        assert len(why.columns) == len(why.weights) <= 7
        assert why.weights.sum() + why.rest + why.label == pytest.approx(why.log_odds, abs=1e-8)
        true = np.maximum(model.true_proba_[why.row, [suggested[why.row], y[why.row]]], 1e-12)
        assert why.log_odds == pytest.approx(np.log(true[0] / true[1]), abs=1e-8)


@pytest.mark.parametrize("name", MODELS)
def test_the_largest_terms_come_first_and_more_of_them_change_no_earlier_one(name):
    *_, found = audited(name, False)
    rows = found.suspects.index[:20]
    for few, many in zip(found.evidence(rows, 3), found.evidence(rows, 10_000), strict=True):
        assert np.all(np.diff(np.abs(many.weights)) <= 0)
        np.testing.assert_array_equal(few.columns, many.columns[:3])
        np.testing.assert_array_equal(few.weights, many.weights[:3])
        assert len(set(many.columns.tolist())) == len(many.columns)


@pytest.mark.parametrize("name", COMPLETE)
def test_where_every_column_has_a_term_nothing_is_left_over(name):
    _, X, _, found = audited(name, False)
    rows = found.suspects.index
    assert len(rows) > 10
    assert max(abs(why.rest) for why in found.evidence(rows, most=X.shape[1])) < 1e-8


@pytest.mark.parametrize("name", ["texts", "bernoulli, many words", "mixed"])
def test_words_that_are_absent_are_not_shown(name):
    _, X, _, found = audited(name, False)
    for why in found.evidence(found.suspects.index, most=X.shape[1]):
        words = why.columns[why.columns < N_WORDS]
        assert set(words.tolist()) <= set(X[[why.row]].indices.tolist())
        assert len(words) > 0


def test_of_texts_the_present_words_say_all():
    *_, found = audited("texts", False)
    assert max(abs(why.rest) for why in found.evidence(found.suspects.index, most=N_WORDS)) < 1e-8


def test_blocks_keep_their_columns():
    *_, found = audited("mixed", False)
    columns = np.concatenate([why.columns for why in found.evidence(found.suspects.index, most=10_000)])
    assert set(range(N_WORDS, N_WORDS + N_YES_NO + N_NUMBERS)) <= set(columns.tolist())


def test_a_classifier_of_another_kind_explains_by_its_scores_alone():
    *_, found = audited("any classifier", False)
    for why in found.evidence(found.suspects.index):
        assert len(why.columns) == len(why.weights) == 0
        assert why.rest != 0.0


@pytest.mark.parametrize("name", MODELS)
def test_out_of_fold_scores_reproduce_the_fit(name):
    *_, found = audited(name, False)
    fit = found.judged.training.robust_fit
    rows, _ = found.judged.take(np.arange(N))
    each, combined = fit.last.learned.out_of_fold.scores(rows), found.judged.fitted.scorer.scores(rows)
    by_temperature = np.tensordot(fit.calibration.temperature[0], each, axes=1)[:, 0]
    difference = by_temperature - combined[0, :, 0]  # up to a constant per row
    np.testing.assert_allclose(difference - difference[:, :1], 0.0, rtol=0, atol=1e-9)


def test_evidence_does_not_know_the_label_of_its_row():
    """Each row has a word of its own, which no other row has: it cannot speak for the label that the row was given."""
    n = 200
    X = sparse.csr_array(sparse.hstack([sparse.eye_array(n), sparse.csr_array(np.ones((n, 1)))]))
    y = np.random.default_rng(0).integers(2, size=n)
    model = MultinomialINB().fit(X, y)
    found = examine(model, X, y, budget=n, draws=2)
    own = [why.weights[why.columns == why.row] * (2 * y[why.row] - 1) for why in found.evidence(np.arange(n))]
    # what the word says hangs on sizes of classes in the other folds, the same for all rows of a label in a fold
    spread = defaultdict(set)
    folds = found.judged.training.folds.of(np.arange(n))
    for row, weight in enumerate(own):
        spread[folds[row], y[row]].add(round(float(weight.sum()), 9))
    assert len(spread) == 2 * len(np.unique(folds)) > 2
    assert all(len(values) == 1 for values in spread.values())


def test_a_row_that_agrees_with_its_label_has_no_odds():
    data = simulate(200, n_features=60, n_classes=3, diagonal=(0.9, 0.95), random_state=0)
    found = examine(BernoulliINB().fit(data.X, data.y), data.X, data.y, draws=2)
    rows = np.flatnonzero(found.table["suggested"] == found.table["given"])[:5]
    for why in found.evidence(rows):
        assert (why.log_odds, why.rest, why.label) == (0.0, 0.0, 0.0)
    assert found.evidence([]) == []
