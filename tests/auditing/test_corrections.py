"""Corrections do no harm, and are not made where they cannot be told."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from noisybayes import audit, simulate


def with_noise(kind, X, true, rate, rng):
    """Mistakes that follow the class, or that sit where a classifier of the true labels hesitates."""
    if kind == "class":
        return np.where(rng.random(len(true)) < rate, 1 - true, true)
    p = cross_val_predict(make_pipeline(StandardScaler(), LogisticRegression()), X, true, method="predict_proba")
    unclear = np.argsort(p[np.arange(len(true)), true])[: int(2 * rate * len(true))]
    y = true.copy()
    y[rng.permutation(unclear)[: int(rate * len(true))]] ^= 1
    return y


@pytest.mark.parametrize("rate", [0.1, 0.3])
@pytest.mark.parametrize("kind", ["class", "boundary"])
def test_correcteds_are_not_worse_than_the_given_ones(kind, rate):
    X, true = load_breast_cancer(return_X_y=True)
    y = with_noise(kind, X, true, rate, np.random.default_rng(0))
    found = audit(X, y)
    corrected = found.table["corrected"].to_numpy()
    gain = np.mean(corrected == true) - np.mean(y == true)
    assert gain > -0.005
    if kind == "class" and found.summary()["n_corrected"]:
        assert gain > 0.02
    changed = corrected != y
    assert changed.sum() == found.summary()["n_corrected"]
    # whatever is changed unseen is worth a look too
    assert (~found.table["suspect"].to_numpy() & changed).sum() <= 0.05 * changed.sum()


def test_labels_that_are_right_are_left_alone_or_the_audit_cannot_tell():
    data = simulate(600, n_features=60, n_classes=3, random_state=0)
    found = audit(data.X, data.true)
    assert found.summary()["n_corrected"] < 0.02 * 600


def test_verified_labels_stay_and_rows_without_a_label_get_the_most_probable_one():
    data = simulate(500, n_features=200, n_classes=3, diagonal=(0.75, 0.85), random_state=0)
    y = np.where(np.arange(500) % 10 == 0, np.nan, data.y)
    verified = np.where(np.arange(500) % 7 == 1, data.true, np.nan)
    found = audit(data.X, y, verified=verified)
    corrected = found.table["corrected"].to_numpy().astype(float)
    known, unlabeled = ~np.isnan(verified), np.isnan(y)
    np.testing.assert_array_equal(corrected[known], verified[known])
    alone = unlabeled & ~known
    np.testing.assert_array_equal(corrected[alone], found.table["suggested"][alone])
    assert np.mean(corrected == data.true) > np.mean(data.y == data.true) + 0.05


def test_no_label_is_changed_where_the_names_of_the_classes_are_not_certain():
    data = simulate(1_500, n_features=100, n_classes=4, diagonal=(1.0, 1.0), random_state=0)
    rng = np.random.default_rng(0)
    y = np.where((rng.random(1_500) < 0.8) & (data.true == 0), 1, data.true)
    found = audit(data.X, y)
    assert "It is uncertain which class is which, so no label is corrected." in found.warnings[0]
    assert (found.table["corrected"].to_numpy() == y).all()
