"""What customers write to a dealership, with the action that is right: data/battery, a file for each part and language.

`python -m benchmarks.battery PART when` prints the mistakes and adds a row per language to results/bot_battery.csv;
`when` is "first sight" (neither rules nor examples had seen this part), "dictionaries only" (the bot before it had
examples, at first sight) or "after mending". Without arguments it prints the table of docs/bot.md.
"""

from __future__ import annotations

import csv
import sys
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from noisybayes.bot import Bot, Turn, demo_bot, load_config, train
from noisybayes.bot.bot import PROMISED

from .data.datasets import live_streaming_file

FOLDER = Path(__file__).parent / "data" / "battery"
PARTS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
SCORES = Path(__file__).parents[1] / "results" / "bot_battery.csv"


class Case(NamedTuple):
    text: str  # with all that was said before it
    expected: tuple[str, ...]
    harm: bool
    action: str
    turn: Turn

    @property
    def right(self) -> bool:
        return self.action in self.expected

    @property
    def harmful(self) -> bool:
        return self.harm and self.action != "handover"


def action_of(turn: Turn) -> str:
    if turn.handover and turn.reason != PROMISED:
        return "handover"
    if turn.asks is not None:
        return f"question:{turn.asks}"
    return f"reply:{turn.category}" if turn.reply else "ignore"


def battery(language: str, part: str) -> dict[str, Any]:
    name = {"first": language, "second": language}.get(part, f"{part}_{language}")
    content: dict[str, Any] = yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    return content["second"] if part == "second" else content


@cache
def bot_in(language: str) -> Bot:
    """The English example; the Chinese bot learns from the real dialogs."""
    return demo_bot() if language == "en" else train(load_config("cars_zh"), live_streaming_file())


def cases(language: str, part: str) -> list[Case]:
    bot, content, found = bot_in(language), battery(language, part), []
    for group in content["messages"]:
        for text in group["say"]:
            turn = bot.answer(bot.start(), text, public=group.get("mode") == "public")
            found.append(Case(text, _options(group["expect"]), group.get("harm", False), action_of(turn), turn))
    for dialog in content["dialogs"]:
        state, said = bot.start(), []
        for text, expected in dialog:
            said.append(text)
            turn = bot.answer(state, text)
            state = turn.dialog
            found.append(Case(" / ".join(said), _options(expected), expected == "handover!", action_of(turn), turn))
    return found


def _options(expected: str | list[str]) -> tuple[str, ...]:
    return tuple(each.rstrip("!") for each in ([expected] if isinstance(expected, str) else expected))


def table() -> str:
    """The stored scores, for the page on the bot."""
    lines = ["| part | language | when | messages | right | harmful |", "|---|---|---|---|---|---|"]
    with SCORES.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            share = f"{int(row['right']) / int(row['cases']):.0%}".replace("%", " %")
            cells = [row["part"], row["language"], row["when"], row["cases"], share, row["harmful"]]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main(part: str, when: str | None = None) -> None:
    for language in ("en", "zh"):
        scored = cases(language, part)
        wrong = [case for case in scored if not case.right]
        for case in wrong:
            mark = "HARM " if case.harmful else ""
            print(f"{mark}{case.text} -> {case.action} {case.turn.reason}, not {' or '.join(case.expected)}")
        harmful = sum(case.harmful for case in scored)
        print(f"{language} {part}: {len(scored) - len(wrong)} of {len(scored)} right, {harmful} harmful")
        if when is not None:
            with SCORES.open("a", encoding="utf-8", newline="") as file:
                csv.writer(file, lineterminator="\n").writerow(
                    [part, language, when, len(scored), len(scored) - len(wrong), harmful]
                )


if __name__ == "__main__":
    main(*sys.argv[1:]) if sys.argv[1:] else print(table())
