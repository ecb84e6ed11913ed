"""Numeric tables: their tasks, and their section of the page."""

from __future__ import annotations

import numpy as np

from benchmarks.quality import embedded_page, ordinal_page, tables_page
from benchmarks.quality.datasets import DATASETS, GROUPS, NOT_IN_ALL
from benchmarks.quality.datasets.embedded import EmbeddedTexts
from benchmarks.quality.datasets.numeric_tables import make
from benchmarks.quality.methods import FOR_NUMBERS, FOR_SCALES, FOR_VECTORS
from benchmarks.quality.summary import seeds_text
from benchmarks.quality.tasks import Task


def test_a_task_has_numbers_and_as_many_wrong_labels_as_its_name_says() -> None:
    for noise in ("class", "boundary"):
        task = make(f"table-wine-{noise}-20", "wine", noise, 0.2, 0)
        assert task.kind == "numbers"
        assert task.X.shape == (142, 13)
        assert abs(np.mean(task.y != task.true) - 0.2) < 0.08
        assert np.array_equal(task.X, make("table-wine-class-10", "wine", "class", 0.1, 0).X)


def test_they_are_chosen_by_name_only() -> None:
    assert set(GROUPS["tables"]) <= set(NOT_IN_ALL)
    assert "table-digits-boundary-40" in GROUPS["tables"]


def test_the_section_compares_with_the_best_peer() -> None:
    ap = dict(zip(FOR_NUMBERS, (0.9, 0.7, 0.6, 0.8, 0.5), strict=True))
    rows = [
        {"dataset": f"table-wine-class-{rate}", "seed": 0, "method": name, "average_precision": value,
         "calibration_error": 0.1, "error": "", "seconds": 2.0}
        for rate in (10, 20, 40) for name, value in ap.items()
    ]  # fmt: skip
    section = tables_page.section(rows)
    assert "| wine | class | 0.900 | 0.700 | 0.600 | 0.800 | 0.500 | +0.100 | 0.100 |" in section
    assert "It beats the best of the three peers on 1 of 1 lines" in section
    assert "+0.100 from `cleanlab-forest`" in section
    assert tables_page.section([]) == ""


def test_seeds_are_counted_by_data_set() -> None:
    rows = [{"dataset": "a", "seed": 0}, {"dataset": "a", "seed": 1}, {"dataset": "b", "seed": 0}]
    assert seeds_text(rows) == "1 to 2 seeds"
    assert seeds_text(rows[:2]) == "2 seeds"
    assert seeds_text(rows[2:]) == "1 seed"


def test_labels_on_a_scale_are_made_wrong_towards_their_neighbours() -> None:
    for noise in ("class", "scale"):
        task = DATASETS[f"ordinal-{noise}-20"](0)
        wrong = task.y != task.true
        assert abs(np.mean(wrong) - 0.2) < 0.03
        assert np.mean(np.abs(task.y - task.true)[wrong] == 1) > 0.5


def test_the_section_of_scales_compares_with_the_best_peer() -> None:
    ap = dict(zip(FOR_SCALES, (0.5, 0.7, 0.6, 0.8, 0.5), strict=True))
    rows = [
        {"dataset": name, "seed": 0, "method": method, "average_precision": value, "error": ""}
        for name in GROUPS["ordinal"] for method, value in ap.items()
    ]  # fmt: skip
    section = ordinal_page.section(rows)
    assert "| class | 10 | 0.500 | 0.700 | 0.600 | 0.800 | 0.500 | -0.100 |" in section
    assert ordinal_page.section([]) == ""


def test_every_method_of_vectors_answers_for_texts_and_for_columns() -> None:
    rng = np.random.default_rng(0)
    true = rng.integers(2, size=120)
    vectors = (rng.normal(size=(120, 4)) + 2 * true[:, None]).astype(np.float32)
    texts = [f"{'cheap price' if code else 'dog cat'} {rng.integers(9)}" for code in true.tolist()]
    y = np.where(rng.random(120) < 0.1, 1 - true, true)
    for columns in (np.zeros((120, 0)), np.column_stack([true, rng.integers(2, size=120)])):
        rows = EmbeddedTexts(texts, vectors, columns)
        train, test = rows.take(np.arange(90)), rows.take(np.arange(90, 120))
        for method in FOR_VECTORS.values():
            outcome = method(Task("made", "embedded", train, y[:90], None, test, None, 0))
            assert outcome.p_wrong.shape == (90,)
            assert np.mean(outcome.test_pred == true[90:]) > 0.9


def test_the_section_of_vectors_has_a_line_for_each_data_set() -> None:
    rows = [
        {"dataset": "embedded-ag-news", "seed": 0, "method": method, "average_precision": 0.5, "test_accuracy": 0.8,
         "error": ""}
        for method in FOR_VECTORS
    ]  # fmt: skip
    assert "| embedded-ag-news | 0.500 / 80.0 | 0.500 / 80.0 |" in embedded_page.section(rows)
    assert embedded_page.section([]) == ""
