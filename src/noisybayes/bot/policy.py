"""What the bot may decide on its own: conditions in the configuration that override the model."""

from __future__ import annotations

from typing import NamedTuple

from .conditions import MessageContext, Names, Rule, read_rule
from .yaml_source import Entry

_KEYS = ("hand_over", "chatter", "understood", "question")


class Policy(NamedTuple):
    hand_over: Rule | None = None  # anger, danger, orders: a person answers, whatever the model says
    chatter: Rule | None = None  # only such messages get no reply
    understood: Rule | None = None  # if it does not hold, a person answers
    question: Rule | None = None  # answered even if the message has contact details

    def holds(self, name: str, context: MessageContext, default: bool) -> bool:
        rule: Rule | None = getattr(self, name)
        return default if rule is None else rule.holds(context)


def read_policy(entry: Entry, names: Names) -> Policy:
    return Policy(**{key: read_rule(part, names) for key, part in entry.fields((), _KEYS).items()})
