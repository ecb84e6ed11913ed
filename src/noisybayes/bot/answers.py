"""Short answers to the bot's question: a position in its list, "any of them", a misspelt word."""

from __future__ import annotations

import re
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
_PLACE = re.compile(
    r"\W*(?:(?:the|number|no|option|nr|选|要|第)\W*){0,3}(\d{1,2}|last|最后|"
    + "|".join(_ORDINALS)
    + r")(?:\W*(?:one|一?个|款|号|种))?"
    r"(?:\W*(?:please|thanks|吧))?\W*"
)
_SHORTEST = 4  # minimum letters of a word that may be misspelt
_ALIKE = 0.8
_SHORTEST_NAME = 6  # the same, for a slot that was not asked for
_ALIKE_NAME = 0.85


def answer_to(slot: Slot, text: str, options: list[str]) -> str | None:
    """The value of the slot that was asked for, if the message has no word of its dictionaries."""
    if slot.question is not None and "{options}" in slot.question:
        match = _PLACE.fullmatch(text)
        if match is not None:
            number = len(options) if match[1] in _LAST else _ORDINALS.get(match[1]) or int(match[1])
            return _as_written(slot, options[number - 1]) if 1 <= number <= len(options) else None
    if slot.either is not None and slot.either.found(text) and options:
        return _as_written(slot, options[0])
    return _misspelt(slot, text, options)


def misspelt_name(slot: Slot, text: str) -> str | None:
    """A misspelt long name of the slot, anywhere in a message: "velmorra"."""
    names = {name.casefold(): name for name in slot.possible if len(name) >= _SHORTEST_NAME and name.isascii()}
    starts = {name[0] for name in names}
    for word in re.findall(r"[a-z]+", text):
        if len(word) >= _SHORTEST_NAME and word[0] in starts:
            near = get_close_matches(word, names, n=1, cutoff=_ALIKE_NAME)
            if near:
                return names[near[0]]
    return None


def _misspelt(slot: Slot, text: str, options: list[str]) -> str | None:
    names = {option.casefold(): option for option in options if len(option) >= _SHORTEST and option.isascii()}
    for word in re.findall(r"[a-z]+", text):
        near = get_close_matches(word, names, n=1, cutoff=_ALIKE) if len(word) >= _SHORTEST else []
        if near:
            return _as_written(slot, names[near[0]])
    return None


def _as_written(slot: Slot, option: str) -> str:
    """Convert the catalogue's spelling to that of the dictionary."""
    return next((value for value in slot.possible if value.casefold() == option.casefold()), option)
