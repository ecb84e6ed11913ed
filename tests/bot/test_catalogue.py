"""The catalogue: replies are filled from it, it is checked when loaded, and read again when it changes."""

from __future__ import annotations

import os
from dataclasses import replace

import pandas as pd
import pytest

from noisybayes.bot import catalogue as catalogue_module
from noisybayes.bot import train
from noisybayes.bot.bot import catalogue_of
from noisybayes.bot.catalogue import read_catalogue
from noisybayes.bot.config import load_config
from noisybayes.data.errors import InputError

from .shop import SHOP

SLOTS = {"bread": frozenset({"rye bread", "baguette"}), "cut": frozenset({"sliced", "whole"})}
PRICES = "bread,cut,coins\nrye bread,sliced,4\nrye bread,,3\nbaguette,,1\n"


def bakery(folder, prices=PRICES, reply="{bread} {cut}: {coins} coins"):
    config = SHOP.replace('reply: "{bread} {cut}: 3 coins"', f'reply: "{reply}"') + "catalogue: [prices.csv]\n"
    (folder / "shop.yaml").write_text(config, encoding="utf-8")
    (folder / "prices.csv").write_text(prices, encoding="utf-8")
    return load_config(folder / "shop.yaml")


def test_the_row_with_the_most_keys_speaks():
    found = read_catalogue({"prices.csv": PRICES}, SLOTS)
    assert found.value("coins", {"bread": "rye bread", "cut": "sliced"}) == "4"
    assert found.value("coins", {"bread": "rye bread", "cut": "whole"}) == "3"
    assert found.value("coins", {"bread": "rye bread"}) == "3"
    assert found.value("coins", {"cut": "sliced"}) == ""
    assert found.options("bread", {}) == ["rye bread", "baguette"]
    assert found.options("cut", {"bread": "baguette"}) == []


@pytest.mark.parametrize(
    ("prices", "problem"),
    [
        ("", "prices.csv is empty; its first line names the columns"),
        ("bread,coins\n", "prices.csv has no rows below its header; add one"),
        ("bread,coins\nrye bread,3,4\n", "prices.csv, line 2: 3 cells, but the header has 2; quote commas"),
        (
            "bread,coins\nrye,3\n",
            "prices.csv, line 2, bread: the configuration has no bread 'rye'",
        ),
        ("bread,coins,coins\n", "prices.csv, line 1: the column 'coins' stands here twice; remove one of them"),
        ("bread,two words\n", "prices.csv, line 1: the column 'two words' is not a name"),
        ("bread,coins\nbaguette,1\nBaguette,2\n", "prices.csv, line 3: the same keys as in line 2; remove one of them"),
    ],
)
def test_a_broken_catalogue_is_one_sentence(prices, problem):
    with pytest.raises(InputError) as caught:
        read_catalogue({"prices.csv": prices}, SLOTS)
    assert str(caught.value).startswith(problem)


def test_an_unknown_field_is_an_error_with_line_and_key(tmp_path):
    config = bakery(tmp_path, reply="{bread}: {coin} coins")
    with pytest.raises(InputError) as caught:
        catalogue_of(config, tmp_path)
    assert str(caught.value) == (
        "shop.yaml, line 31, categories.price.reply: {coin} is neither a slot nor a column of the catalogue; "
        "did you mean 'coins'?"
    )
    (tmp_path / "prices.csv").unlink()
    with pytest.raises(InputError, match="there is no catalogue .*prices.csv; put it beside the configuration"):
        catalogue_of(config, tmp_path)


def shop(config):
    rows = []
    for dialog in range(40):
        messages = [("how much?", "which"), ("rye", "price"), ("sliced", "price"), ("bye", "3")]
        rows += [(dialog, position, *message) for position, message in enumerate(messages)]
    return train(config, pd.DataFrame(rows, columns=["dialog", "position", "message", "label"]))


def say(bot, *messages):
    dialog = bot.start()
    for message in messages:
        turn = bot.answer(dialog, message)
        dialog = turn.dialog
    return turn


def test_replies_follow_the_catalogue_without_a_restart(tmp_path, monkeypatch):
    bot = shop(bakery(tmp_path))
    monkeypatch.setattr(catalogue_module, "_LOOK_AGAIN", 0.0)
    assert say(bot, "how much?", "rye", "sliced").reply == "rye bread in slices: 4 coins"
    (tmp_path / "prices.csv").write_text(PRICES.replace("sliced,4", "sliced,50"), encoding="utf-8")
    assert say(bot, "how much?", "rye", "sliced").reply == "rye bread in slices: 50 coins"
    (tmp_path / "prices.csv").write_text("bread,cut\nrye bread,sliced\n", encoding="utf-8")
    assert say(bot, "how much?", "rye", "sliced").reply == "rye bread in slices: 50 coins"  # the last that was right
    assert bot.files.problem == "the column 'coins' is gone, which replies use; put it back"
    os.utime(tmp_path / "prices.csv")


def test_what_is_not_in_the_catalogue_is_handed_over(tmp_path):
    bot = shop(bakery(tmp_path, prices="bread,cut,coins\nrye bread,sliced,4\n"))
    assert say(bot, "how much?", "rye", "sliced").reason == ""
    turn = say(bot, "how much?", "rye", "whole")
    assert (turn.handover, turn.reason, turn.draft) == (True, "not in the catalogue", "")


def test_a_configuration_without_a_file_cannot_have_a_catalogue(tmp_path):
    with pytest.raises(InputError, match="load it from a file"):
        shop(replace(bakery(tmp_path), folder=None))
