"""Simulated numeric tables: repeatable, correlated within classes, and not divided by planes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.data.simulated_tables import simulate_table


def test_a_seed_gives_the_same_table_and_another_one_another() -> None:
    one, same, other = (simulate_table(50, random_state=seed) for seed in (0, 0, 1))
    assert np.array_equal(one.X, same.X)
    assert np.array_equal(one.true, same.true)
    assert not np.array_equal(one.X, other.X)
    assert one.X.shape == (50, 12)
    assert set(one.true.tolist()) <= {0, 1, 2}


def test_columns_depend_on_one_another_within_a_class() -> None:
    made = simulate_table(2_000, n_classes=2, random_state=0)
    off_diagonal = np.corrcoef(made.X[made.true == 0].T)[np.triu_indices(12, 1)]
    assert np.abs(off_diagonal).max() > 0.5


def test_boundaries_are_curved() -> None:
    gains = []
    for seed in range(4):
        made = simulate_table(4_000, n_features=6, n_classes=2, random_state=seed)
        train, test = slice(0, 2_000), slice(2_000, None)
        linear, near = (
            model.fit(made.X[train], made.true[train]).score(made.X[test], made.true[test])
            for model in (LogisticRegression(), KNeighborsClassifier(15))
        )
        gains.append(near - linear)
    assert np.mean(gains) > 0.02


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="n, n_features and n_classes must be at least 1, got 0, 12, 3"):
        simulate_table(0)
