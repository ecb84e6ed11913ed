"""Labels on a scale, in an audit."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from noisybayes import GaussianINB, audit, load
from noisybayes.data.errors import InputError
from noisybayes.data.noise import ordinal_noise
from noisybayes.data.simulate import corrupt


def stars(n=900, seed=0):
    """Ratings from 7 to 11, so that the order of the names is not that of the numbers."""
    rng = np.random.default_rng(seed)
    true = rng.integers(5, size=n)
    X = (true - 2)[:, None] * np.linspace(0.5, 1.5, 6) + rng.normal(size=(n, 6))
    observed = corrupt(true, ordinal_noise(5, 0.2, 1.5), rng)
    frame = pl.DataFrame(X, schema=list("abcdef")).with_columns(label=pl.Series([f"{7 + y} of us" for y in observed]))
    return frame, X, true, observed


def test_mistakes_prefer_neighbours_on_the_scale():
    frame, *_ = stars()
    found = audit(frame, label="label", views=("naive-bayes",), mislabel="ordinal")
    assert found.findings.classes.tolist() == ["10 of us", "11 of us", "7 of us", "8 of us", "9 of us"]
    on_scale = np.array([2, 3, 4, 0, 1])
    matrix = found.mislabel_matrix[np.ix_(on_scale, on_scale)]
    for k in range(5):
        assert np.all(np.diff(matrix[k + 1 :, k]) <= 0)
        assert np.all(np.diff(matrix[:k, k]) >= 0)
    assert matrix[1, 0] > 1.5 * matrix[2, 0]
    assert 0.1 < found.noise_rate < 0.3


def test_names_without_a_scale_are_one_sentence():
    frame, *_ = stars(100)
    frame = frame.with_columns(label=pl.col("label").replace({"7 of us": "awful"}))
    with pytest.raises(InputError, match="'ordinal' needs labels on a scale"):
        audit(frame, label="label", mislabel="ordinal")


def test_a_saved_model_knows_the_scale(tmp_path):
    _, X, _, observed = stars(300)
    names = np.array([f"{7 + y} of us" for y in observed])
    model = GaussianINB(mislabel="ordinal").fit(X, names)
    model.save(tmp_path / "model.nb")
    again = load(tmp_path / "model.nb")
    assert again._model.structure.ranks == (3, 4, 0, 1, 2)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
