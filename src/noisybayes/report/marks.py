"""Evidence words found in a text: the text cut into plain and marked pieces."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from .words import clip

# A plain piece is a string; a marked one is [text, position of its evidence in the list].
Piece = str | list[Any]
Span = tuple[int, int, int]

TEXT_LIMIT = 400
LEAD = 60
# Scripts written without spaces between words (and Hangul, whose particles stick to the word):
# a word boundary means nothing there, so a feature is looked for as it stands.
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)
_WORD = re.compile(r"\w+")


def pieces(text: str, column: str, evidence: Sequence[Mapping[str, Any]], limit: int = TEXT_LIMIT) -> list[Piece]:
    """The cell's text as pieces, cut to `limit` characters, with the evidence of this column marked."""
    mine = [(i, item) for i, item in enumerate(evidence) if item.get("column") in (column, None)]
    whole = [i for i, item in mine if item.get("kind", "text") != "text" and item.get("column") == column]
    if whole:
        # Evidence from a category or a number is the value itself, not a word in it.
        return [[clip(text, limit), whole[0]]] if text else []
    found = spans(text, [(i, str(item["feature"])) for i, item in mine if item.get("kind", "text") == "text"])
    return _cut(text, found, *_window(text, found, limit))


def spans(text: str, features: Sequence[tuple[int, str]]) -> list[Span]:
    """(start, end, position) of every feature in the text; the longest one wins where two overlap."""
    index = {_normal(feature): i for i, feature in reversed(features) if feature.strip()}
    if not index:
        return []
    if all(_WORD.fullmatch(feature) and not _UNSPACED.search(feature) for feature in index):
        found = _WORD.finditer(text)  # ten times as fast as an expression that is compiled for this text
        return [(m.start(), m.end(), index[name]) for m in found if (name := m.group().lower()) in index]
    parts = [_pattern(feature) for feature in sorted(index, key=len, reverse=True)]
    found = re.finditer("|".join(parts), text, re.IGNORECASE)
    return [(m.start(), m.end(), index[name]) for m in found if (name := _normal(m.group())) in index]


def _normal(words: str) -> str:
    return " ".join(words.lower().split())


def _pattern(feature: str) -> str:
    body = r"\s+".join(map(re.escape, feature.split()))
    return body if _UNSPACED.search(feature) else rf"(?<!\w){body}(?!\w)"


def _window(text: str, found: Sequence[Span], limit: int) -> tuple[int, int]:
    """The part to show: the start of the text, or the surroundings of the first mark if that is further down."""
    if len(text) <= limit:
        return 0, len(text)
    start = 0
    if found and found[0][1] > limit:
        start = min(max(found[0][0] - LEAD, 0), len(text) - limit)
    return start, start + limit


def _cut(text: str, found: Sequence[Span], start: int, end: int) -> list[Piece]:
    parts: list[Piece] = ["…"] if start else []
    at = start
    for first, last, position in found:
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
