"""Parses a message in its dialog: masks contact details, fills slots and evaluates features."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import NamedTuple

from .conditions import MessageContext
from .config_values import Config, Slot
from .dialog_state import Dialog
from .dictionaries import Dictionary, fold
from .short_answers import correct_spelling, short_answer

# longer messages say nothing new about what the customer wants
_MOST_CHARACTERS = 2_000
_NEAR = 6  # characters between a negation and the word it negates: "not the Tarvo"
_BREAK = re.compile(r"[,.;:!?、。]|[^\x00-\x7f] ")  # a negation does not reach beyond: "not new, a Tarvo"

Options = Callable[[str, Mapping[str, str]], list[str]]  # the possible values of a slot, given the known slots


class ParsedMessage(NamedTuple):
    dialog: Dialog  # after the message
    message: str  # contact details masked
    contact: bool
    features: tuple[bool, ...]  # in the order of the configuration
    context: MessageContext


def parse_message(
    config: Config, dialog: Dialog, message: str, *, public: bool = False, options: Options | None = None
) -> ParsedMessage:
    """`options` come from a catalogue; None for a message of a table of dialogs, to which others have replied."""
    plain = unicodedata.normalize("NFKC", message)  # converts full-width digits and letters
    text, contact = config.contacts.mask(plain, " ")
    folded = _correct_spelling(config, dialog, fold(text)[:_MOST_CHARACTERS], options)
    about = {"meaning_unclear": True} if config.meanings is None else config.meanings.truths(folded)
    about["gives_contact"] = contact
    context = None
    if options is not None and config.policy.question is not None and (contact or dialog.left_contact):
        # read a question as if there were no contact details, so that they do not replace it
        asking = _context(config, dialog, folded, about, False, False, public, options)
        context = asking if config.policy.question.holds(asking) else None
    if context is None:
        left = contact or dialog.left_contact
        context = _context(config, dialog, folded, about, contact, left, public, options)
    return ParsedMessage(
        dialog.after(contact, context.slots["known"]),
        config.contacts.mask(plain)[0] if contact else message,
        contact,
        tuple(context.truths[name] for name in config.features),
        context,
    )


def _context(
    config: Config,
    dialog: Dialog,
    text: str,
    about: Mapping[str, bool],
    contact: bool,
    left: bool,
    public: bool,
    options: Options | None,
) -> MessageContext:
    earlier = dialog.known
    context = MessageContext(
        text,
        {
            "first_message": dialog.messages == 0,
            "contact": contact,
            "left_contact": left,
            "public_comment": public,
            "answers_question": False,
            "changes_slot": False,
            **about,
        },
        {"said": {}, "known": {name: earlier[name] for name in config.slots if name in earlier}, "earlier": earlier},
    )
    for name, step in config.steps:
        if isinstance(step, Slot):
            asked = (options or _no_options) if dialog.asked == name else None
            _fill(context, name, step, asked)
        else:
            context.truths[name] = step.holds(context)
    return context


def _correct_spelling(config: Config, dialog: Dialog, text: str, options: Options | None) -> str:
    for name, slot in config.slots.items():
        asked = (options or _no_options)(name, dialog.known) or list(slot.possible) if dialog.asked == name else None
        text = correct_spelling(slot, text, asked)
    return text


def _no_options(slot: str, known: Mapping[str, str]) -> list[str]:
    return []


def _fill(context: MessageContext, name: str, slot: Slot, asked: Options | None) -> None:
    said, known, earlier = (context.slots[time] for time in ("said", "known", "earlier"))
    if slot.forget_with in said and said[slot.forget_with] != earlier.get(slot.forget_with):
        known.pop(name, None)
    if slot.take is not None:
        value = _first_not_negated(slot.take, slot.negations, context.text)
    else:
        value = next((value for value, part in slot.values.items() if part.when.holds(context)), None)
    if value is None and asked is not None:
        value = short_answer(slot, context.text, asked(name, known) or list(slot.possible))
    if value is None:
        return
    if slot.question is not None:
        context.truths["changes_slot"] |= name in earlier and earlier[name] != value
    said[name] = known[name] = value
    context.truths["answers_question"] |= asked is not None


def _first_not_negated(words: Dictionary, negations: Dictionary | None, text: str) -> str | None:
    """The first word without a negation before it, if any; a negation applies to one word."""
    hits = list(words.hits(text))
    negation_ends = [] if negations is None or not hits else [hit.end for hit in negations.hits(text)]
    for hit in hits:
        near = [
            end for end in negation_ends if 0 <= hit.start - end <= _NEAR and not _BREAK.search(text[end : hit.start])
        ]
        if not near:
            return hit.meaning
        negation_ends = [end for end in negation_ends if end not in near]
    return None
