"""Tests, what a good salesperson would do; and learning from labels, which must not make them worse."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ..data.errors import InputError
from .config import ASIDE, CONTACT, STOP
from .dialog import CONFIG_FILE, LEFT_CONTACT, Bot, Dialog, Turn, load_bot, masked
from .yaml_source import Entry, parse, read_text

Acts = frozenset[str]


class Case(NamedTuple):
    """A message and the acts that are acceptable: one of several sets."""

    message: str
    acceptable: tuple[Acts, ...]


class TestDialog(NamedTuple):
    goal: Acts  # acts that some turn must reach; none for a single message
    turns: tuple[Case, ...]


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
    acts = set(turn.topics) - set(turn.dialog.topics if turn.asks else ()) if turn.reply else set()
    acts |= {f"ask {turn.asks}"} if turn.asks else set()
    acts |= {"person"} if turn.reason not in ("", LEFT_CONTACT) else set()
    return frozenset(acts | ({CONTACT} if turn.contacts else set()) or {"silent"})


def is_acceptable(bot: Bot, acts: Acts, acceptable: Sequence[Acts]) -> bool:
    """All acts of one of the sets, no fact beside them, and people are not told without need."""
    topics = {act: bot.config.topics[act] for act in acts if act in bot.config.topics}
    facts = {name for name, topic in topics.items() if not topic.notify and name not in (*ASIDE, STOP)}
    told = {"person", CONTACT, *(name for name, topic in topics.items() if topic.notify)}
    done = acts | {act.partition(" ")[0] for act in acts}  # "ask": any slot
    return any(wanted <= done and facts <= wanted and ("person" not in acts or wanted & told) for wanted in acceptable)


def read_tests(paths: Sequence[Path]) -> list[TestDialog]:
    tests: list[TestDialog] = []
    for path in paths:
        parts = parse(read_text(path), path.name).fields((), ("messages", "dialogs"))
        messages = parts["messages"].members() if "messages" in parts else ()
        tests += [TestDialog(frozenset(), (_case(entry),)) for entry in messages]
        for entry in parts["dialogs"].members() if "dialogs" in parts else ():
            dialog = entry.fields(("goal", "turns"))
            tests.append(TestDialog(_acts(dialog["goal"].text()), tuple(map(_case, dialog["turns"].members()))))
    return tests


def _case(entry: Entry) -> Case:
    parts = entry.texts()
    if len(parts) != 2:
        entry.fail("write [message, acceptable acts]")
    return Case(parts[0], tuple(_acts(each) for each in parts[1].split("|")))


def _acts(text: str) -> Acts:
    return frozenset(act.strip() for act in text.split("+"))


def _written(acts: Acts) -> str:
    return " + ".join(sorted(acts))


def evaluate(bot: Bot, tests: Sequence[TestDialog]) -> Evaluation:
    misses: list[Miss] = []
    right = {True: 0, False: 0}  # within a dialog, or not
    goals = 0
    for each in tests:
        dialog, reached, before, paused = Dialog(), set[str](), list[str](), False
        for case in each.turns:
            turn = bot.answer(dialog, case.message, paused=paused)
            acts, dialog = acts_of(turn), turn.dialog
            paused, reached = paused or turn.mutes, reached | acts  # as on a server until somebody has answered
            before.append(case.message)
            if is_acceptable(bot, acts, case.acceptable):
                right[bool(each.goal)] += 1
            else:
                misses.append(
                    Miss(" / ".join(before), " | ".join(map(_written, case.acceptable)), _written(acts), turn.reply)
                )
        if each.goal:
            goals += each.goal <= reached
            if not each.goal <= reached:
                misses.append(Miss(" / ".join(before), f"goal {_written(each.goal)}", _written(frozenset(reached)), ""))
    dialogs = [each for each in tests if each.goal]
    n_turns, n_alone = sum(len(each.turns) for each in dialogs), len(tests) - len(dialogs)
    return Evaluation(n_alone, right[False], n_turns, right[True], len(dialogs), goals, tuple(misses))


def tests_of(bot: Bot) -> list[TestDialog]:
    """The tests that the configuration names."""
    return read_tests([bot.config.folder / name for name in bot.config.tests])


#: How many examples a label by a person counts for: the least that suffices, so that it changes little else.
WEIGHTS = (4.0, 15.0, 60.0)


class Learned(NamedTuple):
    bot: Bot  # the new one, or the old one
    accepted: bool
    why: str  # a sentence


def learn(bot: Bot, labeled: Sequence[tuple[str, str]], newest: str | None = None) -> Learned:
    """Retrain with messages and their topics; `newest` is the message that was labeled just now.

    Accepted if the newest gets its topic, no fewer of the labeled messages get theirs, and the test dialogs of the
    configuration do not get worse.
    """
    unknown = next((topic for _, topic in labeled if topic not in bot.config.topics), None)
    if unknown is not None:
        raise InputError(f"the stored label {unknown!r} is not a topic of the bot; label these messages again")
    if not labeled:
        raise InputError("no message has a label yet; label some on the Learn page, or when answering a handover")
    tests = tests_of(bot)
    before, right = evaluate(bot, tests).right, sum(_gets(bot, *each) for each in labeled)
    why = ""
    for weight in WEIGHTS:
        new = Bot.train(bot.config, labeled, weight, bot.examples)
        missed = [text for text, topic in labeled if not _gets(new, text, topic)]
        if (newest is not None and newest in missed) or len(labeled) - len(missed) < right:
            why = f"the message {missed[0]!r} does not get its topic; label another wording of it too"
            continue
        now = evaluate(new, tests).right
        if now < before:
            return Learned(
                bot, False, f"{before - now} of the test messages and dialogs would get worse; check the label"
            )
        return Learned(new, True, f"{len(labeled) - len(missed)} of {len(labeled)} labeled messages get their topic")
    return Learned(bot, False, why)


def _gets(bot: Bot, text: str, topic: str) -> bool:
    return bot.model.posterior(masked(bot.config, text)).get(topic, 0.0) >= bot.config.threshold


def replace_bot(folder: Path, bot: Bot) -> Path:
    """Use the new bot; the previous one is kept as FOLDER.previous."""
    fresh = folder.with_name(f"{folder.name}.new")
    bot.save(fresh)
    (fresh / CONFIG_FILE).write_bytes((folder / CONFIG_FILE).read_bytes())  # it may have been edited
    return _exchange(folder, fresh)


def restore_previous(folder: Path) -> Path:
    """Restore the bot before the last retraining; the replaced one is kept as FOLDER.previous."""
    previous = _previous(folder)
    if not previous.exists():
        raise InputError(f"there is no {previous} to restore; the bot has not been retrained yet")
    load_bot(previous)  # first, so that a broken bot does not replace a working one
    fresh = folder.with_name(f"{folder.name}.new")
    previous.rename(fresh)
    return _exchange(folder, fresh)


def _exchange(folder: Path, fresh: Path) -> Path:
    previous = _previous(folder)
    if previous.exists():
        for path in previous.iterdir():
            path.unlink()
        previous.rmdir()
    folder.rename(previous)
    fresh.rename(folder)
    return previous


def _previous(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.previous")
