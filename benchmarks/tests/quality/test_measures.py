"""Measures against values computed by hand."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.quality.measures import calibration_error, measure, measure_by_label
from benchmarks.quality.methods import Outcome
from benchmarks.quality.result_rows import BY_LABEL, MEASURES
from benchmarks.quality.tasks import Task
from benchmarks.quality.time_and_memory import with_costs

X = np.zeros((5, 1))
TASK = Task(
    "hand", "table", X, np.array([0, 0, 0, 1, 1]), np.array([1, 0, 1, 1, 1]), X[:4], np.array([0, 1, 1, 0]), 0
)  # rows 0 and 2 are wrong
OUTCOME = Outcome(
    p_wrong=np.array([0.9, 0.8, 0.7, 0.2, 0.1]),
    flagged=np.array([True, True, False, False, False]),
    review=np.array([True, True, True, False, False]),
    suggested=np.array([1, 1, 1, 0, 1]),
    noise_rate=0.54,
    test_pred=np.array([0, 1, 1, 1]),
    calibrated=True,
    n_parameters=12,
)


def test_measures_by_hand():
    assert measure(TASK, OUTCOME) == pytest.approx(
        {
            "average_precision": (1 / 1 + 2 / 3) / 2,
            "auroc": 5 / 6,
            "f1_flagged": 2 * 1 / (2 + 2),
            "f1_review": 2 * 2 / (2 + 3),
            "precision_at_errors": 1 / 2,
            "corrected_accuracy": 3 / 5,  # row 0 put right, row 1 put wrong, row 2 left wrong
            "given_accuracy": 3 / 5,
            "test_accuracy": 3 / 4,
            "calibration_error": (0.1 + 0.8 + 0.3 + 0.2 + 0.1) / 5,
            "noise_rate_estimated": 0.54,
            "noise_rate_true": 2 / 5,
            "flagged_share": 2 / 5,
            "review_share": 3 / 5,
            "n_parameters": 12,
            "average_precision_within": (1 / 1 + 2 / 3) / 2,  # of label 0; label 1 is never wrong
            "label_order": 1.0,
        }
    )
    assert (*measure(TASK, OUTCOME), "seconds", "peak_mb") == MEASURES
    by_label = measure_by_label(TASK, OUTCOME)
    assert by_label == {"wrong_by_label": "0.667 0", "p_wrong_by_label": "0.8 0.15"}
    assert tuple(by_label) == BY_LABEL


def test_finding_has_no_measure_where_no_label_is_wrong():
    found = measure(TASK._replace(true=TASK.y), OUTCOME)
    finding = "average_precision", "auroc", "f1_flagged", "f1_review", "precision_at_errors"
    for name in (*finding, "average_precision_within", "label_order"):
        assert np.isnan(found[name])
    assert found["flagged_share"] == 2 / 5
    assert found["noise_rate_true"] == 0


def test_a_score_that_is_no_probability_is_not_judged_as_one():
    assert np.isnan(measure(TASK, OUTCOME._replace(calibrated=False))["calibration_error"])


def test_calibration_is_judged_bin_by_bin():
    wrong = np.array([True, False, True, False])
    assert calibration_error(wrong, np.array([0.51, 0.49, 0.51, 0.49])) == pytest.approx(0.49)
    assert calibration_error(wrong, np.array([0.5, 0.5, 0.5, 0.5])) == pytest.approx(0.0)
    assert calibration_error(wrong, np.array([1.0, 0.0, 1.0, 0.0])) == 0


def test_a_task_without_truth_is_refused():
    with pytest.raises(ValueError, match="hand: measures need the true labels"):
        measure(TASK.without_truth(), OUTCOME)


def test_costs_are_time_and_peak_memory():
    answer, seconds, mebibytes = with_costs(lambda: np.ones(8 * 2**20).sum())
    assert answer == 8 * 2**20
    assert 0 < seconds < 10
    assert np.isnan(mebibytes) or 60 < mebibytes < 80  # 64 of them held and given back
