"""Splits a text into plain and marked pieces, where marked pieces are evidence."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from .phrases import clip

# A plain piece is a string; a marked one is [text, position of its evidence in the list].
Piece = str | list[Any]
Span = tuple[int, int, int]

TEXT_LIMIT = 400
LEAD = 60
EXCERPT = 600  # characters of a long text that are shown initially
# Scripts written without spaces between words (and Hangul, whose particles stick to the word):
# they have no word boundaries, so features are searched for literally.
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)
# A window in a text begins and ends with a whole word, unless the word is longer than this.
_LONGEST_WORD = 20
_WORD = re.compile(r"\w+")


def pieces(text: str, column: str, evidence: Sequence[Mapping[str, Any]], limit: int = TEXT_LIMIT) -> list[Piece]:
    """The cell's text as pieces, cut to `limit` characters, with the evidence of this column marked."""
    mine = [(i, item) for i, item in enumerate(evidence) if item.get("column") in (column, None)]
    whole = [i for i, item in mine if item.get("kind", "text") != "text" and item.get("column") == column]
    if whole:
        # For a category or a number, the evidence is the value itself, not a word in it.
        return [[clip(text, limit), whole[0]]] if text else []
    marked = spans(text, [(i, str(item["feature"])) for i, item in mine if item.get("kind", "text") == "text"])
    return _cut(text, marked, *_window(text, marked, limit))


def spans(text: str, features: Sequence[tuple[int, str]]) -> list[Span]:
    """(start, end, position) of every feature in the text; the longest one wins where two overlap."""
    index = {_normal(feature): i for i, feature in reversed(features) if feature.strip()}
    if not index:
        return []
    if all(_WORD.fullmatch(feature) and not _UNSPACED.search(feature) for feature in index):
        matches = _WORD.finditer(text)  # ten times faster than a regular expression compiled for this text
        return [(m.start(), m.end(), index[name]) for m in matches if (name := m.group().lower()) in index]
    parts = [_pattern(feature) for feature in sorted(index, key=len, reverse=True)]
    matches = re.finditer("|".join(parts), text, re.IGNORECASE)
    return [(m.start(), m.end(), index[name]) for m in matches if (name := _normal(m.group())) in index]


def _normal(words: str) -> str:
    return " ".join(words.lower().split())


def _pattern(feature: str) -> str:
    body = r"\s+".join(map(re.escape, feature.split()))
    return body if _UNSPACED.search(feature) else rf"(?<!\w){body}(?!\w)"


def _window(text: str, marked: Sequence[Span], limit: int) -> tuple[int, int]:
    """The part to show: the start of the text, or the surroundings of the first mark if that is further down."""
    if len(text) <= limit:
        return 0, len(text)
    start = 0
    if marked and marked[0][1] > limit:
        start = min(max(marked[0][0] - LEAD, 0), len(text) - limit)
    return start, start + limit


def excerpt(parts: Sequence[Piece], limit: int = EXCERPT) -> list[Piece]:
    """The beginning of a long text and the surroundings of its strongest evidence; a short text as it is."""
    text, marked = _joined(parts)
    if len(text) <= limit:
        return list(parts)
    beginning = (0, limit if not marked else 2 * LEAD)
    windows = [beginning]
    for first, last, _ in sorted(marked, key=lambda span: (span[2], span[0])):
        more = _merged([*windows, (max(first - LEAD, 0), min(last + LEAD, len(text)))])
        if sum(end - start for start, end in more) <= limit:
            windows = more
    shown: list[Piece] = []
    for start, end in ((_word_start(text, start), _word_end(text, end)) for start, end in windows):
        shown += _cut(text, marked, start, end)[1 if shown else 0 :]  # one ellipsis between two windows
    return shown


def length_of(parts: Sequence[Piece]) -> int:
    """Characters."""
    return sum(len(part if isinstance(part, str) else part[0]) for part in parts)


def _joined(parts: Sequence[Piece]) -> tuple[str, list[Span]]:
    """The text of some pieces, and where the marks are in it."""
    text, marked = "", []
    for part in parts:
        words = part if isinstance(part, str) else part[0]
        if not isinstance(part, str):
            marked.append((len(text), len(text) + len(words), part[1]))
        text += words
    return text, marked


def _merged(windows: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(windows):
        if merged and start <= merged[-1][1] + LEAD:  # the gap is shorter than a line
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _word_start(text: str, start: int) -> int:
    """The start of the next word, if it is nearby."""
    space = text.find(" ", start, start + _LONGEST_WORD) if start else -1
    return start if space < 0 else space + 1


def _word_end(text: str, end: int) -> int:
    space = text.rfind(" ", end - _LONGEST_WORD, end) if end < len(text) else -1
    return end if space < 0 else space


def _cut(text: str, marked: Sequence[Span], start: int, end: int) -> list[Piece]:
    parts: list[Piece] = ["…"] if start else []
    at = start
    for first, last, position in marked:
        if first < at or last > end:
            continue
        if first > at:
            parts.append(text[at:first])
        parts.append([text[first:last], position])
        at = last
    if at < end:
        parts.append(text[at:end])
    if end < len(text):
        parts.append("…")
    return parts
