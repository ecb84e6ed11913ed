"""The pages of the site: every page has a place, and links are rewritten.

`make docs` builds the site itself, and its strict mode checks every link and anchor.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

import pytest

from .doc_blocks import ROOT
from .tool_scripts import tool


def test_every_page_has_one_place_in_the_navigation_and_nothing_is_fetched_from_elsewhere():
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    placed = re.findall(r"^      - .+: (\S+\.md)$", text.partition("\nnav:\n")[2], flags=re.MULTILINE)
    there = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    generated = set(re.findall(r'": "([\w-]+\.md)",$', (ROOT / "tools/site_hooks.py").read_text(), flags=re.MULTILINE))
    assert len(placed) == len(set(placed))
    assert set(placed) == there | generated | {"docstrings.md"}
    assert "font: false" in text
    assert "extra_javascript" not in text
    assert "http" not in text


@pytest.mark.parametrize(
    ("page", "target", "on_site"),
    [
        ("README.md", "docs/concepts.md#limits", "concepts.md#limits"),
        ("docs/index.md", "../CONTRIBUTING.md#add-a-file-format", "contributing.md#add-a-file-format"),
        ("docs/desk.md", "img/report.png", "img/report.png"),
        ("docs/desk.md", "#security", "#security"),
        ("docs/desk.md", "https://semver.org", "https://semver.org"),
        ("docs/gallery/gallery_text.md", "../img/gallery_text.svg", "../img/gallery_text.svg"),
        ("docs/gallery/gallery_text.md", "../../README.md#install", "../readme.md#install"),
        ("docs/desk.md", "../tests/test_docs.py", None),  # not on the site
        ("docs/desk.md", "missing.md", "missing.md"),  # for the strict build to complain of
    ],
)
def test_links_lead_to_the_same_page_on_the_site(page, target, on_site):
    pytest.importorskip("mkdocs", reason="the extra docs is not installed")
    assert tool("site_hooks").site_target(target, PurePosixPath(page)) == on_site
