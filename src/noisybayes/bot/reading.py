"""A message read in its dialog: contact details masked, slots filled, features decided."""

from __future__ import annotations

import unicodedata
from typing import NamedTuple

from .config import Config, Slot
from .dialog import Dialog
from .rules import Moment
from .words import fold

# more says nothing new about what a message wants, and patterns of a configuration may be slow
_MOST_CHARACTERS = 2_000


class Reading(NamedTuple):
    dialog: Dialog  # after the message
    message: str  # contact details masked
    contact: bool
    features: tuple[bool, ...]  # in the order of the configuration
    moment: Moment


def read_message(config: Config, dialog: Dialog, message: str) -> Reading:
    plain = unicodedata.normalize("NFKC", message)  # full-width digits and letters are digits and letters
    text, contact = config.contacts.mask(plain, " ")
    earlier = dialog.known
    moment = Moment(
        fold(text)[:_MOST_CHARACTERS],
        {
            "first_message": dialog.messages == 0,
            "contact": contact,
            "left_contact": contact or dialog.left_contact,
        },
        {"said": {}, "known": {name: earlier[name] for name in config.slots if name in earlier}, "earlier": earlier},
    )
    for name, step in config.steps:
        if isinstance(step, Slot):
            _fill(moment, name, step)
        else:
            moment.truths[name] = step.holds(moment)
    return Reading(
        dialog.after(contact, moment.slots["known"]),
        config.contacts.mask(plain)[0] if contact else message,
        contact,
        tuple(moment.truths[name] for name in config.features),
        moment,
    )


def _fill(moment: Moment, name: str, slot: Slot) -> None:
    said, known, earlier = (moment.slots[time] for time in ("said", "known", "earlier"))
    if slot.forget_with in said and said[slot.forget_with] != earlier.get(slot.forget_with):
        known.pop(name, None)
    if slot.take is not None:
        value = slot.take.first(moment.text)
    else:
        value = next((value for value, part in slot.values.items() if part.when.holds(moment)), None)
    if value is not None:
        said[name] = known[name] = value
