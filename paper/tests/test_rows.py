"""Measures against scikit-learn and against numbers that are known."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from paper.experiment import macro_auc
from paper.rows import Mean, mean_of, paired, verdict


def test_macro_auc_is_that_of_scikit_learn_and_classes_without_test_rows_do_not_count():
    rng = np.random.default_rng(0)
    true, proba = rng.integers(4, size=300), rng.dirichlet(np.ones(4), size=300)
    assert macro_auc(true, proba) == pytest.approx(roc_auc_score(true, proba, multi_class="ovr", average="macro"))
    assert macro_auc(true, np.hstack([proba, np.zeros((300, 1))])) == macro_auc(true, proba)
    assert np.isnan(macro_auc(np.zeros(5, int), np.full((5, 2), 0.5)))


def test_verdicts():
    assert [verdict(Mean(value, 0.1, 10), 90.0) for value in (91.0, 91.1, 88.9)] == ["reproduced", "higher", "lower"]
    # within two standard errors of the difference
    assert [verdict(Mean(92.0, error, 10), 90.0) for error in (0.8, 0.6, np.nan)] == ["reproduced", "higher", "higher"]


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
