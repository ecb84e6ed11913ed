"""Short answers to the bot's question: a position in its list, "any of them", a misspelt word."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .config_values import Slot

_ORDINALS = {
    word: number
    for number, words in enumerate(
        (
            ("first", "1st", "一"), ("second", "2nd", "二"), ("third", "3rd", "三"), ("fourth", "4th", "四"),
            ("fifth", "5th", "五"), ("sixth", "6th", "六"), ("seventh", "7th", "七"), ("eighth", "8th", "八"),
        ),
        1,
    )
    for word in words
}  # fmt: skip
_LAST = ("last", "最后")
_POSITION = re.compile(
    r"\W*(?:(?:the|number|no|option|nr|选|要|第)\W*){0,3}(\d{1,2}|last|最后|"
    + "|".join(_ORDINALS)
    + r")(?:\W*(?:one|一?个|款|号|种))?"
    r"(?:\W*(?:please|thanks|吧))?\W*"
)
_SHORTEST = 4  # minimum letters of a word that may be misspelt
_SIMILARITY = 0.8
_SHORTEST_NAME = 6  # the same, for a slot that was not asked for
_SIMILARITY_NAME = 0.85
_WORD = re.compile(r"[a-z]+")


def short_answer(slot: Slot, text: str, options: list[str]) -> str | None:
    """The value of the slot that the bot asked for, if the message has no word of its dictionaries."""
    if slot.question is not None and "{options}" in slot.question:
        match = _POSITION.fullmatch(text)
        if match is not None:
            number = len(options) if match[1] in _LAST else _ORDINALS.get(match[1]) or int(match[1])
            return _dictionary_spelling(slot, options[number - 1]) if 1 <= number <= len(options) else None
    if slot.either is not None and slot.either.occurs_in(text) and options:
        return _dictionary_spelling(slot, options[0])
    names = _names(options, _SHORTEST)
    near = (_closest_name(word, names, _SIMILARITY) for word in _WORD.findall(text))
    return next((_dictionary_spelling(slot, name) for name in near if name is not None), None)


def correct_spelling(slot: Slot, text: str, options: list[str] | None) -> str:
    """Correct misspelt names of the slot in a folded text: "velmorra" becomes "velmora".

    If the bot asked for the slot, `options` are its names, which may be shorter and less similar.
    """
    if slot.take is None or slot.take.occurs_in(text):
        return text
    names, similarity = _names(slot.possible if slot.misspelt else (), _SHORTEST_NAME), _SIMILARITY_NAME
    if options is not None:
        names, similarity = names | _names(options, _SHORTEST), _SIMILARITY
    return (
        _WORD.sub(lambda word: _closest_name(word[0], names, similarity) or word[0], text).casefold() if names else text
    )


def _names(options: Iterable[str], shortest: int) -> dict[str, str]:
    return {option.casefold(): option for option in options if len(option) >= shortest and option.isascii()}


def _closest_name(word: str, names: Mapping[str, str], similarity: float) -> str | None:
    """The name that a word misspells by one letter: too many, too few or wrong. "Support" is not "Sport"."""
    likely = [name for name in names if name[0] == word[0] and abs(len(name) - len(word)) <= 1]
    near = get_close_matches(word, likely, n=1, cutoff=similarity) if len(word) >= _SHORTEST else []
    return names[near[0]] if near else None


def _dictionary_spelling(slot: Slot, option: str) -> str:
    """Convert the catalogue's spelling to that of the dictionary."""
    return next((value for value in slot.possible if value.casefold() == option.casefold()), option)
