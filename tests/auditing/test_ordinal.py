"""Labels on a scale, in an audit."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from noisybayes import GaussianINB, audit, load
from noisybayes.data.errors import InputError


def stars(n=600, seed=0):
    """Ratings from 7 to 11, so that the order of the names is not that of the numbers; mistakes are near the truth."""
    rng = np.random.default_rng(seed)
    true = rng.integers(5, size=n)
    X = (true - 2)[:, None] * np.linspace(0.5, 1.5, 6) + rng.normal(size=(n, 6))
    step = rng.choice([-2, -1, 1, 2], p=[0.1, 0.4, 0.4, 0.1], size=n)
    given = np.where(rng.random(n) < 0.25, np.clip(true + step, 0, 4), true)
    return X, np.array([f"{7 + y} of us" for y in given])


def frame_of(X, labels):
    return pl.DataFrame(X, schema=list("abcdef")).with_columns(label=pl.Series(labels))


def test_mistakes_prefer_neighbors_on_the_scale():
    found = audit(frame_of(*stars()), label="label", mislabel="ordinal")
    assert found.summary()["classes"] == ["10 of us", "11 of us", "7 of us", "8 of us", "9 of us"]
    on_scale = np.array([2, 3, 4, 0, 1])
    matrix = found.matrix[np.ix_(on_scale, on_scale)]
    for k in range(5):
        assert np.all(np.diff(matrix[k + 1 :, k]) <= 0)
        assert np.all(np.diff(matrix[:k, k]) >= 0)
    assert matrix[1, 0] > 1.5 * matrix[2, 0]
    assert 0.15 < found.rate.estimate < 0.35  # 21 % are wrong; ambiguous rows look wrong too


def test_names_without_a_scale_are_one_sentence():
    X, labels = stars(100)
    with pytest.raises(InputError, match="'ordinal' needs labels on a scale"):
        audit(frame_of(X, np.where(labels == "7 of us", "awful", labels)), label="label", mislabel="ordinal")


def test_a_saved_model_knows_the_scale(tmp_path):
    X, labels = stars(300)
    model = GaussianINB(mislabel="ordinal").fit(X, labels)
    model.save(tmp_path / "model.nb")
    np.testing.assert_array_equal(load(tmp_path / "model.nb").predict_proba(X), model.predict_proba(X))
