"""The default fit: never worse than naive Bayes of the labels, and put right by verified labels."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import average_precision_score
from sklearn.naive_bayes import MultinomialNB

from noisybayes import BernoulliINB, GaussianINB, MultinomialINB, simulate
from noisybayes.data.simulate import corrupt

from ..made_texts import bursty_texts
from ..noise import pair_noise, uniform_noise


@pytest.mark.parametrize("noise", [uniform_noise(5, 0.2), pair_noise(5, 0.2)])
def test_texts_are_learned_better_than_by_naive_bayes_of_the_labels_and_right_labels_are_left_alone(noise):
    X, true, X_test, true_test = bursty_texts(1)
    y = corrupt(true, noise, np.random.default_rng(1))
    model, naive = MultinomialINB().fit(X, y), MultinomialNB().fit(X, y)
    assert np.mean(model.predict(X_test) == true_test) >= np.mean(naive.predict(X_test) == true_test)
    p_wrong = 1 - model.true_proba_[np.arange(len(y)), y]
    assert average_precision_score(y != true, p_wrong) > 0.7
    assert model.noise_rate_ == pytest.approx(np.mean(y != true), abs=0.08)
    right_labels = MultinomialINB().fit(X, true)
    assert np.mean(right_labels.true_proba_.argmax(axis=1) != true) < 0.05


def test_labels_that_do_not_hang_on_the_features_keep_naive_bayes():
    """Nothing can be learned: EM must not be believed, and no label be doubted more than chance allows."""
    rng = np.random.default_rng(0)
    X, y = (rng.random((600, 20)) < 0.3).astype(float), rng.integers(3, size=600)
    model = BernoulliINB().fit(X, y)
    assert model.method_ == "crossfit"


@pytest.mark.filterwarnings("ignore::noisybayes.model.matrix.IdentifiabilityWarning")
def test_scores_of_a_row_do_not_know_its_own_label():
    """Memorizing features: each row has a word of its own, which says nothing of the other rows."""
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
    """Mistakes on ambiguous rows only: the model alone is far too low. 150 verified rows cannot tell the number (an
    audit counts those drawn at random), but do not lead further away."""
    rng = np.random.default_rng(0)
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
    np.testing.assert_array_equal(helped.true_proba_[rows].argmax(axis=1), true[rows])
    left = abs(helped.noise_rate_ - np.mean(y != true)) / abs(alone.noise_rate_ - np.mean(y != true))
    assert left < 1.0


def test_a_few_verified_rows_leave_probabilities_alone_and_fits_repeat():
    data = simulate(600, n_features=100, n_classes=3, diagonal=(0.8, 0.9), random_state=0)
    verified = np.where(np.arange(600) < 5, data.true, np.nan)
    model = BernoulliINB().fit(data.X, data.y, verified=verified)
    np.testing.assert_array_equal(model.true_proba_[:5].argmax(axis=1), data.true[:5])
    same, other = (BernoulliINB(random_state=s).fit(data.X, data.y, verified=verified) for s in (None, 5))
    np.testing.assert_array_equal(model.true_proba_, same.true_proba_)
    assert not np.array_equal(model.true_proba_, other.true_proba_)
