"""Words that this project does not use, because the textbooks and libraries of the field have others."""

from __future__ import annotations

import inspect
import re

import click
import pytest

import noisybayes
from noisybayes.cli.app import app

from .doc_blocks import ROOT, name_of

#: What to write instead.
AVOID = {
    "anew": "again, recomputed, refitted",
    "afresh": "again, recomputed, refitted",
    "honest likelihood": "held-out log-likelihood",
    "weighed scores": "combined scores",
    "is no size": "invalid size",
    "is no number": "is not a number",
    "it is no feature": "it is not a feature",
    "a source is no feature": "a source is not a feature",
    "is no category": "is not a category",
    "half a character": "contains an unpaired surrogate",
    "with commas between": "separated by commas",
    "be learned again cheaply": "be refitted cheaply",
    "tell it more closely": "a closer estimate",
    "before you believe": "before you rely on",
    "stays in force": "stays in use",
    "must stand in so many": "minimum number of",
    "so many words are kept": "maximum vocabulary size",
    "earn its place": "be supported by the data",
    "earned its place": "was supported by the data",
    "look wrong lose weight": "are probably wrong are down-weighted",
    "vouch for itself": "support itself",
    "without the own fold": "out of fold",
    "left-out labels": "held-out labels",
    "range of what is plausible": "plausible range",
    "told as a range": "reported as a range",
    "slip on unclear rows": "make mistakes on ambiguous rows",
    "what it is worth": "how reliable it is",
    "what each is worth": "how reliable each is",
    "whatever the model is worth": "however good the model is",
    "goes on where it stopped": "continues where it stopped",
    "with semicolons between": "separated by semicolons",
    "cannot be had": "is not available",
    "no way back": "cannot be undone",
    "learned by heart": "memorised",
    "by heart": "memorised",
    "a screenful": "a short version",
    "to be filled in": "for you to fill in",
    "of a model of yours": "from your own model",
    "have no end": "are infinite",
    "has no end": "is infinite",
    "what bad input gets": "errors",
    "taken for wrong": "flagged",
    "could not be had": "is not available",
    "second best": "a substitute",
    "runner-up": "second choice",
    "as it comes": "with default settings",
    "next to nothing": "almost nothing",
}
_AVOIDED = re.compile(rf"\b({'|'.join(AVOID)})\b", re.IGNORECASE)
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "CODE_OF_CONDUCT.md")),
    ROOT / "Makefile",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").glob("*.md")),
]


def avoided(text: str) -> list[str]:
    return [f"{word!r}: write {AVOID[' '.join(word.lower().split())]}" for word in _AVOIDED.findall(text)]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_pages(page):
    assert avoided(" ".join(page.read_text(encoding="utf-8").split())) == []


SOURCES = [path for kind in ("py", "html", "js") for path in sorted((ROOT / "src").rglob(f"*.{kind}"))]


def test_sources():
    """Messages, names and comments."""
    found = {name_of(path): avoided(" ".join(path.read_text(encoding="utf-8").split())) for path in SOURCES}
    assert {name: words for name, words in found.items() if words} == {}
    assert len(found) > 100


def help_texts(command: click.Command, path: str = "noisybayes"):
    yield path, " ".join(command.get_help(click.Context(command, info_name=path)).split())
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            yield from help_texts(inner, f"{path} {name}")


def test_help_texts():
    found = {path: avoided(text) for path, text in help_texts(app)}
    assert {path: words for path, words in found.items() if words} == {}
    assert len(found) > 10


def test_docstrings_of_public_names():
    for name in noisybayes.__all__:
        thing = getattr(noisybayes, name)
        members = (
            [each for key, each in vars(thing).items() if not key.startswith("_")] if inspect.isclass(thing) else []
        )
        for each in (thing, *members):
            assert avoided(inspect.getdoc(each) or "") == [], name


def test_the_list_finds_what_it_lists():
    for word in AVOID:
        assert avoided(f"It is {word.capitalize()}.")
    assert avoided("renewed and anewer") == []
