"""The posterior of the pool: laws for every kind of column."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from noisybayes.audit import readings
from noisybayes.audit.classifier import TableClassifier
from noisybayes.audit.columns import take_rows
from noisybayes.audit.evidence import terms_of
from noisybayes.audit.pool import _by_fold, fit_pool
from noisybayes.audit.readings import matrix_reading
from noisybayes.audit.scores import naive_bayes_scores
from noisybayes.model.mislabel import Fixed, Full
from noisybayes.model.structures import STRUCTURES

from ..noise import uniform_noise
from .tables import KINDS, N_CLASSES, N, case

pytestmark = pytest.mark.usefixtures("small_forests")
NOBODY = np.full(N, -1)


def fitted(made, **known):
    return fit_pool(made.columns, made.given, **known)


def posterior(made, **known):
    return fitted(made, **known).posterior


@pytest.mark.parametrize("kind", KINDS)
def test_wrong_labels_are_found_whatever_the_order_of_rows_and_the_names_of_classes(kind):
    made = case(kind)
    pool = fitted(made)
    np.testing.assert_allclose(pool.posterior.sum(axis=1), 1.0)
    np.testing.assert_allclose(pool.mislabel.sum(axis=0), 1.0)
    p_wrong = 1.0 - pool.posterior[np.arange(N), made.given.observed]
    assert average_precision_score(made.wrong, p_wrong) > 0.7 > 2.5 * made.wrong.mean()
    assert p_wrong.mean() == pytest.approx(made.wrong.mean(), abs=0.15)
    order = np.random.default_rng(0).permutation(N)
    np.testing.assert_allclose(posterior(made.take(order)), pool.posterior[order], rtol=0, atol=1e-5)
    renamed = np.array([2, 0, 1])
    of_others = posterior(made.labeled(renamed[made.given.observed]))[:, renamed]
    if "forest" in pool.experts:  # whose ties are broken as by another seed
        assert np.abs(of_others - pool.posterior).mean() < 0.03
    else:
        np.testing.assert_allclose(of_others, pool.posterior, rtol=0, atol=1e-3)


@pytest.mark.parametrize("kind", ["texts", "vectors", "texts and vectors"])
def test_a_row_without_a_label_has_a_posterior_and_changes_nothing_for_others(kind):
    made, rows = case(kind), np.arange(N) >= 12
    observed = np.where(rows, made.given.observed, N_CLASSES)
    found = posterior(made.labeled(observed))
    np.testing.assert_allclose(found[rows], posterior(made.take(rows)), rtol=0, atol=1e-4)
    assert (found[~rows].argmax(axis=1) == made.true[~rows]).mean() > 0.7


@pytest.mark.parametrize("kind", ["texts", "yes/no", "numbers", "vectors"])
def test_a_verified_row_has_its_label_and_the_given_one_only_counts_as_a_mistake(kind):
    made = case(kind)
    verified = np.where(np.arange(N) % 3 == 0, made.true, -1)
    found = fitted(made.labeled(made.given.observed, verified))
    rows = verified >= 0
    np.testing.assert_array_equal(found.posterior[rows], np.eye(N_CLASSES)[made.true[rows]])
    there = np.flatnonzero(made.wrong & rows)
    unverified = found.unverified(there, made.given.observed[there])
    assert ((unverified > 0) & (unverified < 1)).all()
    if kind != "yes/no":  # what people gave to verified rows is a part of the matrix, and of the EM of the paper
        known = Fixed(uniform_noise(N_CLASSES, 0.2))
        right = made.labeled(np.where(rows, made.true, made.given.observed), verified)
        np.testing.assert_allclose(
            fitted(made.labeled(made.given.observed, verified), structure=known).posterior,
            posterior(right, structure=known), rtol=0, atol=5e-3,
        )  # fmt: skip


def by_naive_bayes():
    made = case("texts")
    order, learning = _by_fold(made.columns, made.given, 0, False)
    return naive_bayes_scores(take_rows(made.columns, order), learning, False).values, learning


def test_the_likelihood_of_the_reading_by_the_matrix_never_falls(monkeypatch):
    values, learning = by_naive_bayes()
    monkeypatch.setattr(readings, "_TOLERANCE", -np.inf)
    monkeypatch.setattr(readings, "_PSEUDO_ROWS", 0.0)
    history = []
    for rounds in range(1, 16):
        monkeypatch.setattr(readings, "_ROUNDS", rounds)
        history.append(matrix_reading(values, learning, Full(0.0)).log_likelihood)
    assert np.diff(history).min() > -1e-9
    assert history[-1] > history[0] + 0.005


def test_structures_of_the_matrix_and_known_class_shares():
    values, learning = by_naive_bayes()
    fixed = uniform_noise(N_CLASSES, 0.3)
    np.testing.assert_array_equal(matrix_reading(values, learning, Fixed(fixed)).mislabel, fixed)
    found = {
        name: matrix_reading(values, learning, made.for_classes(0.0, np.arange(3))).mislabel
        for name, made in STRUCTURES.items()
    }
    np.testing.assert_allclose(found["symmetric"], found["symmetric"].T, atol=1e-9)
    np.testing.assert_allclose(found["uniform"], uniform_noise(N_CLASSES, 1 - found["uniform"][0, 0]), atol=1e-12)
    assert found["ordinal"][1, 0] >= found["ordinal"][2, 0]
    assert found["ordinal"][1, 2] >= found["ordinal"][0, 2]
    shares = [posterior(case("texts"), prior=prior).mean(axis=0) for prior in np.where(np.eye(3, dtype=bool), 0.8, 0.1)]
    assert (np.argmax(shares, axis=0) == np.arange(3)).all()


@pytest.mark.parametrize("kind", ["texts", "numbers"])
def test_posteriors_in_blocks_are_those_at_once(kind, monkeypatch):
    at_once = posterior(case(kind))
    monkeypatch.setattr(readings, "_BLOCK", 100)
    np.testing.assert_allclose(posterior(case(kind)), at_once, rtol=0, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_the_evidence_adds_up_to_the_log_odds(kind):
    """Columns, what has no column, intercepts of the experts (absent words), and the part of the label."""
    made = case(kind)
    pool, rows, given = fitted(made), np.arange(N), made.given.observed
    other = (given + 1) % N_CLASSES
    terms = terms_of(pool, made.columns, made.X.shape[1], rows, other, given)
    place = np.argsort(pool.order)
    fold = np.searchsorted(pool.starts, place, side="right") - 1
    intercepts, label = np.zeros(N), np.zeros(N)
    for voice in pool.voices:
        reading = voice.reading
        log_label = np.zeros((N_CLASSES, N_CLASSES)) if reading.mislabel is None else np.log(reading.mislabel)
        for sign, code in ((1, other), (-1, given)):
            label += sign * (reading.intercept[code] + log_label[given, code]) / len(pool.voices)
            for b, factor in enumerate(reading.temperature):
                models = [layer[b] for layer in voice.learned.by_fold]
                by_fold = np.array([np.zeros(N_CLASSES) if one is None else one.intercept for one in models])
                intercepts += sign * factor * by_fold[fold, code] / len(pool.voices)
    by_columns = np.asarray(terms.of_columns.sum(axis=1)).ravel() + sum(terms.together.values())
    np.testing.assert_allclose(by_columns + intercepts, terms.by_features, rtol=0, atol=1e-3)
    log_odds = np.log(pool.posterior[rows, other]) - np.log(pool.posterior[rows, given])
    np.testing.assert_allclose(terms.by_features + label, log_odds, rtol=0, atol=1e-5)


def degenerate():
    """How many rows and classes, labels of the rows, and whether all rows are equal."""
    yield from ((1, 1, [0], False), (2, 1, [0, 0], False), (2, 2, [0, 1], False), (3, 2, [0, 1, 1], False))
    yield from ((20, 1, [0] * 20, False), (20, 2, [0] * 20, False), (20, 2, [0] * 19 + [1], False))
    yield from (
        (12, 12, range(12), False),
        (20, 3, [0, 1] * 10, True),
        (20, 2, [2] * 20, False),
        (3, 2, [2, 0, 2], True),
    )


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "n_classes", "labels", "equal"), list(degenerate()))
def test_degenerate_tables_have_a_posterior(kind, n, n_classes, labels, equal):
    made = case(kind).take(np.zeros(n, dtype=int) if equal else np.arange(n))
    for verified in (np.full(n, -1), np.zeros(n, dtype=int)):
        given = made.given._replace(observed=np.array(labels), verified=verified, n_classes=n_classes)
        pool = fit_pool(made.columns, given)
        np.testing.assert_allclose(pool.posterior.sum(axis=1), 1.0)
        assert np.isfinite(pool.posterior).all()
        assert np.isfinite(pool.explained)
        rows = np.arange(n)
        terms = terms_of(pool, made.columns, made.X.shape[1], rows, rows * 0, rows * 0)
        np.testing.assert_array_equal(terms.by_features, 0.0)
        if not made.others:
            model = TableClassifier.of(pool, made.kinds, np.arange(n_classes), made.X.shape[1], 0.0)
            np.testing.assert_allclose(model.predict_proba(made.X).sum(axis=1), 1.0)
