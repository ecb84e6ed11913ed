"""Scores out of fold: what each expert learns, and what it must not see."""

from __future__ import annotations

import numpy as np
import pytest

from noisybayes.audit import columns as column_kinds
from noisybayes.audit import scores
from noisybayes.audit.columns import Curves, NormalScores, content_hash, take_rows
from noisybayes.audit.forest import Grown
from noisybayes.audit.pool import EXPERTS, by_fold, n_folds_for
from noisybayes.audit.scores import Learning, linear_scores, naive_bayes_scores

from .tables import KINDS, N_CLASSES, N, case

pytestmark = pytest.mark.usefixtures("small_forests")
EXPERTS_OF = [("naive Bayes", "texts"), ("naive Bayes", "yes/no"), ("forest", "numbers and yes/no")]
EXPERTS_OF += [("ridge", kind) for kind in KINDS]


def sorted_rows(kind):
    """Columns and labels by fold; some rows have no label, some are verified, and weights differ."""
    made, rng = case(kind), np.random.default_rng(1)
    observed, verified = made.given.observed.copy(), np.full(len(made.true), -1)
    observed[::17] = N_CLASSES
    verified[::11] = made.true[::11]
    given = made.given._replace(observed=observed, verified=verified, weight=rng.uniform(0.2, 1.0, len(observed)))
    order, learning = by_fold(content_hash(made.columns, 0), given, n_folds_for(len(given.observed)), 0)
    return take_rows(made.columns, order), learning


def dense(block):
    return block.values.toarray() if hasattr(block.values, "toarray") else block.values.astype(np.float64)


@pytest.mark.parametrize("kind", ["texts", "yes/no"])
def test_naive_bayes_is_that_of_a_loop_which_leaves_the_fold_out(kind):
    columns, learning = sorted_rows(kind)
    X, learned = dense(columns[0]), naive_bayes_scores(columns, learning, True)
    for number, fold in enumerate(learning.folds):
        out = np.ones(len(X), dtype=bool)
        out[fold] = False
        sums, n_rows = np.zeros((N_CLASSES, X.shape[1])), np.zeros(N_CLASSES)
        for row in np.flatnonzero(out & (learning.label < N_CLASSES)):
            sums[learning.label[row]] += learning.weight[row] * X[row]
            n_rows[learning.label[row]] += learning.weight[row]
        if kind == "texts":
            p = (sums + 0.3) / (sums + 0.3).sum(axis=1, keepdims=True)
            others = sums.sum(axis=0) - sums
            q = (others + 0.3) / (others + 0.3).sum(axis=1, keepdims=True)
            expected = []
            for log_p in (np.log(p), -np.log(q)):
                log_p -= log_p.mean(axis=0)
                expected.append(X[fold] @ (log_p / np.abs(log_p).mean(axis=1, keepdims=True)).T)
        else:
            mean = (sums.sum(axis=0) + 0.5) / (n_rows.sum() + 1)
            p = (sums + 2 * mean) / (n_rows[:, None] + 2)
            expected = [X[fold] @ np.log(p).T + (1 - X[fold]) @ np.log(1 - p).T]
        for values, by_hand in zip(learned.values, expected, strict=True):
            by_hand -= by_hand.mean(axis=1, keepdims=True)
            np.testing.assert_allclose(values[:, fold].T, by_hand, rtol=0, atol=2e-6 * np.abs(by_hand).max())
            kept = [one([block.take(fold) for block in columns]) for one in learned.by_fold[number]]
        np.testing.assert_allclose(scores.centered(kept[-1]), learned.values[-1][:, fold], atol=1e-4)


@pytest.mark.parametrize("kind", ["texts", "numbers", "texts and vectors"])
def test_ridge_solves_the_normal_equations(kind, monkeypatch):
    columns, learning = sorted_rows(kind)
    six_steps = linear_scores(columns, learning, False).values[0]
    monkeypatch.setattr(scores, "_STEPS", 300)
    found = linear_scores(columns, learning, False)
    X = np.hstack([column_kinds.length_one(block) * dense(block) for block in columns])
    weight, labeled = learning.counted, learning.label < N_CLASSES
    penalty = 15.0 * min(1.0, np.sqrt(X.shape[1] / labeled.sum()))

    def solved(rows):
        share = np.bincount(learning.label[rows], weight[rows], N_CLASSES + 1)[:N_CLASSES]
        target = np.eye(N_CLASSES + 1)[learning.label[rows]][:, :N_CLASSES] - share / share.sum()
        W = weight[rows, None]
        return np.linalg.solve(X[rows].T @ (W * X[rows]) + penalty * np.eye(X.shape[1]), X[rows].T @ (W * target))

    every = np.arange(len(X))
    for fold in learning.folds:
        expected = X[fold] @ solved(np.delete(every, fold))
        expected = (expected - expected.mean(axis=1, keepdims=True)).T
        np.testing.assert_allclose(found.values[0][:, fold], expected, rtol=0, atol=1e-4)
        assert np.corrcoef(six_steps[:, fold].ravel(), expected.ravel())[0, 1] > 0.999
    np.testing.assert_allclose(found.full()[0](columns), (X @ solved(every)).T, rtol=0, atol=1e-4)


@pytest.mark.parametrize(("expert", "kind"), EXPERTS_OF)
def test_no_label_reaches_its_own_score(expert, kind):
    columns, learning = sorted_rows(kind)
    before = EXPERTS[expert](columns, learning, False).values
    # nor those of the other rows of its fold; a forest leaves out single rows
    for own in (slice(5, 6), slice(200, 201)) if expert == "forest" else (learning.folds[0], learning.folds[-1]):
        observed = learning.observed.copy()
        observed[own] = np.where(observed[own] < N_CLASSES, (observed[own] + 1) % N_CLASSES, N_CLASSES)
        after = EXPERTS[expert](columns, learning._replace(observed=observed), False).values
        np.testing.assert_allclose(after[:, :, own], before[:, :, own], rtol=0, atol=1e-5)
        assert np.abs(after - before).max() > 1e-3


@pytest.mark.parametrize(("expert", "kind"), EXPERTS_OF)
def test_a_verified_row_counts_with_its_label_and_one_without_a_label_does_not_count(expert, kind):
    (columns, learning), learn = sorted_rows(kind), EXPERTS[expert]
    label = learning.label
    found = learn(columns, learning, False).values
    as_given = learn(columns, learning._replace(observed=label, verified=np.full(len(label), -1)), False).values
    np.testing.assert_array_equal(found, as_given)
    there = np.flatnonzero(label < N_CLASSES)
    parts = (part[there] for part in (learning.observed, learning.verified, learning.weight))
    fewer = Learning(*parts, np.searchsorted(there, learning.starts), N_CLASSES, learning.seed)
    without = learn(take_rows(columns, there), fewer, False).values
    # a length of 1 in the mean is that of all rows
    tolerance = 1e-5 if {block.kind for block in columns} <= {"words", "vectors"} else 0.02
    np.testing.assert_allclose(found[:, :, there], without, rtol=0, atol=tolerance * np.abs(without).max())


def test_scores_in_blocks_are_those_at_once(monkeypatch):
    columns, learning = sorted_rows("texts and numbers")
    at_once = linear_scores(columns, learning, False).values
    monkeypatch.setattr(scores, "MOST_NUMBERS", 1)
    np.testing.assert_allclose(linear_scores(columns, learning, False).values, at_once, rtol=0, atol=1e-5)


def test_a_forest_is_the_mean_vote_of_its_trees():
    made = case("numbers")
    X, y = made.columns[0].values, made.given.observed
    grown = Grown.fit(X, y, np.ones(N), N_CLASSES + 1, 3)
    trees = [tree.predict_proba(X) for tree in grown.model.estimators_[:20]]
    found = np.exp(grown.forest()(X))
    np.testing.assert_allclose(found[:N_CLASSES].T, (np.sum(trees, axis=0) + 1 / 4) / 21, atol=1e-6)
    np.testing.assert_allclose(found.sum(axis=0), 1.0)  # with a class that has no rows


def test_only_the_order_of_numbers_counts_and_curves_are_a_kernel(monkeypatch):
    column = np.round(case("numbers").X.toarray()[:, 0], 1)
    for other in (np.log(column + 1), 1e9 * column, column**3):
        np.testing.assert_allclose(NormalScores.fit(other)(other), NormalScores.fit(column)(column))
    assert NormalScores.fit(np.repeat(column, 20))(column).std() == pytest.approx(1.0, abs=0.05)
    monkeypatch.setattr(column_kinds, "_CURVES", 100_000)
    rows = np.random.default_rng(0).normal(size=(4, 5))
    found = Curves.of(5)(rows).astype(np.float64)
    expected = np.exp(-((rows[:, None] - rows) ** 2).sum(axis=2) / 5)
    np.testing.assert_allclose(found @ found.T, expected, atol=0.02)
