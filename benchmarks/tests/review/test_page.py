"""The page, its words and its pictures are made from the stored rows."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from benchmarks.result_files import read_rows, write_rows
from benchmarks.review import review_tables
from benchmarks.review.page import render_figures, render_page
from benchmarks.review.runner import RESULTS, RUNS
from benchmarks.review.summary import best_possible, compare, expected_at_random, with_best_peer
from noisybayes.cli.app import app

from . import small

#: Per percent reviewed, so many percent are found: seed 0, seed 1.
PACES = {"inb": (2.0, 2.2), "inb-refit": (2.9, 3.1), "cleanlab-nb": (1.0, 1.2), "cleanlab-lr": (3.0, 3.2)}
ROWS = [
    row for method, paces in PACES.items() for seed, pace in enumerate(paces) for row in small.rows(method, seed, pace)
]


@pytest.fixture
def root(tmp_path):
    write_rows(tmp_path / "results" / RESULTS, ROWS)
    write_rows(tmp_path / "results" / RUNS, [{"dataset": "livestream", "method": "inb", "machine": "a machine"}])
    return tmp_path


def test_chance_finds_the_share_reviewed_and_the_best_order_only_wrong_labels():
    assert expected_at_random(ROWS, 10) == pytest.approx(10)
    assert best_possible(ROWS, 10) == pytest.approx(50)
    assert best_possible(ROWS, 30) == pytest.approx(100)


def test_orders_are_compared_seed_by_seed():
    assert compare(ROWS, 10, "inb", "cleanlab-nb").verdict == "better"
    assert compare(ROWS, 10, "inb", "inb").verdict == "level"
    assert compare(ROWS, 10, "inb", "nothing") is None
    best = with_best_peer(ROWS, 10)
    assert (best.other, best.verdict) == ("cleanlab-lr", "worse")
    assert best.ours.value == pytest.approx(21)
    noisy = [*small.rows("inb", 0, 2.0), *small.rows("inb", 1, 3.0), *small.rows("cleanlab-nb", 0, 2.5),
             *small.rows("cleanlab-nb", 1, 2.4)]  # fmt: skip
    assert compare(noisy, 10, "inb", "cleanlab-nb").verdict == "level"


def test_without_rows_the_page_says_how_to_make_them(tmp_path):
    assert "No rows are stored yet." in render_page(tmp_path)
    assert render_figures(tmp_path) == {}


def test_tables_and_words(root):
    page = render_page(root)
    assert "Measured on: a machine. Repeat with `noisybayes bench review --seeds 2 --fresh`." in page
    assert "1,000 rows, 20.0 % of the labels are wrong; 2 seeds." in page
    assert "| order | 5 % reviewed | 10 % reviewed | 20 % reviewed | 30 % reviewed | seconds |" in page
    assert "| `inb` | 10.5 ± 0.5 (42) | 21.0 ± 1.0 (42) | 42.0 ± 2.0 (42) | 63.0 ± 3.0 (42) | 2.0 |" in page
    assert "| at random | 5.0 (20) | 10.0 (20) | 20.0 (20) | 30.0 (20) | – |" in page
    assert "| best possible | 25.0 (100) | 50.0 (100) | 100.0 (100) | 100.0 (67) | – |" in page
    assert "has found 21.0 % of the wrong labels: 2.1 times as many as at random, and 42 % of what is possible." in page
    assert "A peer finds more than `inb` after 5 % (10.5; `cleanlab-lr` 15.5), 10 % (21.0; `cleanlab-lr` 31.0)," in page
    assert "Refitting finds more than one fit after 5 % (15.0; `inb` 10.5)," in page
    assert (
        "- Live Streaming dialogs: a peer finds more at 5, 10, 20 and 30 %; refitting after verdicts finds more at "
        "5, 10, 20 and 30 %." in page
    )


def test_ours_alone_has_nothing_to_be_compared_with(tmp_path):
    write_rows(tmp_path / "results" / RESULTS, small.rows("inb", 0, 2.0, dataset="mine"))
    page = render_page(tmp_path)
    assert "## In short" not in page
    assert "## mine" in page
    assert "| `inb` | 10.0 (40) |" in page


def test_the_picture_has_a_line_for_each_order_from_nothing_on(root):
    (name, svg), *others = render_figures(root).items()
    assert (name, others) == ("review-livestream.svg", [])
    assert f"(img/{name})" in render_page(root)
    lines = svg.split("<polyline")[1:]
    assert len(lines) == len(PACES) + 2
    assert len({line.split('"')[1].split()[0] for line in lines}) == 1
    assert all(f">{order}<" in svg for order in (*PACES, "at random", "best possible"))


def bench(*arguments):
    return CliRunner().invoke(app, ["bench", *map(str, arguments)])


def test_from_command_to_page(tmp_path, monkeypatch):
    monkeypatch.setattr(review_tables, "DATASETS", small.TABLES)
    result = bench("review", "--seeds", 2, "--methods", "inb,cleanlab-nb", "--root", tmp_path)
    assert result.exit_code == 0, result.output
    assert "8 of 8 reviews are left to do" in result.output
    assert len(read_rows(tmp_path / "results" / RESULTS)) == 8 * 30
    page = (tmp_path / "docs" / "review.md").read_text(encoding="utf-8")
    assert page == render_page(tmp_path)
    assert {path.name for path in (tmp_path / "docs" / "img").iterdir()} == {"review-table.svg", "review-text.svg"}
    again = bench("review", "--seeds", 2, "--methods", "inb,cleanlab-nb", "--root", tmp_path)
    assert "0 of 8 reviews are left to do" in again.output


def test_the_pages_are_remade_with_this_one(root):
    result = bench("page", "--root", root)
    assert result.exit_code == 0, result.output
    assert (root / "docs" / "review.md").read_text(encoding="utf-8") == render_page(root)
    assert (root / "docs" / "img" / "review-livestream.svg").exists()


def test_a_wrong_name_gets_the_right_ones():
    result = bench("review", "--datasets", "nothing")
    assert result.exit_code == 1
    assert "there is no data set 'nothing'; choose from all, livestream, noisy-ag-news, newsgroups" in result.output
