"""Every page is what its stored rows say. If one fails: python -m benchmarks page"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from benchmarks import crowd, pages, security_page, speed
from benchmarks.quality import quality_page, readme, results_page
from benchmarks.result_files import read_rows, store_rows, write_rows
from benchmarks.trust import page as trust_page

ROOT = Path(__file__).parents[2]
PAGES = {
    "benchmarks.md": pages, "crowd.md": crowd, "quality.md": quality_page, "results.md": results_page,
    "security.md": security_page, "speed.md": speed, "trust.md": trust_page,
}  # fmt: skip


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_made_from_the_stored_rows(name):
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == PAGES[name].render_page(ROOT)


def test_the_comparison_in_the_readme_is_made_from_the_stored_rows():
    found = results_page.comparisons(results_page.load(ROOT))
    assert (ROOT / "docs" / "img" / "peers.svg").read_text(encoding="utf-8") == readme.picture(found)
    of_panel = readme.panel_sentence(read_rows(ROOT / "results" / "panel.csv"))
    assert readme.sentences(found, of_panel) in (ROOT / "README.md").read_text(encoding="utf-8")
    assert {each.dataset for each in found} > set(readme.PEOPLE)
    assert sum(map(len, results_page.by_line(found).values())) == len(found)


def test_the_default_is_compared_with_the_best_classifier_of_the_peer():
    columns = {"seed": 0, "seconds": 1.0}
    rows = pd.DataFrame(
        [
            {"dataset": name, "method": method, "average_precision": value, **columns}
            for name, values in {
                "livestream": {"inb": 0.5, "cleanlab-lr": 0.61, "cleanlab-bernoulli": 0.6, "doubtlab": 0.9},
                "table-wine-class-10": {"audit": 0.905, "cleanlab-forest": 0.9},
                "simulation-500-0.55": {"inb": 0.9, "cleanlab-lr": 0.1},
                "imbalanced": {"inb": 0.9},
            }.items()
            for method, value in values.items()
        ]
    )
    found = results_page.comparisons(rows)
    assert [(each.dataset, each.our_method, each.peer_method) for each in found] == [
        ("livestream", "inb", "cleanlab-lr"),
        ("table-wine-class-10", "audit", "cleanlab-forest"),
    ]
    assert results_page.counts(found) == (0, 1, 1)


def test_rows_come_back_as_they_were_and_replace_earlier_ones(tmp_path):
    path = tmp_path / "x.csv"
    rows = [{"name": "a, b", "count": 3, "share": 0.1}, {"name": "é", "count": -1, "share": 1e-9}]
    assert read_rows(path) == []
    write_rows(path, rows)
    assert read_rows(path) == rows
    store_rows(path, [{"name": "é", "count": 2, "share": 0.5}], ("name",))
    assert read_rows(path) == [rows[0], {"name": "é", "count": 2, "share": 0.5}]
