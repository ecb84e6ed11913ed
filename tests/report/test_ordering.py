"""The order of classes: as people count, and confused ones side by side."""

from __future__ import annotations

import numpy as np

from noisybayes.report.ordering import confused_block, natural_order
from noisybayes.report.page_context import MATRIX_LIMIT, shown_matrix

from .example import example_summary


def test_names_in_the_order_in_which_people_count():
    names = ["intent10", "Intent2", "intent1", "10", "9", "b2a10", "b2a9", "", "ünter"]
    assert natural_order(names) == ["", "9", "10", "b2a9", "b2a10", "intent1", "Intent2", "intent10", "ünter"]


def test_confused_classes_are_neighbours():
    mistakes = np.full((77, 77), 0.01)
    for one, other in ((3, 60), (10, 41), (5, 76)):
        mistakes[one, other] = 9.0 + one
    chosen = confused_block(mistakes, 6)
    assert chosen[0] in (10, 41)
    for one, other in ((3, 60), (10, 41), (5, 76)):
        assert abs(chosen.index(one) - chosen.index(other)) == 1


def test_of_many_classes_the_most_confused_are_shown():
    summary = example_summary(n_classes=77)
    classes, matrix = shown_matrix(summary)
    assert len(classes) == len(set(classes)) == MATRIX_LIMIT
    where = {name: k for k, name in enumerate(summary["classes"])}
    for i, given in enumerate(classes):
        assert matrix["estimate"][i] == [
            summary["mislabel_matrix"]["estimate"][where[given]][where[true]] for true in classes
        ]
    few, _ = shown_matrix(example_summary(n_classes=11))
    assert few == natural_order(few)
