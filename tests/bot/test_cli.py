"""`noisybayes bot`, from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from noisybayes.bot import load_config
from noisybayes.bot.contacts import ContactKey
from noisybayes.bot.service import HostedBot, Service
from noisybayes.cli.bot import bot
from noisybayes.cli.table_options import clear_errors

from ..web.desk_at_work import open_store
from .shop import demo


def run(*arguments, stdin=None):
    result = CliRunner().invoke(bot, [str(each) for each in arguments], input=stdin)
    return result.exit_code, result.output


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Three questions, then training."""
    place = tmp_path_factory.mktemp("shop")
    answers = "Bob's Bikes\n5 High Street, Mon-Fri 9-17\nroad bike, city bike\n"
    code, output = run("init", place / "shop.yaml", "--minimal", stdin=answers)
    assert (code, "next: noisybayes bot train" in output) == (0, True)
    products = place / "shop_products.csv"
    products.write_text(products.read_text().replace("road bike,,", "road bike,$900,in stock"))
    code, output = run("train", place / "shop.yaml", "--out", place / "bot")
    assert (code, "examples of 17 topics" in output) == (0, True)
    return place / "bot"


def test_a_shop_from_three_questions(folder):
    messages = "how much is the road bike?\nand the city bike\nwhere are you?\ncall me 555-0142\n/quit\nnot read\n"
    assert run("chat", folder, stdin=messages)[1].splitlines() == [
        "bot: The road bike costs $900.",
        "bot: A colleague will answer you here.",
        "bot: You find us here: 5 High Street, Mon-Fri 9-17.",
        "     call me [contact]",
        "bot: Got it, thank you: a colleague will contact you.",
    ]
    verbose = run("chat", folder, "--verbose", stdin="how much is the city bike\n/new\nhello\n")[1]
    assert "people are told: not in the catalogue]" in verbose
    assert "[greeting, " in verbose


def test_init_in_chinese_and_nothing_is_overwritten(tmp_path):
    assert run("init", tmp_path / "s.yaml", "--minimal", "--language", "zh", stdin="店\n路1号\n桌子，椅子\n")[0] == 0
    config = load_config(tmp_path / "s.yaml")
    assert (config.title, config.catalogue.values("product")) == ("店", ["桌子", "椅子"])
    assert run("init", tmp_path / "cars.yaml")[0] == 0
    assert load_config(tmp_path / "cars.yaml").tests == ("cars_tests_en.yaml", "cars_tests_zh.yaml")
    with pytest.raises(Exception, match="already exists; choose another name or remove it first"), clear_errors():
        CliRunner().invoke(bot, ["init", str(tmp_path / "cars.yaml")], catch_exceptions=False, standalone_mode=False)


def test_evaluate_counts_and_shows_misses(folder, tmp_path):
    tests = tmp_path / "tests.yaml"
    tests.write_text("messages:\n- [how much is the road bike, price]\n- [hello, price]\n"
                     "dialogs:\n- goal: visit\n  turns: [[where are you, visit]]\n")  # fmt: skip
    code, output = run("evaluate", folder, "--tests", tests)
    assert code == 0
    assert "1 of 2 messages acceptable; in dialogs 1 of 1, goal reached in 1 of 1" in output
    assert "hello\n    expected price, got greeting" in output
    assert "there are no tests" in run("evaluate", folder)[1]


def test_retrain_learns_the_labels_of_a_store_and_goes_back(tmp_path):
    demo().save(tmp_path / "bot")
    message = "do you have a lounge where i can wait"
    with open_store(tmp_path) as store:
        made = Service(store, {"bot": HostedBot(demo())}, ContactKey(run("key")[1].strip()))
        dialog = made.receive("bot", "1", "ann", message).dialog_id
        made.chats.label_turn(dialog, 1, "ada", "visit")
    code, output = run("retrain", tmp_path / "bot", "--store", tmp_path / "desk.db")
    assert (code, "1 of 1 labeled messages get their topic" in output) == (0, True), output
    answer = run("chat", tmp_path / "bot", stdin=message + "\n")[1]
    assert answer.startswith("bot: We are at 12 Mill Road")
    assert run("retrain", tmp_path / "bot", "--back")[0] == 0
    assert not run("chat", tmp_path / "bot", stdin=message + "\n")[1].startswith("bot: We are at 12 Mill Road")
    assert "there is no store" in run("retrain", tmp_path / "bot", "--store", Path("nowhere.db"))[1]
