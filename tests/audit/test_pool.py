"""The posterior of the pool: laws for every kind of column."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from noisybayes.audit import forest, readings
from noisybayes.audit import pool as pools
from noisybayes.audit.classifier import TableClassifier
from noisybayes.audit.columns import content_hash, take_rows
from noisybayes.audit.evidence import terms_of
from noisybayes.audit.pool import by_fold, fit_pool, n_folds_for
from noisybayes.audit.readings import matrix_reading
from noisybayes.audit.scores import naive_bayes_scores
from noisybayes.model.matrix import STRUCTURES, Fixed, Full

from ..noise import uniform_noise
from .tables import KINDS, N_CLASSES, N, case

pytestmark = pytest.mark.usefixtures("small_forests")


def fitted(made, **known):
    return fit_pool(made.columns, made.given, **known)


def assert_near(found, expected, tolerance):
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("kind", KINDS)
def test_wrong_labels_are_found_whatever_the_order_of_rows_and_the_names_of_classes(kind):
    made = case(kind)
    pool, wrong = fitted(made), made.given.observed != made.true
    np.testing.assert_allclose(pool.posterior.sum(axis=1), 1.0)
    np.testing.assert_allclose(pool.mislabel.sum(axis=0), 1.0)
    p_wrong = 1.0 - pool.posterior[np.arange(N), made.given.observed]
    assert average_precision_score(wrong, p_wrong) > 0.7 > 2.5 * wrong.mean()
    assert p_wrong.mean() == pytest.approx(wrong.mean(), abs=0.15)
    order, renamed = np.random.default_rng(0).permutation(N), np.array([2, 0, 1])
    assert_near(fitted(made.take(order)).posterior, pool.posterior[order], 1e-5)
    of_others = fitted(made.labeled(renamed[made.given.observed])).posterior[:, renamed]
    if "forest" in pool.experts:  # whose ties are broken as by another seed
        assert np.abs(of_others - pool.posterior).mean() < 0.03
    else:
        assert_near(of_others, pool.posterior, 1e-3)


@pytest.mark.parametrize("kind", ["texts", "vectors", "texts and vectors"])
def test_a_row_without_a_label_has_a_posterior_and_changes_nothing_for_others(kind):
    made, rows = case(kind), np.arange(N) >= 12
    found = fitted(made.labeled(np.where(rows, made.given.observed, N_CLASSES))).posterior
    assert_near(found[rows], fitted(made.take(rows)).posterior, 1e-4)
    assert (found[~rows].argmax(axis=1) == made.true[~rows]).mean() > 0.7


@pytest.mark.parametrize("kind", ["texts", "vectors"])
def test_a_verified_row_has_its_label_and_the_given_one_matters_to_the_matrix_alone(kind):
    made, known = case(kind), Fixed(uniform_noise(N_CLASSES, 0.2))
    rows, given = np.arange(N) % 3 == 0, made.given.observed
    as_given = made.labeled(given, verified=np.where(rows, made.true, -1))
    if_right = as_given.labeled(np.where(rows, made.true, given))
    found = fitted(as_given)
    np.testing.assert_array_equal(found.posterior[rows], np.eye(N_CLASSES)[made.true[rows]])
    assert found.unverified(rows, given[rows]).max() < 1
    assert np.trace(found.mislabel) < np.trace(fitted(if_right).mislabel) - 0.1
    assert_near(fitted(as_given, structure=known).posterior, fitted(if_right, structure=known).posterior, 1e-3)


def by_naive_bayes():
    made = case("texts")
    order, learning = by_fold(content_hash(made.columns, 0), made.given, n_folds_for(len(made.given.observed)), 0)
    return naive_bayes_scores(take_rows(made.columns, order), learning, False).values, learning


def test_the_likelihood_of_the_reading_by_the_matrix_never_falls(monkeypatch):
    values, learning = by_naive_bayes()
    monkeypatch.setattr(readings, "_TOLERANCE", -np.inf)
    monkeypatch.setattr(readings, "_PSEUDO_ROWS", 0.0)
    monkeypatch.setattr(readings, "_STEPS", 1)
    history = []
    for rounds in range(1, 16):
        monkeypatch.setattr(readings, "_ROUNDS", rounds)
        history.append(matrix_reading(values, learning, Full(0.0)).log_likelihood)
    assert np.diff(history).min() > -1e-9
    assert history[-1] > history[0] + 0.005


def test_structures_of_the_matrix_and_known_class_shares():
    fixed, rows = uniform_noise(N_CLASSES, 0.3), by_naive_bayes()
    np.testing.assert_array_equal(matrix_reading(*rows, Fixed(fixed)).mislabel, fixed)
    found = {
        name: matrix_reading(*rows, made.for_classes(0.0, np.arange(3))).mislabel for name, made in STRUCTURES.items()
    }
    assert_near(found["symmetric"], found["symmetric"].T, 1e-9)
    assert_near(found["uniform"], uniform_noise(N_CLASSES, 1 - found["uniform"][0, 0]), 1e-9)
    assert found["ordinal"][1, 0] >= found["ordinal"][2, 0]
    assert found["ordinal"][1, 2] >= found["ordinal"][0, 2]
    shares = [fitted(case("texts"), prior=prior).posterior.mean(axis=0) for prior in 0.1 + 0.7 * np.eye(3)]
    assert (np.argmax(shares, axis=0) == np.arange(3)).all()


def test_posteriors_in_blocks_are_those_at_once(monkeypatch):
    at_once = fitted(case("texts")).posterior
    monkeypatch.setattr(pools, "blocks", lambda n, K: (slice(i, min(i + 25, n)) for i in range(0, n, 25)))
    assert_near(fitted(case("texts")).posterior, at_once, 1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_the_evidence_adds_up_to_the_log_odds(kind):
    """Columns, what has no column, intercepts of the experts (absent words), and the part of the label."""
    made, rows = case(kind), np.arange(N)
    pool, given, other = fitted(made), made.given.observed, (made.given.observed + 1) % N_CLASSES
    terms = terms_of(pool, made.columns, made.X.shape[1], rows, other, given)
    fold = np.searchsorted(pool.starts, np.argsort(pool.order), side="right") - 1
    intercepts, label = np.zeros((2, N))
    for voice, (sign, code) in product(pool.voices, ((1, other), (-1, given))):
        reading, share = voice.reading, sign / len(pool.voices)
        log_label = np.zeros((N_CLASSES, N_CLASSES)) if reading.mislabel is None else np.log(reading.mislabel)
        label += share * (reading.intercept[code] + log_label[given, code])
        for b, temperature in enumerate(reading.temperature):
            models = [layer[b] for layer in voice.learned.by_fold]
            by_fold = np.array([np.zeros(N_CLASSES) if one is None else one.intercept for one in models])
            intercepts += share * temperature * by_fold[fold, code]
    by_columns = np.asarray(terms.of_columns.sum(axis=1)).ravel() + sum(terms.together.values())
    assert_near(by_columns + intercepts, terms.by_features, 1e-3)
    assert_near(terms.by_features + label, np.log(pool.posterior[rows, other] / pool.posterior[rows, given]), 1e-5)


#: How many classes, and the labels, where the number of classes is none.
DEGENERATE = [
    (1, [0]), (1, [0] * 2), (2, [0, 1]), (2, [0, 1, 1]), (1, [0] * 20), (2, [0] * 20), (2, [0] * 19 + [1]),
    (12, range(12)), (2, [2] * 20), (2, [2, 0, 2]),
]  # fmt: skip


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_degenerate_tables_have_a_posterior(kind, equal, monkeypatch):
    monkeypatch.setattr(forest, "_TREES", 6)
    for (n_classes, labels), verified in product(DEGENERATE, (-1, 0)):
        rows = np.arange(len(labels))
        made = case(kind).take(rows * 0 if equal else rows)
        made = made.labeled(np.array(labels), verified=np.full(len(rows), verified), n_classes=n_classes)
        pool = fitted(made)
        np.testing.assert_allclose(pool.posterior.sum(axis=1), 1.0)
        assert np.isfinite(pool.explained)
        terms = terms_of(pool, made.columns, made.X.shape[1], rows, rows * 0, rows * 0)
        np.testing.assert_array_equal(terms.by_features, 0.0)
        if not made.others:
            model = TableClassifier.of(pool, made.kinds, np.arange(n_classes), made.X.shape[1], 0.0)
            np.testing.assert_allclose(model.predict_proba(made.X).sum(axis=1), 1.0)
