"""Filters: what they drop, what they keep, and what learns from the rest."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB

from paper.baselines import EnsembleFilter, NaiveBayesFilter, SVMFilter, left_out
from paper.baselines.filters import Verdict, kept, suspicion
from paper.baselines.inputs import Rows

from .needs_torch import over
from .small import TRUE, D, X, Y, quick

SHALLOW = ("majority-filter", "consensus-filter", "svm-filter", "nb-filter")
over_filters = over([*SHALLOW, "cmtnn"])
WRONG = Y != TRUE


@over_filters
def test_most_dropped_labels_are_wrong_and_the_suspicion_ranks_them(name):
    model = quick(name).fit(X, Y)
    dropped = ~model.kept_
    assert model.kept_.shape == model.suspicion_.shape == Y.shape
    assert WRONG[dropped].mean() > 2 * WRONG.mean()
    assert dropped[WRONG].mean() > 0.4
    assert model.suspicion_[WRONG].mean() > model.suspicion_[~WRONG].mean()
    assert model.suspicion_[dropped].min() >= np.median(model.suspicion_[model.kept_])


@over_filters
def test_a_verified_row_is_kept_with_its_verified_label(name):
    seen = np.arange(len(Y)) % 4 == 0
    model = quick(name).fit(X, Y, verified=np.where(seen, TRUE.astype(float), np.nan))
    assert model.kept_[seen].all()
    assert not model.kept_.all()
    assert (model.suspicion_[seen & WRONG] == model.suspicion_.max()).all()
    assert (model.suspicion_[seen & ~WRONG] == model.suspicion_.min()).all()


def test_consensus_drops_a_part_of_what_the_majority_drops():
    majority, consensus = (quick(name).fit(X, Y) for name in ("majority-filter", "consensus-filter"))
    assert (majority.kept_ <= consensus.kept_).all()
    assert majority.kept_.sum() < consensus.kept_.sum()
    np.testing.assert_array_equal(majority.suspicion_, consensus.suspicion_)
    assert set((3 * majority.suspicion_).round().astype(int)) == {0, 1, 2, 3}
    np.testing.assert_array_equal(majority.kept_, majority.suspicion_ < 0.5)
    np.testing.assert_array_equal(consensus.kept_, consensus.suspicion_ < 0.9)


@pytest.mark.parametrize("make", [SVMFilter, NaiveBayesFilter])
def test_a_filter_that_knows_the_row_itself_drops_less(make):
    """As published; it is why the default leaves the row's fold out."""
    few = np.arange(80)
    own, out = (make(n_folds=n).fit(X[few], Y[few]) for n in (1, 5))
    assert own.kept_.sum() > out.kept_.sum()


def test_the_classifier_learns_from_the_kept_rows_alone():
    model = SVMFilter(estimator=LogisticRegression()).fit(X, Y)
    by_hand = LogisticRegression().fit(X[model.kept_], Y[model.kept_])
    np.testing.assert_allclose(model.predict_proba(X), by_hand.predict_proba(X))
    default = SVMFilter().fit(X, Y)
    np.testing.assert_allclose(
        default.predict_proba(X), BernoulliNB().fit(X[model.kept_], Y[model.kept_]).predict_proba(X)
    )


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (EnsembleFilter(vote="all"), "vote must be one of 'majority', 'consensus', got 'all'"),
        (SVMFilter(n_folds=0), "n_folds must be a whole number of at least 1, got 0"),
        (
            NaiveBayesFilter(estimator=LogisticRegression()),
            "estimator must be a scikit-learn naive Bayes classifier, such as BernoulliNB, got LogisticRegression",
        ),
    ],
)
def test_bad_arguments_are_named(model, message):
    with pytest.raises(ValueError) as error:  # noqa: PT011
        model.fit(X, Y)
    assert str(error.value) == message


def test_parameters_are_counted():
    bayes = 3 - 1 + 3 * D
    assert NaiveBayesFilter().fit(X, Y).n_parameters_ == 2 * bayes
    assert SVMFilter().fit(X, Y).n_parameters_ == bayes + 3 * (D + 1)
    assert EnsembleFilter().fit(X, Y).n_parameters_ > bayes + 3 * (D + 1)  # and the nodes of a tree


def rows_of(observed, verified):
    return Rows(None, np.array(observed), np.array(verified), np.ones((len(observed), 3), dtype=bool))


def test_a_class_that_would_lose_all_rows_keeps_them():
    doubted = np.array([True, False, True, True, False])
    verdict = Verdict(np.array([0.9, 0.1, 0.7, 0.8, 0.2]), doubted, 0)
    rows = rows_of([0, 0, 1, 1, 2], [-1, -1, -1, -1, -1])
    assert kept(verdict, rows).tolist() == [False, True, True, True, True]
    # the second row of class 1 is verified, so that class 1 has a row
    rows = rows_of([0, 0, 1, 1, 2], [-1, -1, -1, 1, 0])
    assert kept(verdict, rows).tolist() == [False, True, False, True, True]
    assert suspicion(verdict, rows).tolist() == [0.9, 0.1, 0.7, 0.1, 0.9]


def test_folds_have_each_label_evenly():
    labels = np.repeat([0, 1, 2], [10, 5, 1])
    fold = left_out.folds(labels, 5, np.random.default_rng(0))
    assert np.bincount(fold[labels == 0]).tolist() == [2] * 5
    assert np.bincount(fold[labels == 1]).tolist() == [1] * 5
    assert sorted(np.bincount(fold)) == [3, 3, 3, 3, 4]


def test_the_margin_is_above_zero_where_the_prediction_differs():
    scores = np.array([[2.0, 1.0, -np.inf], [0.5, 3.0, 0.0]])
    np.testing.assert_allclose(left_out.margin(scores, np.array([0, 0])), [-1.0, 2.5])
    unknown = left_out.margin(scores, np.array([2, 2]))
    assert np.isfinite(unknown).all()
    assert unknown[0] > 2.5
