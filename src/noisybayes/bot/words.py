"""Dictionaries: lists of words and patterns, each compiled to one regular expression."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from .marked import Entry

# Scripts that put spaces between words: Latin, Greek, Cyrillic. Elsewhere (Chinese) a word may touch its neighbours.
_LETTER = "A-Za-z\u00c0-\u052f"


@dataclass(frozen=True)
class Words:
    """`spellings`: how each word is written in messages, and what it stands for. Texts are expected case-folded."""

    spellings: tuple[tuple[str, str], ...]

    @cached_property
    def source(self) -> str:
        """Long words first, so that A6L is not taken for A6; patterns last, in their order."""
        return "|".join(f"(?:{expression(word)})" for word in [*self._literals, *self._patterns])

    @cached_property
    def search(self) -> re.Pattern[str]:
        return re.compile(self.source, re.IGNORECASE)

    def found(self, text: str) -> bool:
        return self._possible(text) and self.search.search(text) is not None

    def first(self, text: str) -> str | None:
        """What the first word in the text stands for."""
        match = self.search.search(text) if self._possible(text) else None
        return None if match is None else self.meaning(match[0])

    def meaning(self, found: str) -> str:
        if found in self._meanings:
            return self._meanings[found]
        for spelling, meaning in self.spellings:
            if re.fullmatch(expression(spelling, edges=False), found, re.IGNORECASE):
                return meaning or found
        return found

    def _possible(self, text: str) -> bool:
        """Most messages hold no letter of most dictionaries: a look for plain parts is many times as fast."""
        if any(stem in text for stem in self._stems):
            return True
        return self._pattern_search is not None and self._pattern_search.search(text) is not None

    @cached_property
    def _literals(self) -> list[str]:
        return sorted((word for word, _ in self.spellings if not is_pattern(word)), key=len, reverse=True)

    @cached_property
    def _patterns(self) -> list[str]:
        return [word for word, _ in self.spellings if is_pattern(word)]

    @cached_property
    def _pattern_search(self) -> re.Pattern[str] | None:
        source = "|".join(f"(?:{expression(word)})" for word in self._patterns)
        return re.compile(source, re.IGNORECASE) if source else None

    @cached_property
    def _stems(self) -> tuple[str, ...]:
        return tuple(_plain(word) for word in self._literals)

    @cached_property
    def _meanings(self) -> dict[str, str]:
        return {_plain(word): meaning for word, meaning in reversed(self.spellings) if not is_pattern(word)}


def read_words(entry: Entry) -> Words:
    """`[discount, cheap*, /\\d+ ?% off/]`, or with meanings: `{Q5: [Q5, Q5L]}`."""
    if entry.kind == "a mapping":
        spellings = [(_checked(e), key) for key, value in entry.items() for e in value.members()]
    else:
        spellings = [(_checked(e), "" if is_pattern(e.text()) else e.text()) for e in entry.members()]
    if not spellings:
        entry.fail("a dictionary needs at least one word")
    return Words(tuple(spellings))


def only_words(dictionaries: Iterable[Words]) -> re.Pattern[str]:
    """Matches a text that holds these words and nothing else but spaces and punctuation."""
    parts = [words.source for words in dictionaries]
    # atomic: words that begin alike must not make a long message slow
    return re.compile(rf"\W*+(?:(?>{'|'.join(parts)})\W*+)++", re.IGNORECASE)


def is_pattern(word: str) -> bool:
    return len(word) > 2 and word[0] == word[-1] == "/"


def expression(word: str, edges: bool = True) -> str:
    """A word ends where letters end, unless a * stands there; /.../ is a regular expression."""
    if is_pattern(word):
        return word[1:-1]
    stem = _plain(word)
    text = re.escape(stem)
    tail = f"[{_LETTER}]*" if word.endswith("*") else ""
    if not edges:
        return text + tail
    letter = re.compile(f"[{_LETTER}]")
    before = f"(?<![{_LETTER}])" if letter.match(stem[0]) else ""
    after = f"(?![{_LETTER}])" if letter.match(stem[-1]) or tail else ""
    return before + text + tail + after


def fold(text: str) -> str:
    """A text as dictionaries expect it: one kind of digits and letters, no capitals, single spaces."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _plain(word: str) -> str:
    return fold(word.rstrip("*"))


def _checked(entry: Entry) -> str:
    word = entry.text()
    if not is_pattern(word) and not _plain(word):
        entry.fail(f"{word!r} would be in every message; write a word")
    try:
        compiled = re.compile(expression(word), re.IGNORECASE)
    except (re.error, OverflowError) as error:
        entry.fail(f"{word!r} is not a valid regular expression: {error}")
    if compiled.match(""):
        entry.fail(f"{word!r} matches the empty text, so it would be in every message")
    return word
