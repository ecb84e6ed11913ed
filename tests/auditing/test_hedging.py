"""P(wrong) is that of the matrix as far as the labels show that mistakes follow the class."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from sklearn.metrics import average_precision_score
from sklearn.naive_bayes import BernoulliNB

from noisybayes import BernoulliINB, simulate
from noisybayes.auditing.conservative_fit import label_problem
from noisybayes.auditing.hedging import _exponent, _gain_less_error, hedged, matrix_share
from noisybayes.auditing.judged import judge
from noisybayes.auditing.pair_scores import LabelProblem
from noisybayes.data.noise import boundary_noise
from noisybayes.robust.hedge import Hedge


def posteriors(n=200, K=3, seed=0):
    rng = np.random.default_rng(seed)
    prior, true = rng.dirichlet(np.full(K, 0.5), n), rng.dirichlet(np.full(K, 0.5), n)
    return true, prior, rng.integers(K + 1, size=n)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_what_is_told_lies_between_the_matrix_and_the_mean_of_right_and_unclear(share):
    true, prior, observed = posteriors()
    hedge = Hedge(share, 0.7, np.array([0.1, 0.0, -0.1]))
    told, there = hedge(true, prior, observed), np.flatnonzero(observed < 3)
    np.testing.assert_allclose(told.sum(axis=1), 1.0)
    np.testing.assert_array_equal(told[observed == 3], true[observed == 3])
    label = observed[there]
    unclear = 1.0 - hedge.all_right(prior)[there, label]
    by_matrix = 1.0 - true[there, label]
    np.testing.assert_allclose(1.0 - told[there, label], share * by_matrix + (1 - share) * 0.5 * unclear)


def test_probabilities_of_the_fit_count_as_they_are_without_factor_and_offset():
    _, prior, _ = posteriors()
    np.testing.assert_allclose(Hedge(0.0, 1.0, np.zeros(3)).all_right(prior), prior)


@cache
def judged(kind):
    made = simulate(900, n_features=150, n_classes=2, diagonal=(0.8, 0.85), random_state=1)
    y = made.y
    if kind == "boundary":
        proba = BernoulliNB().fit(made.X, made.true).predict_proba(made.X)
        y = boundary_noise(made.true, proba, 0.15, np.random.default_rng(0))
    elif kind == "clean":
        y = made.true
    return judge(BernoulliINB(random_state=0).fit(made.X, y), made.X, y), y != made.true


@pytest.mark.parametrize(("kind", "earned"), [("class", True), ("boundary", False), ("clean", False)])
def test_the_matrix_counts_where_mistakes_follow_the_class(kind, earned):
    found, _ = judged(kind)
    share = matrix_share(found, label_problem(found))
    assert (share > 0.95) == earned
    if earned:
        assert hedged(found) is found
    else:
        told = hedged(found).p_wrong
        assert share < 0.5
        assert told.max() <= 0.5 + 0.5 * share


def test_mistakes_on_unclear_rows_are_ranked_no_worse():
    found, wrong = judged("boundary")
    by_matrix, told = (average_precision_score(wrong, each.p_wrong) for each in (found, hedged(found)))
    assert told >= by_matrix


def test_the_share_rests_on_all_rows_also_where_the_scores_are_judged_by_a_sample():
    """Of a weak matrix, samples of a fifth of the rows lead by anything; what is compared must not be such a sample."""
    made = simulate(3_000, n_features=60, n_classes=3, diagonal=(0.93, 0.97), random_state=0)
    found = judge(BernoulliINB(random_state=0).fit(made.X, made.y), made.X, made.y)
    of_all, of_some = (matrix_share(found, label_problem(found, most)) for most in (3_000, 600))
    assert of_some == pytest.approx(of_all, abs=0.01)


def test_a_lead_counts_less_its_standard_error_and_a_weight_as_so_many_rows():
    gain, weight = np.array([0.5, -0.2, 0.1, 0.4]), np.array([1, 3, 2, 1])
    repeated = np.repeat(gain, weight)
    expected = repeated.sum() - repeated.std() * np.sqrt(len(repeated))
    assert _gain_less_error(gain, weight) == pytest.approx(expected)
    assert _gain_less_error(repeated, np.ones(len(repeated))) == pytest.approx(expected)


def problem_of(p_first, scores, rng):
    """Labels of two classes, the first of which has this probability."""
    observed = (rng.random(len(scores)) > p_first).astype(int)
    return LabelProblem(np.column_stack([scores, -scores]), observed, np.ones(len(scores)), 1.0)


def test_mistakes_on_ambiguous_rows_make_scores_steeper_and_mistakes_by_class_do_not():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=4_000) * 2
    reliable = 1 / (1 + np.exp(-2 * scores))
    assert _exponent(problem_of(reliable, scores, rng)) <= 1.125
    assert _exponent(problem_of(1 / (1 + np.exp(-scores * np.abs(scores))), scores, rng)) in (1.75, 2.0, 2.5)
    assert _exponent(problem_of(0.05 + 0.8 * reliable, scores, rng)) == 1.0


def test_steeper_scores_keep_their_signs_and_an_exponent_of_one_changes_nothing():
    rng = np.random.default_rng(1)
    scores = np.append(rng.normal(size=200), 0.0)
    problem = problem_of(np.full(201, 0.5), scores, rng)
    np.testing.assert_array_equal(problem.steeper(1.0).by_class, problem.by_class)
    steeper = problem.steeper(3.0).by_class
    np.testing.assert_array_equal(np.sign(steeper), np.sign(problem.by_class))
    np.testing.assert_allclose(np.abs(steeper) / np.abs(problem.by_class).mean() ** -2, np.abs(problem.by_class) ** 3)
