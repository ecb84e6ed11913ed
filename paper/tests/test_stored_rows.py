"""The stored rows repeat, and the page is made of nothing else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from paper.data import live_streaming
from paper.methods import METHODS
from paper.page import EXPERIMENTS, render_figures, render_page, stored
from paper.rows import read_rows
from paper.run import Job, results_path, run_job

from .marks import needs_data, needs_torch

ROOT = Path(__file__).parents[2]
FIRST = "500, [0.55, 0.65)"
# the package's default, `inb`, is left out: its rows are those of the version that computed them
SIMULATED = {
    ("table1", FIRST, 3): ("nb", "nb-correct", "inb-paper", "nbt"),
    ("table2", "1000, [0.65, 0.75)", 99): ("nb", "nb-correct", "inb-paper", "nbt"),
    ("matrices", f"balanced, {FIRST.replace('500', '1000')}, dirichlet", 2): ("nb", "inb-paper"),
    ("starts", FIRST, 1): ("inb-start-paper", "inb-start-half", "inb-start-half-10"),
    ("roc", "1000, [0.55, 0.65)", 5): ("nb", "inb-paper"),
    ("impact", "two classes, 1000", 7): ("nb", "nb-correct", "inb-paper"),
    ("impact", "one confusing class, 1000", 0): ("nb",),
}
NETWORKS = {
    ("table1", FIRST, 0): ("nal", "nal-complex", "nlnn", "nal-authors"),
    ("published", FIRST, 1): ("network", "decoupling", "co-teaching", "mentornet", "decoupling-published"),
}
_NAIVE = ("nb", "nb-correct", "nb-ml", "nb-ml-correct", "nb-equal", "nb-equal-correct", "inb-paper-equal", "inb-paper")
LIVE = {("livestream", setting, 4): _NAIVE for setting in EXPERIMENTS["livestream"].settings()}
TEXTS = {("newsgroups", "max, structured, 20 %", 1): ("nb", "nb-ml")}


def repeats(place, methods):
    name, setting, rep = place
    experiment = EXPERIMENTS[name]
    _, found = run_job(experiment, experiment.settings()[setting], Job(setting, rep, methods))
    rows = read_rows(results_path(ROOT, name))
    by_method = {row["method"]: row for row in rows if (row["setting"], row["rep"]) == (setting, rep)}
    for row in found:
        expected = by_method[row["method"]]
        assert list(row) == list(expected)
        for key in row.keys() - {"setting", "method", "seconds"}:
            assert row[key] == pytest.approx(expected[key], abs=1e-9, nan_ok=True), (row["method"], key)


@pytest.mark.parametrize("place", SIMULATED, ids=str)
def test_rows_of_simulations_repeat(place):
    repeats(place, SIMULATED[place])


@needs_torch
@pytest.mark.parametrize("place", NETWORKS, ids=str)
def test_rows_of_networks_repeat(place):
    repeats(place, NETWORKS[place])


@needs_data
@pytest.mark.parametrize("place", LIVE, ids=str)
def test_rows_of_live_streaming_repeat(place):
    repeats(place, LIVE[place])


@needs_data
@pytest.mark.parametrize("place", TEXTS, ids=str)
def test_rows_of_texts_repeat(place):
    repeats(place, TEXTS[place])


@needs_data
def test_the_page_says_how_many_labels_of_live_streaming_are_wrong():
    data = live_streaming()
    differ = data.observed != data.true
    assert (len(differ), differ.sum(), (~data.said_to_agree).sum()) == (1416, 275, 276)
    assert np.flatnonzero(differ == data.said_to_agree).tolist() == [294]


# --- the page --------------------------------------------------------------------------------------------------------


def test_the_page_is_made_from_the_stored_rows():
    page = render_page(ROOT)
    assert (ROOT / "docs" / "reproduce.md").read_text(encoding="utf-8") == page
    assert "nan" not in page
    assert list(stored(ROOT)) == list(EXPERIMENTS)
    for file, svg in render_figures(ROOT).items():
        assert f"(img/{file})" in page
        assert "<text" in svg


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_sections_and_findings_of_a_run_with_some_methods(name):
    rows = [row for row in stored(ROOT)[name] if row["method"] in ("nb", "text-inb") and row["rep"] == 0]
    assert EXPERIMENTS[name].page(rows).startswith(f"## {EXPERIMENTS[name].TITLE}\n")
    for sentence in EXPERIMENTS[name].findings(rows):
        assert sentence.endswith(".")
    EXPERIMENTS[name].figures(rows)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_stored_methods_and_settings_exist(name):
    experiment = EXPERIMENTS[name]
    assert set(experiment.METHODS) <= set(METHODS)
    for row in stored(ROOT)[name]:
        assert row["setting"] in experiment.settings()
        assert row["method"] in experiment.methods(row["setting"])
