"""Finds contact details and masks them before anything is stored or shown."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from .patterns import Pattern, PatternSet, compile_pattern, read_pattern, replaced
from .yaml_source import Entry

MASK = "[contact]"
# Phone numbers: at least seven digits, possibly in groups. "2015-2018" is a range of years.
_YEARS = r"(?P<years>(?<!\d)(?:19|20)\d\d ?[-–~至到] ?(?:19|20)\d\d(?!\d))"
_NUMBER = r"\+?\(?\d(?:[ ()./\-–]{0,3}\d){6,}"
_MAIL = r"[\w.+\-]{1,64}@[\w\-]{1,63}(?:\.[\w\-]{1,63})+"
_EVERYWHERE = re.compile(f"{_YEARS}|{_MAIL}|{_NUMBER}")
_WITHOUT_MAIL = re.compile(f"{_YEARS}|{_NUMBER}")  # many times faster, because any word may begin an address


@dataclass(frozen=True)
class Contacts:
    """Phone numbers, e-mail addresses, and patterns from the configuration, such as names in a messenger."""

    patterns: tuple[str, ...] = ()

    @cached_property
    def _own(self) -> list[Pattern]:
        return [compile_pattern(pattern) for pattern in self.patterns]

    @cached_property
    def _own_set(self) -> PatternSet:
        return PatternSet(self.patterns)

    def find(self, message: str) -> list[str]:
        """The contact details in a message, in the order in which they are masked."""
        details: list[str] = []
        self._masked(message, MASK, details)
        return details

    def mask(self, message: str, mask: str = MASK) -> tuple[str, bool]:
        """The message without contact details, and whether it had any."""
        details: list[str] = []
        return self._masked(message, mask, details), bool(details)

    def _masked(self, message: str, mask: str, details: list[str]) -> str:
        found = self._own_set.found_in(message)
        for pattern in self._own[found[0] :] if found else ():  # a mask may complete a match of the later ones
            places = list(pattern.places(message))
            details += [message[place.start : place.end] for place in places]
            message = replaced(message, places, mask)

        def hide(match: re.Match[str]) -> str:
            if match["years"]:
                return match["years"]
            details.append(match[0])
            return mask

        return (_EVERYWHERE if "@" in message else _WITHOUT_MAIL).sub(hide, message)


def read_contacts(entry: Entry) -> Contacts:
    """A list of regular expressions."""
    members = entry.members()
    for member in members:
        read_pattern(member, member.text(), member.text())
    return Contacts(tuple(member.text() for member in members))
