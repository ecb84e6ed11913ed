"""The page is made from the stored rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.quality import result_rows as stored
from benchmarks.quality.datasets import DATASETS
from benchmarks.quality.notes import dataset_note
from benchmarks.quality.page import render_pages, write_page
from benchmarks.quality.summary import compare, mean

ROOT = Path(__file__).parents[3]


def everything(results):
    """The page, and those of the data sets."""
    return "\n".join(render_pages(results).values())


def row(method, seed, dataset="livestream", error="", **measures):
    values = {column: np.nan if column in stored.MEASURES else "" for column in stored.COLUMNS}
    values |= {"dataset": dataset, "seed": seed, "method": method, "kind": "table", "n_train": 1_132, "n_test": 284}
    values |= {"n_features": 22, "n_classes": 13, "machine": "a machine", "error": error, "at_once": 1}
    return values | measures


ROWS = [
    row("inb", 0, average_precision=0.50, test_accuracy=0.90, noise_rate_true=0.2, flagged_share=0.1),
    row("inb", 1, average_precision=0.52, test_accuracy=0.92, noise_rate_true=0.2, flagged_share=0.1),
    row("cleanlab-lr", 0, average_precision=0.60, test_accuracy=0.80, noise_rate_true=0.2, flagged_share=0.0),
    row("cleanlab-lr", 1, average_precision=0.62, test_accuracy=0.86, noise_rate_true=0.2, flagged_share=0.0),
    row("nb-clean", 0, average_precision=0.90, test_accuracy=0.99, noise_rate_true=0.2),
    row("doubtlab", 0, error="ValueError: `x` | y"),
]


def test_the_page_in_the_docs_is_made_from_the_stored_results():
    pages = render_pages(ROOT / "results")
    there = ["quality.md", *(f"quality/{path.name}" for path in (ROOT / "docs" / "quality").iterdir())]
    assert sorted(there) == sorted(pages), "remake them with: noisybayes bench page"
    for place, page in pages.items():
        assert page == (ROOT / "docs" / place).read_text(encoding="utf-8"), "remake it with: noisybayes bench page"


def test_pages_of_data_sets_that_are_gone_are_removed(tmp_path):
    stored.rewrite(tmp_path / "results" / "quality.csv", [row("inb", 0, dataset="my set"), row("inb", 0)])
    write_page(tmp_path)
    assert "[my set](quality/my-set.md)" in (tmp_path / "docs" / "quality.md").read_text(encoding="utf-8")
    stored.rewrite(tmp_path / "results" / "quality.csv", [row("inb", 0)])
    write_page(tmp_path)
    assert [path.name for path in (tmp_path / "docs" / "quality").iterdir()] == ["livestream.md"]


def test_without_rows_the_page_says_how_to_make_them(tmp_path):
    assert "No rows are stored yet." in everything(tmp_path)


def test_tables_verdicts_and_failures(tmp_path):
    stored.rewrite(tmp_path / "quality.csv", ROWS)
    page = everything(tmp_path)
    assert "| method | AP | test, % | flagged, % |" in page
    assert "| `inb` | 0.510 ± 0.010 | **91.0 ± 1.0** | 10.0 ± 0.0 |" in page
    assert "| `cleanlab-lr` | **0.610 ± 0.010** | 83.0 ± 3.0 | 0.0 ± 0.0 |" in page
    assert "| `nb-clean` | 0.900 | 99.0 | – |" in page  # the best, but out of competition
    assert "| `doubtlab` | – | – | – |" in page
    assert "- `doubtlab` failed: `ValueError: 'x' | y`" in page
    assert "A peer is better than `inb` in average precision (0.510; `cleanlab-lr` 0.610)." in page
    assert "`inb` is better than every peer in test accuracy (91.0; `cleanlab-lr` 83.0)." in page
    assert "1,132 training rows, 284 test rows, 22 features, 13 classes, 1 to 2 seeds, by method; 20.0 % of the" in page
    assert "Measured on: a machine. Repeat with `noisybayes bench quality --seeds 2 --fresh`." in page
    assert "## Overview: AP" in page


def test_parameters_are_shown_and_explained_where_they_were_counted(tmp_path):
    stored.rewrite(tmp_path / "quality.csv", ROWS)
    assert "parameters" not in everything(tmp_path)
    stored.rewrite(tmp_path / "quality.csv", [*ROWS, row("co-teaching", 0, n_parameters=1_465_240)])
    page = everything(tmp_path)
    assert "| parameters | fitted numbers, " in page
    assert "| `co-teaching` | – | – | – | 1,465,240 |" in page


def test_flags_on_clean_labels_are_false_alarms(tmp_path):
    clean = [r | {"dataset": "livestream-clean", "noise_rate_true": 0.0, "average_precision": np.nan} for r in ROWS]
    stored.rewrite(tmp_path / "quality.csv", clean)
    page = everything(tmp_path)
    assert "| `cleanlab-lr` | 83.0 ± 3.0 | **0.0 ± 0.0** |" in page
    assert "A peer is better than `inb` in false alarms (10.0; `cleanlab-lr` 0.0)." in page
    assert "## Overview: AP" not in page


def test_nothing_is_compared_where_our_default_was_not_run(tmp_path):
    stored.rewrite(tmp_path / "quality.csv", ROWS[2:])
    assert "`inb` or the peers have no rows here: nothing to compare." in everything(tmp_path)


def test_means_leave_out_failures_and_nan():
    good = [row("a", 0, auroc=0.5), row("a", 1, auroc=0.7)]
    found = mean([*good, row("a", 2), row("a", 3, error="E", auroc=9.0)], "auroc")
    assert found == pytest.approx((0.6, 0.1, 2))
    assert mean([row("a", 0)], "auroc").n == 0


def test_a_difference_within_two_standard_errors_is_level():
    ours = [row("inb", seed, auroc=value) for seed, value in enumerate([0.5, 0.7, 0.6])]
    theirs = [row("doubtlab", seed, auroc=value) for seed, value in enumerate([0.6, 0.6, 0.61])]
    assert compare(ours + theirs, "auroc", 1).verdict == "level"
    assert compare(ours + [r | {"auroc": r["auroc"] + 0.1} for r in theirs], "auroc", 1).verdict == "level"
    shifted = [r | {"method": "doubtlab", "auroc": r["auroc"] + 0.01} for r in ours]
    assert compare(ours + shifted, "auroc", 1).verdict == "worse"  # seed by seed the peer is always ahead
    assert compare(ours + shifted, "auroc", -1).verdict == "better"
    assert compare(ours, "auroc", 1) is None


def test_every_data_set_has_a_note():
    assert all(dataset_note(name) for name in DATASETS)
    assert dataset_note("simulation-of-mine") == "A data set from the plug-in folder."
