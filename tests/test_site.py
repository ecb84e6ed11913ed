"""The pages of the site: every page has a place, links are rewritten, generated pictures are up to date.

`make docs` builds the site itself, and its strict mode checks every link and anchor.
"""

from __future__ import annotations

import re
import shlex
from pathlib import PurePosixPath

import pytest

from noisybayes.cli.app import app

from .doc_blocks import ROOT, blocks_of
from .tool_scripts import tool


def test_every_page_has_one_place_in_the_navigation():
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    placed = re.findall(r"^      - .+: (\S+\.md)$", text, flags=re.MULTILINE)
    there = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    generated = set(re.findall(r'": "([\w-]+\.md)",$', (ROOT / "tools/site_hooks.py").read_text(), flags=re.MULTILINE))
    assert len(placed) == len(set(placed))
    assert set(placed) == there | generated | {"docstrings.md"}


def test_nothing_on_the_site_is_fetched_from_elsewhere():
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert "font: false" in text
    assert "extra_javascript" not in text
    assert "http" not in text


def test_the_picture_of_the_architecture_is_drawn_from_the_import_rules():
    drawing = tool("architecture_diagram")
    assert drawing.PICTURE.read_text(encoding="utf-8") == drawing.render()
    names = {name for row in drawing.layers() for name in row}
    package = ROOT / "src" / "noisybayes"
    assert names == {path.parent.name for path in package.glob("*/__init__.py")}


@pytest.mark.parametrize(
    ("page", "target", "on_site"),
    [
        ("README.md", "docs/api.md", "api.md"),
        ("README.md", "docs/concepts.md#limits", "concepts.md#limits"),
        ("docs/index.md", "../CONTRIBUTING.md#add-an-engine", "contributing.md#add-an-engine"),
        ("examples/README.md", "../docs/bot.md", "bot.md"),
        ("docs/desk.md", "img/report.png", "img/report.png"),
        ("docs/desk.md", "#security", "#security"),
        ("docs/desk.md", "https://semver.org", "https://semver.org"),
        ("docs/gallery/index.md", "gallery_text.md", "gallery_text.md"),  # pages in a folder of their own
        ("docs/gallery/gallery_text.md", "../img/gallery_text.svg", "../img/gallery_text.svg"),
        ("docs/gallery/gallery_text.md", "../../README.md#install", "../readme.md#install"),
        ("docs/desk.md", "../tests/test_docs.py", None),  # not on the site
        ("docs/desk.md", "missing.md", "missing.md"),  # for the strict build to complain of
    ],
)
def test_links_lead_to_the_same_page_on_the_site(page, target, on_site):
    pytest.importorskip("mkdocs", reason="the extra docs is not installed")
    assert tool("site_hooks").site_target(target, PurePosixPath(page)) == on_site


def commands() -> list[str]:
    """Of noisybayes, in the shell blocks of the how-to pages."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("howto-*.md"))]
    blocks = [block.text for page in pages for block in blocks_of(page.read_text(encoding="utf-8"))]
    return [line for text in blocks for line in text.splitlines() if line.startswith("noisybayes ")]


@pytest.mark.parametrize("command", commands())
def test_the_commands_of_the_how_to_pages_are_accepted(command):
    _, name, *arguments = shlex.split(command)
    context = app.commands[name].make_context(name, arguments)
    assert context.command.name == name
