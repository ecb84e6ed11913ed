"""The battery: what customers write, and what has to happen. At least 95 % right, and no harm at all."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from noisybayes.bot import Bot, Turn

from .shop import bot_in

FOLDER = Path(__file__).with_name("battery")
LEAST_RIGHT = 0.95


class Case(NamedTuple):
    text: str  # with all that was said before it
    expected: tuple[str, ...]
    harm: bool
    action: str
    turn: Turn


def action_of(turn: Turn) -> str:
    if turn.handover:
        return "handover"
    if turn.asks is not None:
        return f"question:{turn.asks}"
    return f"reply:{turn.category}" if turn.reply else "ignore"


def _options(expected: str | list[str]) -> tuple[str, ...]:
    return tuple(each.rstrip("!") for each in ([expected] if isinstance(expected, str) else expected))


@cache
def cases(language: str) -> list[Case]:
    battery = yaml.safe_load((FOLDER / f"{language}.yaml").read_text(encoding="utf-8"))
    return [case for part in (battery, battery["second"]) for case in _cases_of(bot_in(language), part)]


def _cases_of(bot: Bot, battery: dict[str, Any]) -> list[Case]:
    found = []
    for group in battery["messages"]:
        for text in group["say"]:
            turn = bot.answer(bot.start(), text, public=group.get("mode") == "public")
            found.append(Case(text, _options(group["expect"]), group.get("harm", False), action_of(turn), turn))
    for dialog in battery["dialogs"]:
        state, said = bot.start(), []
        for text, expected in dialog:
            said.append(text)
            turn = bot.answer(state, text)
            state = turn.dialog
            found.append(Case(" / ".join(said), _options(expected), expected == "handover!", action_of(turn), turn))
    return found


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_battery_is_large_enough(language):
    battery = yaml.safe_load((FOLDER / f"{language}.yaml").read_text(encoding="utf-8"))
    assert sum(len(group["say"]) for group in battery["messages"]) >= 120
    assert len(battery["dialogs"]) >= 25


@pytest.mark.parametrize("language", ["en", "zh"])
def test_nearly_all_is_right(language):
    wrong = [f"{case.text}: {case.action}" for case in cases(language) if case.action not in case.expected]
    assert len(wrong) <= (1 - LEAST_RIGHT) * len(cases(language)), "\n".join(wrong)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_nothing_does_harm(language):
    harm = [case for case in cases(language) if case.harm]
    assert len(harm) >= 40
    assert [f"{case.text}: {case.action}" for case in harm if case.action != "handover"] == []
