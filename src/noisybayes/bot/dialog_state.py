"""The state of a dialog after the messages so far. It contains no messages and no contact details."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..data.errors import InputError


@dataclass(frozen=True)
class Dialog:
    messages: int = 0  # so far
    left_contact: bool = False
    slots: tuple[tuple[str, str], ...] = ()  # name and value of each known slot
    asked: str | None = None  # the slot that the bot asked for last

    @property
    def known(self) -> dict[str, str]:
        return dict(self.slots)

    def after(self, left_contact: bool, known: Mapping[str, str]) -> Dialog:
        """The state after one more message."""
        return Dialog(self.messages + 1, self.left_contact or left_contact, tuple(known.items()))

    def asking(self, slot: str | None) -> Dialog:
        return replace(self, asked=slot)

    def as_dict(self) -> dict[str, Any]:
        asked = {} if self.asked is None else {"asked": self.asked}
        return {"messages": self.messages, "left_contact": self.left_contact, "known": self.known} | asked

    @classmethod
    def from_dict(cls, stored: Any) -> Dialog:
        refusal = InputError("this is not a dialog state from Dialog.as_dict(); start a new dialog")
        if not isinstance(stored, dict) or set(stored) - {"asked"} != {"messages", "left_contact", "known"}:
            raise refusal
        messages, left, known = (stored[key] for key in ("messages", "left_contact", "known"))
        ok = isinstance(messages, int) and not isinstance(messages, bool) and messages >= 0
        ok = ok and isinstance(left, bool) and isinstance(known, dict)
        ok = ok and all(isinstance(part, str) for pair in known.items() for part in pair)
        if not ok or not isinstance(stored.get("asked", ""), str):
            raise refusal
        return cls(messages, left, tuple(known.items()), stored.get("asked"))
