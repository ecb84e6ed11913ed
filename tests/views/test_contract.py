"""Laws of every view in the registry."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from noisybayes.views import VIEWS, Given, ViewRows

pytestmark = pytest.mark.usefixtures("small_forests")
N, K = 150, 3
#: Views that learn from the labels given here; probabilities of another model do not.
LEARNING = [name for name in VIEWS if name != "pred-probs"]
#: Views in which a weight of two counts as two rows; neighbours and leaves count rows.
BY_WEIGHT = ["linear", "embeddings", "estimator"]


def made(seed: int = 0) -> ViewRows:
    rng = np.random.default_rng(seed)
    true = rng.integers(K, size=N)
    X = rng.normal(size=(N, 5)) + 1.5 * np.eye(K, 5)[true]
    label = np.where(rng.random(N) < 0.2, rng.integers(K, size=N), true)
    proba = rng.dirichlet(np.ones(K), size=N)
    given = Given(proba, X @ rng.normal(size=(5, 8)), LogisticRegression(tol=1e-8), X)
    return ViewRows(X, np.ones(5, dtype=bool), label, np.ones(N), np.arange(N) % 5, K, 0, given)


@cache
def scores_of(name: str) -> Any:
    """The scores of `made()`; not to be changed."""
    return VIEWS[name](made()).values


def taken(rows: ViewRows, index: Any) -> ViewRows:
    of_rows = {"X": rows.X, "label": rows.label, "weight": rows.weight, "fold": rows.fold}
    given = rows.given
    return rows._replace(
        **{name: part[index] for name, part in of_rows.items()},
        given=Given(given.pred_probs[index], given.embeddings[index], given.estimator, given.estimator_rows[index]),
    )


@pytest.mark.parametrize("name", VIEWS)
def test_scores_are_log_probabilities_that_tell_classes_apart(name: str) -> None:
    values = scores_of(name)
    assert values.shape == (N, K)
    assert (np.isfinite(values) & (values <= 0)).all()
    if name in LEARNING:
        assert (values.argmax(axis=1) == made().label).mean() > 0.55


@pytest.mark.parametrize("name", VIEWS)
def test_a_label_never_reaches_the_score_of_its_own_row(name: str) -> None:
    rows, before = made(), scores_of(name)
    label, row = rows.label.copy(), 7
    label[row] = (label[row] + 1) % K
    after = VIEWS[name](rows._replace(label=label)).values
    same_fold = rows.fold == rows.fold[row]
    assert np.array_equal(after[same_fold], before[same_fold])
    assert np.array_equal(after, before) == (name not in LEARNING)


@pytest.mark.parametrize("name", VIEWS)
def test_neither_the_order_of_the_rows_nor_the_names_of_classes_matter(name: str) -> None:
    rows, order, new = made(), np.random.default_rng(1).permutation(N), np.array([2, 0, 1])
    assert VIEWS[name](taken(rows, order)).values == pytest.approx(scores_of(name)[order], abs=1e-2)
    if name in LEARNING:
        renamed = VIEWS[name](rows._replace(label=new[rows.label])).values
        assert renamed[:, new] == pytest.approx(scores_of(name), abs=1e-2)


@pytest.mark.parametrize("name", BY_WEIGHT)
def test_a_weight_of_two_counts_as_two_rows(name: str) -> None:
    rows = made()._replace(scaled=np.zeros(5, dtype=bool))
    twice = np.arange(0, N, 3)
    weight = np.ones(N)
    weight[twice] = 2.0
    weighted = VIEWS[name](rows._replace(weight=weight)).values
    repeated = VIEWS[name](taken(rows, np.concatenate([np.arange(N), twice]))).values[:N]
    assert repeated == pytest.approx(weighted, abs=1e-2)


@pytest.mark.parametrize("name", VIEWS)
def test_a_row_without_a_label_teaches_nothing_and_is_scored(name: str) -> None:
    rows, weight, label = made(), np.ones(N), made().label.copy()
    weight[:20] = 0.0
    label[:20] = 0
    one = VIEWS[name](rows._replace(weight=weight)).values
    other = VIEWS[name](rows._replace(weight=weight, label=label)).values
    assert np.array_equal(one, other)
    assert np.isfinite(one).all()


@pytest.mark.parametrize("name", LEARNING)
def test_a_class_of_one_row_gets_a_small_probability_not_an_error(name: str) -> None:
    rows = made()
    label = np.where(rows.label == 2, 0, rows.label)
    label[0] = 2
    values = VIEWS[name](rows._replace(label=label)).values
    assert np.isfinite(values).all()
    assert values[0].argmax() != 2


def test_the_terms_of_the_linear_view_add_up_to_its_log_odds() -> None:
    rows = made()
    view = VIEWS["linear"](rows)
    numbers, one, two = np.array([3, 9, 40]), np.array([0, 1, 2]), np.array([1, 2, 0])
    by_columns = view.terms(numbers, one, two).sum(axis=1)
    log_odds = view.values[numbers, one] - view.values[numbers, two]
    # what is left is the difference of two intercepts, the same for all rows of a fold
    other = view.terms(numbers + 5, one, two).sum(axis=1)
    left = log_odds - by_columns
    assert left == pytest.approx(view.values[numbers + 5, one] - view.values[numbers + 5, two] - other, abs=1e-6)
