"""docs/methods.md says what each method is and is made from the stored rows."""

from __future__ import annotations

from pathlib import Path

import pytest
from paper.discussed_methods import section

from benchmarks.quality import result_rows as stored
from benchmarks.quality.descriptions import descriptions
from benchmarks.quality.methods import METHODS
from benchmarks.quality.methods_page import SEEDS, render_page
from benchmarks.quality.summary import blocks, in_order

from .test_page import row

ROOT = Path(__file__).parents[3]
HARD, EASY = "simulation-500-0.55", "simulation-5000-0.55"


def accuracy(method, dataset, value, seed=4, **more):
    return row(method, seed, dataset, test_accuracy=value, noise_rate_true=0.4, at_once=2, seconds=1.5, **more)


ROWS = [
    *(accuracy("network", HARD, 0.5 + seed / 100, seed, n_parameters=50_605) for seed in SEEDS),
    *(accuracy("inb", HARD, 0.8 + seed / 100, seed, n_parameters=2_524) for seed in SEEDS),
    *(accuracy("nb-clean", HARD, 0.9, seed) for seed in SEEDS),
    *(accuracy("inb", "livestream", 0.8, seed) for seed in SEEDS),
    *(accuracy("network", "livestream", 0.85, seed) for seed in SEEDS),
    *(accuracy("network", f"newsgroups-{kind}-20", 0.82, n_parameters=9) for kind in ("uniform", "pair", "structured")),
    *(accuracy("inb", f"newsgroups-{kind}-20", 0.87) for kind in ("uniform", "pair")),
    accuracy("inb", "newsgroups-structured-20", 0.81),
    accuracy("inb", "newsgroups-structured-40", 0.0),
    accuracy("inb", HARD, 0.0, 0),  # of a seed that is not shown
    accuracy("inb", "imbalanced", 0.0),
]
TOLD = [
    *(accuracy("bayesanil-half", name, 0.7, f1_flagged=0.5) for name in (HARD, EASY)),
    *(accuracy("bayesanil-right", name, 0.8, f1_flagged=0.6) for name in (HARD, EASY)),
    accuracy("bayesanil-double", HARD, 0.9, f1_flagged=0.7),
    row("bayesanil-double", 4, EASY, error="ValueError: noise_rate must be below 4/5", noise_rate_true=0.4),
    accuracy("bayesanil-half", "livestream", 0.79, f1_flagged=0.5),
    accuracy("bayesanil-right", "livestream", 0.78, f1_flagged=0.5),
]


@pytest.fixture
def results(tmp_path):
    stored.rewrite(tmp_path / "results" / "quality.csv", [*ROWS, *TOLD])
    return tmp_path / "results"


def test_the_page_in_the_docs_is_made_from_the_stored_results():
    page = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")
    assert page == render_page(ROOT / "results"), "remake it with: noisybayes bench page"


def test_every_method_is_described_once():
    described = [name for description in descriptions() for name in description.methods]
    assert sorted(described) == sorted(METHODS)
    for description in descriptions():
        assert len(description.text) > 60
        assert "Parameters" not in description.text
        assert description.known


def test_methods_stand_side_by_side(results):
    page = render_page(results)
    header = "| method | 500-0.55 | 1000-0.75 | 5000-0.55 | unbalanced-10000-0.55 | mean of 1 simulations |"
    assert f"{header} 20 Newsgroups | Live Streaming | seconds, simulation |" in page
    assert "| `inb` | **85.0** | – | – | – | **85.0** | **85.0** | 80.0 |" in page
    assert "| **1.50** | **1.50** | **1.50** | 2,524 | – | – |" in page
    assert "| `network` | 55.0 | – | – | – | 55.0 | 82.0 | **85.0** |" in page
    assert "| `nb-clean` | 90.0 |" in page
    assert "means over seeds 4 to 6" in page
    assert "runs were made 2 at a time" in page
    assert "bayesanil-right" not in page


def test_the_page_says_where_ours_is_not_first(results):
    page = render_page(results)
    told = "`network` (a peer) is first with 85.0 %; our default, `inb`, has 80.0 % and ranks 2 of 2."
    assert f"- Live Streaming: {told}" in page
    assert "- newsgroups-pair-20: no method is ahead of our default, `inb`, with 87.0 %." in page
    assert "- newsgroups-structured-20: `network` (a peer) is first with 82.0 %" in page
    assert "- simulation-500-0.55: no method is ahead of our default, `inb`, with 85.0 %." in page
    assert "Of 1 simulated data sets, `inb` is ahead of the best peer on 1, " in page


def test_wrong_rates_are_compared_where_all_of_them_are_possible(results):
    page = render_page(results)
    assert "| simulations from 0.55 | 40.0 | 70.0 | 80.0 | – | 0.500 | 0.600 | – |" in page
    assert "| Live Streaming | 40.0 | 79.0 | 78.0 | – | 0.500 | 0.500 | – |" in page
    told = "no wrong rate is ahead of the right one in"
    assert f"In test accuracy, {told} 1 of 2 lines, and the most that a wrong rate loses is 10 points." in page
    assert f"In F1 of the flagged rows, {told} 2 of 2 lines, and the most that a wrong rate loses is 0.1." in page


def test_without_rows_the_page_says_how_to_make_them(tmp_path):
    page = render_page(tmp_path)
    assert "`noisybayes bench quality --datasets simulation," in page
    assert ",livestream --methods all,rates --seeds 3 --first-seed 4`" in page
    assert "### majority-filter, consensus-filter" in page


def test_the_page_of_the_paper_has_its_figures_beside_ours(results):
    shown = section(results.parent)
    assert "| `inb` | 85.0 (83.2) | – (95.0) |" in shown
    assert "| 20 Newsgroups | Live Streaming | parameters, simulation | parameters, 20 Newsgroups |" in shown
    assert "| `network` | 55.0 | – | – | – | 82.0 | 85.0 | 50,605 | 9 | – |" in shown
    assert "(methods.md)" in shown


def test_without_rows_the_page_of_the_paper_says_nothing(tmp_path):
    assert section(tmp_path) == ""


def test_rows_are_shown_in_the_order_of_the_registries():
    mixed = [row("zzz", 0, "of-mine"), row("nal", 0, "livestream"), row("inb", 0, "livestream"), row("nal", 0, HARD)]
    found = [(one["dataset"], one["method"]) for one in in_order(mixed)]
    assert found == [(HARD, "nal"), ("livestream", "inb"), ("livestream", "nal"), ("of-mine", "zzz")]


def test_many_data_sets_of_a_group_are_one_block():
    four = [f"simulation-500-{end}" for end in ("0.55", "0.65", "0.75", "0.85")]
    assert blocks([*four, "livestream"]) == {"simulation: mean of 4 data sets": four, "livestream": ["livestream"]}
    assert blocks(four[:2]) == {name: [name] for name in four[:2]}
