"""Test messages and dialogs: what a good salesperson would do, and how often the bot does so."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ..data.errors import InputError
from .config import ASIDE, CONTACT, OTHER, STOP
from .dialog import Bot, Dialog, Turn
from .yaml_source import Entry, parse

Acts = frozenset[str]


class Case(NamedTuple):
    """A message and the acts that are acceptable: one of several sets."""

    message: str
    acceptable: tuple[Acts, ...]


class TestDialog(NamedTuple):
    goal: Acts  # acts that some turn must reach
    turns: tuple[Case, ...]


class Tests(NamedTuple):
    messages: tuple[Case, ...]
    dialogs: tuple[TestDialog, ...]


class Miss(NamedTuple):
    said: str  # with what was said before it
    expected: str
    acts: str
    reply: str


class Evaluation(NamedTuple):
    messages: int
    acceptable: int
    turns: int
    acceptable_turns: int
    dialogs: int
    goals: int
    misses: tuple[Miss, ...]

    @property
    def right(self) -> int:
        """What a new model must not fall below."""
        return self.acceptable + self.acceptable_turns + self.goals


def acts_of(turn: Turn) -> Acts:
    """What a turn does: topics that it answers, "ask SLOT", "person" (people are told), "contact", "stop", "silent"."""
    acts = {f"ask {turn.asks}"} if turn.asks else set(turn.topics) if turn.reply else set()
    if turn.asks and len(turn.topics) > 1:  # one of several questions is answered
        acts |= set(turn.topics) - set(turn.dialog.topics)
    if turn.handover and not (turn.contacts and turn.reason == "left contact details"):
        acts.add("person")
    if turn.contacts:
        acts.add(CONTACT)
    return frozenset(acts or {"silent"})


def is_acceptable(acts: Acts, acceptable: Sequence[Acts]) -> bool:
    """All acts of one of the sets, and no answer beside them."""
    beside = {act for act in acts if act not in (*ASIDE, OTHER, "person", "silent") and not act.startswith("ask ")}
    for wanted in acceptable:
        asks = any(act.startswith("ask ") for act in acts)
        met = all(act in acts or (act == "ask" and asks) for act in wanted)
        told = "person" in acts and "person" not in wanted
        if met and (beside <= wanted or "person" in wanted) and (not told or bool(beside & wanted) or CONTACT in wanted):
            return beside <= wanted or not _answers(beside - wanted)
    return False


def _answers(topics: Acts | set[str]) -> bool:
    """Whether some of these tell a fact; topics for which people are told do not."""
    return bool(set(topics) - {"order", "complaint", "abuse", "danger", STOP, "test_drive", "trade_in", "loan"})


def read_tests(paths: Sequence[Path]) -> Tests:
    messages: list[Case] = []
    dialogs: list[TestDialog] = []
    for path in paths:
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{path} cannot be read: {error}") from None
        parts = parse(text, path.name).fields((), ("messages", "dialogs"))
        messages += [_case(entry) for entry in parts["messages"].members()] if "messages" in parts else []
        for entry in parts["dialogs"].members() if "dialogs" in parts else []:
            dialog = entry.fields(("goal", "turns"))
            dialogs.append(TestDialog(_acts(dialog["goal"].text()), tuple(map(_case, dialog["turns"].members()))))
    return Tests(tuple(messages), tuple(dialogs))


def _case(entry: Entry) -> Case:
    parts = entry.texts()
    if len(parts) != 2:
        entry.fail("write [message, acceptable acts]")
    return Case(parts[0], tuple(_acts(each) for each in parts[1].split("|")))


def _acts(text: str) -> Acts:
    return frozenset(act.strip() for act in text.split("+"))


def evaluate(bot: Bot, tests: Tests) -> Evaluation:
    misses: list[Miss] = []
    found = {"messages": 0, "turns": 0, "goals": 0}

    def check(dialog: Dialog, case: Case, what: str, before: Sequence[str]) -> Turn:
        turn = bot.answer(dialog, case.message)
        acts = acts_of(turn)
        if is_acceptable(acts, case.acceptable):
            found[what] += 1
        else:
            wanted = " | ".join(" + ".join(sorted(each)) for each in case.acceptable)
            misses.append(Miss(" / ".join([*before, case.message]), wanted, " + ".join(sorted(acts)), turn.reply))
        return turn

    for case in tests.messages:
        check(Dialog(), case, "messages", ())
    for each in tests.dialogs:
        dialog, reached, before = Dialog(), set[str](), list[str]()
        for case in each.turns:
            turn = check(dialog, case, "turns", before)
            dialog, reached = turn.dialog, reached | acts_of(turn)
            before.append(case.message)
        if each.goal <= reached:
            found["goals"] += 1
        else:
            misses.append(Miss(" / ".join(before), f"goal {' + '.join(sorted(each.goal))}", " + ".join(sorted(reached)), ""))
    n_turns = sum(len(each.turns) for each in tests.dialogs)
    return Evaluation(
        len(tests.messages), found["messages"], n_turns, found["turns"], len(tests.dialogs), found["goals"], tuple(misses)
    )


def tests_of(bot: Bot) -> Tests:
    """The tests that the configuration names."""
    return read_tests([bot.config.folder / name for name in bot.config.tests])
