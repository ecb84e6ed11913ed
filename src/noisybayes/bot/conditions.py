"""Conditions of the configuration, as functions of a message in its dialog.

A condition is a name, or a mapping of `any`, `all`, `none` to lists of conditions and `only` to a list of dictionaries;
a mapping with several keys requires all of them. A name is a dictionary, a rule, a feature, one of the facts below, or
`said.SLOT` (in this message), `known.SLOT` (so far, including this message) or `earlier.SLOT` (before this message),
each with `=VALUE` for a particular value; `means.X` and `may_mean.X` refer to a meaning of the examples. No part of a
configuration is run as code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from .dictionaries import Dictionary, consists_of
from .yaml_source import Entry, hint

#: Facts that do not depend on the configuration.
FACTS: dict[str, str] = {
    "first_message": "it is the first message of the dialog",
    "contact": "the message contains contact details",
    "gives_contact": "the message contains contact details; also while a question next to them is read",
    "left_contact": "this message or an earlier one contains contact details",
    "public_comment": "it is a comment that everybody can read, not a message in a private chat",
    "answers_question": "the message fills the slot that the bot asked for",
    "changes_slot": "the message changes the value of a known slot",
    "meaning_unclear": "no meaning of the examples is clear",
}
_AFTER_SLOTS = ("answers_question", "changes_slot")
TIMES = ("said", "known", "earlier")
ABOUT = ("means", "may_mean")  # what the examples say about the message
_COMBINATIONS = ("any", "all", "none", "only")


class MessageContext(NamedTuple):
    """A message in its dialog, while it is being read; the mappings are filled in the order of the steps."""

    text: str  # folded, without contact details
    truths: dict[str, bool]  # facts, dictionaries, rules and features by name
    slots: Mapping[str, dict[str, str]]  # time -> name of the slot -> value


Condition = Callable[[MessageContext], bool]


class Rule(NamedTuple):
    holds: Condition
    uses: frozenset[str]  # rules, features and slots that must be evaluated first


class Names(NamedTuple):
    """Names that conditions may use."""

    words: Mapping[str, Dictionary]
    rules: frozenset[str]  # and features
    slots: Mapping[str, frozenset[str] | None]  # the values of each slot, None for any text
    taken: frozenset[str] = frozenset()  # slots that a question can fill
    meanings: tuple[str, ...] = ()


def read_rule(entry: Entry, names: Names) -> Rule:
    if entry.kind == "a mapping":
        parts = [_combination(key, part, names) for key, part in entry.fields((), _COMBINATIONS).items()]
        if not parts:
            entry.fail("this condition is empty; write any, all, none or only")
        return _all(parts)
    if entry.kind == "a list":
        entry.fail("must be a condition, got a list; write any: or all: before it")
    return _named(entry, names)


def _combination(key: str, entry: Entry, names: Names) -> Rule:
    if key == "only":
        return _only(entry, names)
    rules = [read_rule(part, names) for part in entry.members()]
    if not rules:
        entry.fail("must be a list of conditions, got an empty one")
    if key == "all":
        return _all(rules)
    uses = frozenset().union(*(rule.uses for rule in rules))
    any_holds = _any_holds([rule.holds for rule in rules])
    return Rule(any_holds if key == "any" else lambda context: not any_holds(context), uses)


def _all(rules: list[Rule]) -> Rule:
    if len(rules) == 1:
        return rules[0]
    uses = frozenset().union(*(rule.uses for rule in rules))
    return Rule(_all_hold([rule.holds for rule in rules]), uses)


# Plain loops: every message evaluates hundreds of conditions, and `any` of a generator takes twice as long.
def _any_holds(conditions: list[Condition]) -> Condition:
    def holds(context: MessageContext) -> bool:
        for condition in conditions:  # noqa: SIM110
            if condition(context):
                return True
        return False

    return holds


def _all_hold(conditions: list[Condition]) -> Condition:
    def holds(context: MessageContext) -> bool:
        for condition in conditions:  # noqa: SIM110
            if not condition(context):
                return False
        return True

    return holds


def _only(entry: Entry, names: Names) -> Rule:
    chosen = [member.choice(list(names.words), "dictionary") for member in entry.members()]
    holds = consists_of(names.words[name] for name in chosen)
    return Rule(_evaluated_once(f"only {' '.join(chosen)}", holds), frozenset())


def _named(entry: Entry, names: Names) -> Rule:
    name = entry.text()
    time, dot, slot = name.partition(".")
    if dot and time in TIMES:
        return _slot(entry, time, slot, names)
    if dot and time in ABOUT:
        if slot not in names.meanings:
            entry.fail(f"there is no meaning {slot!r}; {hint(slot, names.meanings)}")
        return Rule(lambda context: context.truths[name], frozenset())
    if name in names.words:
        return Rule(_evaluated_once(name, names.words[name].occurs_in), frozenset())
    if name not in names.rules and name not in FACTS:
        known = [*FACTS, *names.words, *names.rules, *(f"{time}.{slot}" for time in TIMES for slot in names.slots)]
        entry.fail(f"there is no dictionary, rule, feature or fact {name!r}; {hint(name, known)}")
    # these two are known once all slots are filled
    uses = frozenset(f"slot {slot}" for slot in names.taken) if name in _AFTER_SLOTS else frozenset({name})
    return Rule(lambda context: context.truths[name], uses - FACTS.keys())


def _evaluated_once(name: str, of_text: Callable[[str], bool]) -> Condition:
    def holds(context: MessageContext) -> bool:
        truth = context.truths.get(name)
        if truth is None:
            truth = context.truths[name] = of_text(context.text)
        return truth

    return holds


def _slot(entry: Entry, time: str, rest: str, names: Names) -> Rule:
    slot, equals, value = rest.partition("=")
    if slot not in names.slots:
        entry.fail(f"there is no slot {slot!r}; {hint(slot, list(names.slots))}")
    values = names.slots[slot]
    if equals and values is not None and value not in values:
        entry.fail(f"the slot {slot!r} has no value {value!r}; {hint(value, sorted(values))}")
    # earlier values are known from the start
    uses = frozenset() if time == "earlier" else frozenset({f"slot {slot}"})
    if equals:
        return Rule(lambda context: context.slots[time].get(slot) == value, uses)
    return Rule(lambda context: slot in context.slots[time], uses)
