"""Dictionaries: lists of words and patterns."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from .chinese import simplified
from .patterns import Pattern, PatternSet, compile_pattern, read_pattern
from .yaml_source import Entry

# Scripts with spaces between words: Latin, Greek, Cyrillic. In others (Chinese), words may touch.
_LETTER = "A-Za-z\u00c0-\u052f"
_APOSTROPHES = str.maketrans("\u2018\u2019\u02bc\u00b4`", "'''''")


class Hit(NamedTuple):
    """A word in a text, and what it stands for."""

    start: int
    end: int
    meaning: str


@dataclass(frozen=True)
class Dictionary:
    """`spellings`: how each word is written in messages, and what it stands for. Texts must be folded."""

    spellings: tuple[tuple[str, str], ...]

    def occurs_in(self, text: str) -> bool:
        return self.first_hit(text) is not None

    def first_hit(self, text: str, start: int = 0) -> Hit | None:
        """The first word from `start` on; of several at one position the longest, and words before patterns."""
        hits = []
        if any(map(text.__contains__, self._stems)):  # many times faster than searching directly
            match = self._search.search(text, start)
            hits += [] if match is None else [Hit(match.start(), match.end(), self._meaning(match[0]))]
        for pattern, meaning in self._patterns_in(text):
            span = pattern.search(text, start)
            hits += [] if span is None else [Hit(*span, meaning or text[span.start : span.end])]
        return min(hits, key=lambda hit: hit.start) if hits else None

    def hits(self, text: str) -> Iterator[Hit]:
        hit = self.first_hit(text)
        while hit is not None:
            yield hit
            hit = self.first_hit(text, hit.end)

    def end_at(self, text: str, start: int) -> int | None:
        """The end of the word that begins at `start`."""
        match = self._search.match(text, start) if self._stems else None
        if match is not None:
            return match.end()
        spans = (pattern.match(text, start) for pattern, _ in self._patterns_in(text))
        return next((span.end for span in spans if span is not None), None)

    @cached_property
    def meanings(self) -> tuple[str, ...]:
        """Without duplicates, in order."""
        return tuple(dict.fromkeys(meaning for _, meaning in self.spellings if meaning))

    def _meaning(self, written: str) -> str:
        if written in self._meanings:
            return self._meanings[written]
        stems = [word for word in self._literals if word.endswith("*") and written.startswith(_plain(word))]
        return self._meanings[_plain(stems[0])] if stems else written

    @cached_property
    def _search(self) -> re.Pattern[str]:
        """Long words first, so that A6L is not read as A6."""
        return re.compile("|".join(f"(?:{expression(word)})" for word in self._literals), re.IGNORECASE)

    @cached_property
    def _literals(self) -> list[str]:
        return sorted((word for word, _ in self.spellings if not is_pattern(word)), key=len, reverse=True)

    @cached_property
    def _patterns(self) -> list[tuple[Pattern, str]]:
        return [(compile_pattern(word[1:-1]), meaning) for word, meaning in self.spellings if is_pattern(word)]

    def _patterns_in(self, text: str) -> Sequence[tuple[Pattern, str]]:
        """The patterns that may match; few texts contain any of them."""
        return [self._patterns[i] for i in self._found_in(text)] if self._patterns else ()

    @cached_property
    def _found_in(self) -> Callable[[str], tuple[int, ...]]:
        """Conditions ask about the same text many times. It has no contact details, so it may stay in memory."""
        patterns = PatternSet(word[1:-1] for word, _ in self.spellings if is_pattern(word))
        return lru_cache(maxsize=4)(patterns.found_in)

    @cached_property
    def _stems(self) -> tuple[str, ...]:
        return tuple(_plain(word) for word in self._literals)

    @cached_property
    def _meanings(self) -> dict[str, str]:
        return {_plain(word): meaning for word, meaning in reversed(self.spellings) if not is_pattern(word)}


def read_dictionary(entry: Entry) -> Dictionary:
    """`[discount, cheap*, /\\d+ ?% off/]`, or with meanings: `{Q5: [Q5, Q5L]}`."""
    if entry.kind == "a mapping":
        spellings = [(_checked_word(e), key) for key, value in entry.items() for e in value.members()]
    else:
        spellings = [(_checked_word(e), "" if is_pattern(e.text()) else e.text()) for e in entry.members()]
    if not spellings:
        entry.fail("a dictionary needs at least one word")
    return Dictionary(tuple(spellings))


def consists_of(dictionaries: Iterable[Dictionary]) -> Callable[[str], bool]:
    """Whether a text consists only of these words, spaces and punctuation."""
    known = tuple(dictionaries)

    def holds(text: str) -> bool:
        place, n_words = _next_word(text, 0), 0
        while place < len(text):
            ends = [end for words in known if (end := words.end_at(text, place)) is not None]
            if not ends:
                return False
            place, n_words = _next_word(text, max(ends)), n_words + 1
        return n_words > 0

    return holds


_BETWEEN = re.compile(r"\W*")


def _next_word(text: str, start: int) -> int:
    match = _BETWEEN.match(text, start)
    return start if match is None else match.end()


def is_pattern(word: str) -> bool:
    return len(word) > 2 and word[0] == word[-1] == "/"


def expression(word: str) -> str:
    """A word must end at a word boundary, unless it has a * there."""
    stem = _plain(word)
    tail = f"[{_LETTER}]*" if word.endswith("*") else ""
    letter = re.compile(f"[{_LETTER}]")
    before = f"(?<![{_LETTER}])" if letter.match(stem[0]) else ""
    after = f"(?![{_LETTER}])" if letter.match(stem[-1]) or tail else ""
    return before + re.escape(stem) + tail + after


def fold(text: str) -> str:
    """Normalise a text for dictionaries: one form of digits, letters and apostrophes, lower case, single spaces."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    if not plain.isascii():
        plain = simplified(plain).translate(_APOSTROPHES)
    return " ".join(plain.split())


def _plain(word: str) -> str:
    return fold(word.rstrip("*"))


def _checked_word(entry: Entry) -> str:
    word = entry.text()
    if is_pattern(word):
        read_pattern(entry, word[1:-1], word)
    elif not _plain(word):
        entry.fail(f"{word!r} would match every message; write a word")
    return word
