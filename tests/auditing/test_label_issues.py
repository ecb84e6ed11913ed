"""Wrong labels from labels and probabilities alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from noisybayes import find_label_issues, label_quality_scores
from noisybayes.data.errors import InputError


def made(n: int = 600, seed: int = 0) -> tuple[Any, Any, Any]:
    """Labels, probabilities of a model that is too sure, and true labels."""
    rng = np.random.default_rng(seed)
    true = rng.integers(3, size=n)
    scores = 2.0 * np.eye(3)[true] + rng.normal(size=(n, 3))
    labels = np.where(rng.random(n) < 0.2, (true + 1) % 3, true)  # mistakes follow the class
    proba = np.exp(3.0 * scores)
    return labels, proba / proba.sum(axis=1, keepdims=True), true


def test_wrong_labels_are_found_and_scores_are_probabilities() -> None:
    labels, P, true = made()
    wrong = labels != true
    found, scores = find_label_issues(labels, P), label_quality_scores(labels, P)
    assert found.dtype == bool
    assert found.shape == scores.shape == (600,)
    assert wrong[found].mean() > 0.6
    assert found[wrong].mean() > 0.6
    assert 1.0 - scores.mean() == pytest.approx(wrong.mean(), abs=0.1)


def test_ranked_suspects_are_those_of_the_mask_the_lowest_score_first() -> None:
    labels, P, _ = made()
    ranked, scores = find_label_issues(labels, P, ranked=True), label_quality_scores(labels, P)
    assert set(ranked) == set(np.flatnonzero(find_label_issues(labels, P)))
    assert (np.diff(scores[ranked]) >= 0).all()


def test_names_and_codes_of_labels_are_the_same() -> None:
    labels, P, _ = made()
    by_name = label_quality_scores(np.array(["bus", "car", "van"])[labels], P)
    assert np.array_equal(by_name, label_quality_scores(labels, P))


@pytest.mark.parametrize(
    ("labels", "pred_probs", "sentence"),
    [
        ([0, 1], [[0.5, 0.5]], r"pred_probs has the shape \(1, 2\), but there are 2 rows and 2 classes"),
        ([0, 1], [[0.5, 0.5], [0.9, 0.3]], "row 2 of pred_probs sums to 1.2, not 1"),
        (["a", "b", "c"], [[0.5, 0.5]] * 3, r"3 rows and 3 classes \('a', 'b', 'c'\)"),
        (["a", None], [[0.5, 0.5]] * 2, "labels contain missing values; leave these rows out, of pred_probs as well"),
        ([0, np.nan], [[0.5, 0.5]] * 2, "labels contain missing values"),
        ([[0]], [[1.0]], r"labels must have one dimension, got the shape \(1, 1\)"),
    ],
)
def test_what_does_not_fit_is_refused(labels: Any, pred_probs: Any, sentence: str) -> None:
    with pytest.raises((InputError, ValueError), match=sentence):
        find_label_issues(labels, pred_probs)
