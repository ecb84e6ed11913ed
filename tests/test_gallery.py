"""The examples of the gallery do what their pages say, and become notebooks."""

from __future__ import annotations

import pytest

from .doc_blocks import ROOT, name_of
from .tool_scripts import tool

EXAMPLES = sorted((ROOT / "examples" / "gallery").glob("*.py"))


@pytest.fixture(scope="module")
def pages():
    pytest.importorskip("matplotlib").use("agg")
    return tool("gallery_pages")


@pytest.mark.parametrize("example", EXAMPLES, ids=name_of)
def test_an_example_prints_what_its_page_says_and_draws(example, pages, tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert pages.page(example, tmp_path) == (pages.PAGES / f"{example.stem}.md").read_text(encoding="utf-8")
    assert (tmp_path / f"{example.stem}.svg").stat().st_size > 1_000
    made = tool("to_notebook").notebook(example.read_text(encoding="utf-8"))
    assert made["cells"][0]["source"][0].startswith("# ")


def test_the_overview_shows_every_example(pages):
    assert pages.overview() == (pages.PAGES / "index.md").read_text(encoding="utf-8")
