"""The paper's categories are what a bot does, by a file."""

from __future__ import annotations

from pathlib import Path

from noisybayes.bot import Bot, Dialog, load_config

from ..flow_chart import CATEGORIES, category


def test_a_dialog_goes_through_the_flow_chart():
    bot, dialog, found = Bot.train(load_config(Path(__file__).parents[1] / "flow_chart.yaml")), Dialog(), []
    for message in ("多少钱", "A4L", "新车", "豪华", "10000000000", "谢谢"):
        turn = bot.answer(dialog, message)
        dialog = turn.dialog
        found.append(category(turn))
    asked = [CATEGORIES[f"ask {slot}"] for slot in ("car", "condition", "configuration")]
    assert found == [*asked, CATEGORIES["price"], CATEGORIES["contact"], CATEGORIES["silent"]]
