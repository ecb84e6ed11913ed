"""The paper's flow chart as a file of `noisybayes bot`, on the paper's dialogs: which of 13 replies is given.

`python -m paper.flow_chart` replays the dialogs with the bot of flow_chart.yaml, which has seen none of them, and
compares its replies with the experts' and with the volunteers' labels.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
from benchmarks.data.datasets import live_streaming, live_streaming_file

from noisybayes.bot import Bot, Dialog, Turn, load_config

#: The paper's categories by what a turn does; a car alone asks for its total cost, as in the paper.
CATEGORIES = {
    "price": 0, "buying": 0, "contact": 1, "ask car": 2, "ask condition": 3, "ask configuration": 4,
    "person": 5, "loan": 6,
    "silent": 7, "plates": 8, "discount": 9, "availability": 10, "list_price": 11, "visit": 12,
}  # fmt: skip


def category(turn: Turn) -> int:
    """What has no category of its own is answered by asking for contact details."""
    if turn.contacts:
        return CATEGORIES["contact"]
    if turn.asks:
        return CATEGORIES[f"ask {turn.asks}"]
    if not turn.reply or turn.topics[:1] in (("thanks",), ("chatter",)):
        return CATEGORIES["silent"]
    return CATEGORIES.get(turn.topics[0] if turn.topics else "", CATEGORIES["loan"])


def replayed(bot: Bot) -> list[int]:
    """The category of each message, in the state that the earlier ones of its dialog left."""
    numbers = pl.read_csv(live_streaming_file())["对话编号"].to_list()
    states: dict[int, Dialog] = {}
    found = []
    for number, words in zip(numbers, live_streaming().tokens, strict=True):
        turn = bot.answer(states.get(number, Dialog()), "".join(words) or "?")
        states[number] = turn.dialog
        found.append(category(turn))
    return found


def main() -> None:
    data = live_streaming()
    found = np.array(replayed(Bot.train(load_config(Path(__file__).parent / "flow_chart.yaml"))))
    for name, labels in (("experts", data.true), ("volunteers", data.observed)):
        print(f"replies as the {name} chose them: {(found == labels).mean():.1%} of {len(found):,}")
    print(f"the volunteers as the experts: {(data.observed == data.true).mean():.1%}")


if __name__ == "__main__":
    main()
