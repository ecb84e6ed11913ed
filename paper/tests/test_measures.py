"""Measures against scikit-learn and against curves that are known."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import auc, roc_auc_score

from paper.compare import Mean, mean_of, paired, repetitions, verdict
from paper.measures import average_roc, macro_auc, measure
from paper.methods import Draw, Result


@pytest.fixture
def guesses():
    rng = np.random.default_rng(0)
    true = rng.integers(4, size=300)
    proba = rng.dirichlet(np.ones(4), size=300)
    proba[np.arange(300), true] += 0.3
    return true, proba / proba.sum(axis=1, keepdims=True)


def test_macro_auc_is_that_of_scikit_learn(guesses):
    true, proba = guesses
    assert macro_auc(true, proba) == pytest.approx(roc_auc_score(true, proba, multi_class="ovr", average="macro"))


def test_a_class_without_test_rows_does_not_count(guesses):
    true, proba = guesses
    wider = np.hstack([proba, np.zeros((300, 1))])
    assert macro_auc(true, wider) == macro_auc(true, proba)
    assert np.isnan(macro_auc(np.zeros(5, int), np.full((5, 2), 0.5)))


def test_the_area_under_the_averaged_curve_is_the_macro_auc(guesses):
    true, proba = guesses
    grid = np.linspace(0, 1, 5_001)
    curve = average_roc(true, proba, grid)
    assert (curve[0], curve[-1]) == (0, 1)
    assert np.diff(curve).min() >= 0
    assert auc(grid, curve) == pytest.approx(macro_auc(true, proba), abs=1e-3)


def test_measures_of_known_numbers():
    proba = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.3, 0.7]])
    data = Draw(None, None, None, None, np.array([0, 1, 1, 1]), 2, None, np.array([[0.5], [0.1]]))
    found = measure(data, Result(proba, np.array([[0.6], [0.3]]), 7))
    assert found == {"mse": pytest.approx(0.025), "accuracy": 0.75, "auc": 1.0, "parameters": 7}
    assert np.isnan(measure(data, Result(proba))["mse"])


@pytest.mark.parametrize(
    ("value", "error", "expected"),
    [
        (90.0, 0.1, "reproduced"),
        (91.0, np.nan, "reproduced"),  # within a point
        (91.1, 0.1, "higher"),
        (88.9, 0.1, "lower"),
        (92.0, 0.8, "reproduced"),  # within two standard errors of the difference
        (92.0, 0.6, "higher"),
    ],
)
def test_verdicts(value, error, expected):
    assert verdict(Mean(value, error, 10), 90.0) == expected


def rows(method, accuracies, first=0):
    return [{"setting": "s", "rep": first + i, "method": method, "accuracy": a} for i, a in enumerate(accuracies)]


def test_differences_are_taken_on_the_same_data_only():
    both = rows("nb", [0.5, 0.7, 0.9]) + rows("nb-correct", [0.8, 1.0, 0.1], first=1)
    assert paired(both, "s", "nb", "nb-correct").value == pytest.approx(-10.0)
    assert paired(both, "s", "nb", "nb-correct").n == 2
    assert paired(both, "s", "nb", "nb-correct", relative=True).value == pytest.approx(100 * (-0.125 - 0.1) / 2)
    assert paired(both, "s", "nb", "inb").n == 0


def test_means_leave_out_what_is_not_a_number():
    assert mean_of([{"x": 1.0}, {"x": np.nan}, {"x": 3.0}], "x") == Mean(2.0, 1.0, 2)
    assert mean_of([], "x").shown() == "–"
    assert Mean(1.234, 0.05, 3).shown(2, sign=True) == "+1.23 ± 0.05"
    assert Mean(1.0, float("nan"), 1).shown() == "1.0"


def test_the_number_of_repetitions_is_told_as_it_is():
    assert repetitions(rows("nb", [1, 1])) == "2"
    assert repetitions(rows("nb", [1, 1]) + rows("nal", [1])) == "1 to 2, by method"
