"""Contact details: found, and masked before anything is stored or shown."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from .marked import Entry

MASK = "[contact]"
# Telephone numbers: seven digits or more, maybe in groups. "2015-2018" are years.
_YEARS = r"(?P<years>(?<!\d)(?:19|20)\d\d ?[-–~至到] ?(?:19|20)\d\d(?!\d))"
_NUMBER = r"\+?\(?\d(?:[ ()./\-–]{0,3}\d){6,}"
_MAIL = r"[\w.+\-]{1,64}@[\w\-]{1,63}(?:\.[\w\-]{1,63})+"
_EVERYWHERE = re.compile(f"{_YEARS}|{_MAIL}|{_NUMBER}")


@dataclass(frozen=True)
class Contacts:
    """Telephone numbers and e-mail addresses, and what the configuration adds, such as names in a messenger."""

    patterns: tuple[str, ...] = ()

    @cached_property
    def _own(self) -> list[re.Pattern[str]]:
        return [re.compile(pattern, re.IGNORECASE) for pattern in self.patterns]

    def mask(self, message: str, mask: str = MASK) -> tuple[str, bool]:
        """The message without contact details, and whether it had any."""
        found = 0
        for pattern in self._own:
            message, count = pattern.subn(lambda match: mask, message)
            found += count

        def hide(match: re.Match[str]) -> str:
            nonlocal found
            found += not match["years"]
            return match["years"] or mask

        return _EVERYWHERE.sub(hide, message), found > 0


def read_contacts(entry: Entry) -> Contacts:
    """A list of regular expressions."""
    members = entry.members()
    for member in members:
        pattern = member.text()
        try:
            if re.compile(pattern, re.IGNORECASE).match(""):
                member.fail(f"{pattern!r} matches the empty text, so it would be in every message")
        except (re.error, OverflowError) as error:
            member.fail(f"{pattern!r} is not a valid regular expression: {error}")
    return Contacts(tuple(member.text() for member in members))
