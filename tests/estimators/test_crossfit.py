"""The robust default: never worse than naive Bayes of the labels, honest, calibrated, put right by verified labels."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import average_precision_score
from sklearn.naive_bayes import BernoulliNB, MultinomialNB

from noisybayes import BernoulliINB, GaussianINB, MixedINB, MultinomialINB, simulate
from noisybayes.data.noise import pair_noise, structured_noise, uniform_noise
from noisybayes.data.simulate import corrupt
from noisybayes.dataset import dataset
from noisybayes.model.mislabel import DriftWarning

from ..made_texts import bursty_texts

NOISE = {
    "uniform": lambda rng: uniform_noise(5, 0.2),
    "pair": lambda rng: pair_noise(5, 0.2),
    "structured": lambda rng: structured_noise(5, 0.2, rng),
}


@pytest.mark.parametrize("kind", NOISE)
def test_texts_are_learned_at_least_as_well_as_by_naive_bayes_of_the_labels(kind):
    gains, precision, found_rate, true_rate = [], [], [], []
    for seed in range(3):
        X, true, X_test, true_test = bursty_texts(seed)
        rng = np.random.default_rng(seed)
        y = corrupt(true, NOISE[kind](rng), rng)
        model = MultinomialINB().fit(X, y)
        naive = MultinomialNB().fit(X, y)
        gains.append(np.mean(model.predict(X_test) == true_test) - np.mean(naive.predict(X_test) == true_test))
        p_wrong = 1 - model.true_proba_[np.arange(len(y)), y]
        precision.append(average_precision_score(y != true, p_wrong))
        found_rate.append(model.noise_rate_)
        true_rate.append(np.mean(y != true))
    assert np.mean(gains) >= 0.0
    assert np.mean(precision) > 0.75
    assert np.mean(found_rate) == pytest.approx(np.mean(true_rate), abs=0.06)


@pytest.mark.parametrize("seed", range(3))
def test_in_unbalanced_texts_the_label_that_is_wrong_more_often_is_suspected_more(seed):
    X, true, _, _ = bursty_texts(seed, n=3_000, n_test=0, n_classes=2)
    kept = np.concatenate([np.flatnonzero(true == 0), np.flatnonzero(true == 1)[:150]])  # 90/10
    X, true = X[kept], true[kept]
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(len(true)) < 0.1, 1 - true, true)
    model = MultinomialINB().fit(X, y)
    p_wrong = 1 - model.true_proba_[np.arange(len(y)), y]
    share_of_errors, suspicion = ([values[y == label].mean() for label in (0, 1)] for values in (y != true, p_wrong))
    assert share_of_errors[1] > 5 * share_of_errors[0]
    assert suspicion[1] > 5 * suspicion[0]


def test_right_labels_are_left_alone():
    X, true, X_test, true_test = bursty_texts(0)
    model = MultinomialINB().fit(X, true)
    flagged = model.classes_[model.true_proba_.argmax(axis=1)] != true
    assert flagged.mean() < 0.05
    assert np.mean(model.predict(X_test) == true_test) >= np.mean(
        MultinomialNB().fit(X, true).predict(X_test) == true_test
    )


def test_where_the_model_holds_the_generative_em_is_taken_and_wins():
    data = simulate(2_800, random_state=0)
    train, test = slice(0, 800), slice(800, None)
    model = BernoulliINB().fit(data.X[train], data.y[train])
    assert model.em_steps_ == -1
    paper = BernoulliINB.paper().fit(data.X[train], data.y[train])
    accuracy = [np.mean(m.predict(data.X[test]) == data.true[test]) for m in (model, paper)]
    assert accuracy[0] > accuracy[1] - 0.01
    assert accuracy[0] > np.mean(
        BernoulliNB().fit(data.X[train], data.y[train]).predict(data.X[test]) == data.true[test]
    )


def test_labels_that_do_not_hang_on_the_features_keep_naive_bayes():
    """Nothing can be learned: EM must not be believed, and no label be doubted more than chance allows."""
    rng = np.random.default_rng(0)
    X, y = (rng.random((600, 20)) < 0.3).astype(float), rng.integers(3, size=600)
    model = BernoulliINB().fit(X, y)
    assert model.em_steps_ == 0
    np.testing.assert_allclose(model.objective_history_[0], np.log(1 / 3), atol=0.05)


def test_scores_of_a_row_do_not_know_its_own_label():
    """Memorising features: each row has a word of its own, which says nothing of the other rows."""
    n = 300
    X = sparse.eye_array(n, format="csr")
    y = np.random.default_rng(0).integers(2, size=n)
    model = MultinomialINB().fit(X, y)
    in_sample = MultinomialNB(alpha=1e-3).fit(X, y).predict(X)
    assert np.mean(in_sample == y) == 1.0
    right = model.true_proba_[np.arange(n), y]
    # the label itself is evidence, the row's own word is none: all rows of a label look alike
    assert max(np.ptp(right[y == k]) for k in (0, 1)) < 0.05


@pytest.mark.parametrize("picked", ["at random", "from the top"])
def test_verified_rows_put_the_number_of_errors_right(picked):
    """Mistakes on ambiguous rows only: the model alone is far too low. 150 rows drawn at random mend most of it; rows
    from the top cannot tell the number, but do not lead further away."""
    before, after, truth = [], [], []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        true = rng.integers(2, size=3_000)
        position = rng.normal(2.0 * true - 1.0, 1.0)
        # labelers judge by what the features show: a label is wrong where position is on the other side
        y = (position + rng.normal(0, 0.3, 3_000) > 0).astype(int)
        X = np.column_stack([position + rng.normal(0, 0.4, 3_000) for _ in range(4)])
        X = np.column_stack([X, true + rng.normal(0, 0.9, 3_000)])
        alone = GaussianINB().fit(X, y)
        p_wrong = 1 - alone.true_proba_[np.arange(3_000), y]
        rows = np.argsort(-p_wrong)[:150] if picked == "from the top" else rng.choice(3_000, 150, replace=False)
        verified = np.full(3_000, np.nan)
        verified[rows] = true[rows]
        helped = GaussianINB().fit(X, y, verified=verified)
        before.append(alone.noise_rate_)
        after.append(helped.noise_rate_)
        truth.append(np.mean(y != true))
        np.testing.assert_array_equal(helped.true_proba_[rows].argmax(axis=1), true[rows])
    left = abs(np.mean(after) - np.mean(truth)) / abs(np.mean(before) - np.mean(truth))
    assert left < (0.6 if picked == "at random" else 1.0)


def test_a_few_verified_rows_leave_probabilities_alone():
    data = simulate(600, n_features=100, n_classes=3, diagonal=(0.8, 0.9), random_state=0)
    verified = np.where(np.arange(600) < 5, data.true, np.nan)
    model = BernoulliINB().fit(data.X, data.y, verified=verified)
    np.testing.assert_array_equal(model.true_proba_[:5].argmax(axis=1), data.true[:5])
    assert tuple(model._recalibration) == (0.0, 1.0)


def test_probabilities_of_wrong_labels_are_calibrated_where_noise_is_class_conditional():
    X, true, _, _ = bursty_texts(1, n=4_000, n_test=1)
    rng = np.random.default_rng(1)
    y = corrupt(true, structured_noise(5, 0.2, rng), rng)
    model = MultinomialINB().fit(X, y)
    p_wrong = 1 - model.true_proba_[np.arange(len(y)), y]
    for low, high in ((0.0, 0.2), (0.4, 0.6), (0.8, 1.0)):
        here = (p_wrong >= low) & (p_wrong <= high)
        if here.sum() > 50:
            assert np.mean((y != true)[here]) == pytest.approx(p_wrong[here].mean(), abs=0.12)


def test_rows_without_label_and_rows_without_weight_take_part_in_the_answer():
    data = simulate(400, n_features=80, n_classes=3, diagonal=(0.8, 0.9), random_state=0)
    y = np.where(np.arange(400) % 4 == 0, -1, data.y)
    weight = np.where(np.arange(400) % 5 == 0, 0.0, 1.0)
    model = BernoulliINB(missing_label=-1).fit(data.X, y, sample_weight=weight)
    assert model.true_proba_.shape == (400, 3)
    np.testing.assert_allclose(model.true_proba_.sum(axis=1), 1.0)
    unlabeled = y == -1
    assert np.mean(model.true_proba_[unlabeled].argmax(axis=1) == data.true[unlabeled]) > 0.6


@pytest.mark.parametrize("make", [BernoulliINB, MultinomialINB, GaussianINB, MixedINB])
def test_fits_repeat_and_seeds_change_folds(make):
    data = simulate(300, n_features=40, n_classes=3, diagonal=(0.8, 0.9), random_state=0)
    one, same, other = (make(random_state=s).fit(data.X, data.y) for s in (None, None, 5))
    np.testing.assert_array_equal(one.true_proba_, same.true_proba_)
    assert not np.array_equal(one.true_proba_, other.true_proba_)


@pytest.mark.parametrize("mislabel", ["symmetric", "uniform", np.full((3, 3), 0.1) + 0.7 * np.eye(3)])
def test_structures_hold_in_the_robust_fit(mislabel):
    data = simulate(500, n_features=80, n_classes=3, diagonal=(0.75, 0.85), random_state=0)
    matrix = BernoulliINB(mislabel=mislabel).fit(data.X, data.y).mislabel_matrix_
    if isinstance(mislabel, str):
        np.testing.assert_allclose(matrix, matrix.T, atol=1e-9)
    else:
        np.testing.assert_allclose(matrix, mislabel, atol=1e-9)


def test_the_alarm_sounds_when_more_is_doubted_than_naive_bayes_fails_to_predict():
    data = simulate(500, n_features=80, n_classes=3, diagonal=(0.9, 0.95), random_state=0)
    model = BernoulliINB().fit(data.X, data.y)
    assert model.drift_ < 0.05
    model.drift_ = 0.2
    with pytest.warns(
        DriftWarning, match="of the labels, which is 20 % of the rows more than a model trained on the given labels"
    ):
        model._warn_about_classes()


def test_imbalanced_classes_are_not_given_away():
    """Offsets are free where class sizes ask for it: the small classes must not swallow the large one's rows."""
    X, true, X_test, true_test = bursty_texts(3, n=4_000, n_test=3_000)
    keep = np.random.default_rng(0).random(4_000) < np.array([1.0, 0.5, 0.25, 0.1, 0.06])[true]
    keep_test = np.random.default_rng(1).random(3_000) < np.array([1.0, 0.5, 0.25, 0.1, 0.06])[true_test]
    rng = np.random.default_rng(2)
    X, true = X[np.flatnonzero(keep)], true[keep]
    y = corrupt(true, structured_noise(5, 0.15, rng), rng)
    model = MultinomialINB().fit(X, y)
    naive = MultinomialNB().fit(X, y)
    X_test, true_test = X_test[np.flatnonzero(keep_test)], true_test[keep_test]
    assert np.mean(model.predict(X_test) == true_test) > np.mean(naive.predict(X_test) == true_test)


def test_a_block_that_says_everything_ten_times_does_not_drown_the_others():
    data = simulate(1_500, n_features=30, n_classes=3, diagonal=(0.75, 0.85), random_state=3)
    rng = np.random.default_rng(3)
    numbers = rng.normal(size=(1_500, 3)) + np.eye(3)[data.true]
    train, test = slice(0, 1_000), slice(1_000, None)
    right = []
    for copies in (1, 10):
        X = np.hstack([*[data.X] * copies, numbers])
        blocks = [("bernoulli", slice(0, 30 * copies)), ("gaussian", slice(30 * copies, None))]
        model = MixedINB(blocks).fit(X[train], data.y[train])
        right.append(np.mean(model.predict(X[test]) == data.true[test]))
    words_alone = BernoulliINB().fit(data.X[train], data.y[train]).predict(data.X[test]) == data.true[test]
    assert right[0] > np.mean(words_alone) + 0.02  # the numbers do help
    assert right[1] == pytest.approx(right[0], abs=0.015)


def test_texts_beside_numbers_are_scored_as_texts_are(monkeypatch):
    # folds follow from the content of a row, which has numbers here and none there
    monkeypatch.setattr(dataset, "content_hash", lambda rows, dtype: rows.number.astype(np.uint64))
    X, true, X_test, true_test = bursty_texts(4)
    rng = np.random.default_rng(4)
    y = corrupt(true, uniform_noise(5, 0.2), rng)
    chance = rng.normal(size=(len(true) + len(true_test), 2))  # numbers that say nothing
    both = sparse.csr_array(sparse.hstack([sparse.vstack([X, X_test]), sparse.csr_array(chance)]))
    mixed = MixedINB([("multinomial", slice(0, X.shape[1])), ("gaussian", slice(X.shape[1], None))])
    mixed.fit(both[: len(true)], y)
    words = MultinomialINB().fit(X, y)
    assert mixed.event_model_.startswith(words.event_model_)
    agree = mixed.predict(both[len(true) :]) == words.predict(X_test)
    assert np.mean(agree) > 0.97


def test_the_chosen_smoothing_is_the_published_one():
    X, true, _, _ = bursty_texts(5)
    model = MultinomialINB().fit(X, true)
    assert model.event_model_.endswith(f"alpha {model.alpha_:g}")
