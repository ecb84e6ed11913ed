"""The catalogue: replies are filled from it, it is checked when loaded, and read again when it changes."""

from __future__ import annotations

import os
import sqlite3
from dataclasses import replace

import pytest

from noisybayes.bot import catalogue_sources, load_bot, train
from noisybayes.bot.bot import catalogue_of
from noisybayes.bot.catalogue import read_catalogue
from noisybayes.bot.catalogue_sources import csv_table
from noisybayes.bot.config import load_config
from noisybayes.data.errors import InputError

from .shop import SHOP, bakery_dialogs, chinese, demo

SLOTS = {"bread": frozenset({"rye bread", "baguette"}), "cut": frozenset({"sliced", "whole"})}
PRICES = "bread,cut,coins\nrye bread,sliced,4\nrye bread,,3\nbaguette,,1\n"


def bakery(folder, prices=PRICES, reply="{bread} {cut}: {coins} coins"):
    config = SHOP.replace('reply: "{bread} {cut}: 3 coins"', f'reply: "{reply}"') + "catalogue: [prices.csv]\n"
    (folder / "shop.yaml").write_text(config, encoding="utf-8")
    (folder / "prices.csv").write_text(prices, encoding="utf-8")
    return load_config(folder / "shop.yaml")


def test_the_row_with_the_most_keys_speaks():
    found = read_catalogue([csv_table("prices.csv", PRICES)], SLOTS)
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
        ("bread,coins\n", "prices.csv has no rows; add one"),
        ("bread,coins\nrye bread,3,4\n", "prices.csv, line 2: 3 cells, but the header has 2; quote commas"),
        ("bread,coins\nrye,3\n", "prices.csv, line 2, bread: the configuration has no bread 'rye'"),
        ("bread,coins,coins\n", "prices.csv, line 1: the column 'coins' occurs twice; remove one of them"),
        ("bread,two words\n", "prices.csv, line 1: the column 'two words' is not a name"),
        ("bread,coins\nbaguette,1\nBaguette,2\n", "prices.csv, line 3: the same keys as in line 2; remove one of them"),
    ],
)
def test_a_broken_catalogue_is_one_sentence(prices, problem):
    with pytest.raises(InputError) as caught:
        read_catalogue([csv_table("prices.csv", prices)], SLOTS)
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
    with pytest.raises(InputError, match="there is no catalogue .*prices.csv; put it next to the configuration"):
        catalogue_of(config, tmp_path)


def trained(config):
    return train(config, bakery_dialogs())


def say(bot, *messages):
    dialog = bot.start()
    for message in messages:
        turn = bot.answer(dialog, message)
        dialog = turn.dialog
    return turn


def test_replies_follow_the_catalogue_without_a_restart(tmp_path, monkeypatch):
    bot = trained(bakery(tmp_path))
    monkeypatch.setattr(catalogue_sources, "_FILES_EVERY", 0.0)
    assert say(bot, "how much?", "rye", "sliced").reply == "rye bread in slices: 4 coins"
    (tmp_path / "prices.csv").write_text(PRICES.replace("sliced,4", "sliced,50"), encoding="utf-8")
    assert say(bot, "how much?", "rye", "sliced").reply == "rye bread in slices: 50 coins"
    (tmp_path / "prices.csv").write_text("bread,cut\nrye bread,sliced\n", encoding="utf-8")
    assert say(bot, "how much?", "rye", "sliced").reply == "rye bread in slices: 50 coins"  # the last that was right
    assert bot.live.problem == "the column 'coins' is missing, but replies use it; put it back"
    os.utime(tmp_path / "prices.csv")


def test_what_is_not_in_the_catalogue_is_handed_over(tmp_path):
    bot = trained(bakery(tmp_path, prices="bread,cut,coins\nrye bread,sliced,4\n"))
    assert say(bot, "how much?", "rye", "sliced").reason == ""
    turn = say(bot, "how much?", "rye", "whole")
    assert (turn.handover, turn.reason, turn.draft) == (True, "not in the catalogue", "")


def test_a_configuration_without_a_file_cannot_have_a_catalogue(tmp_path):
    with pytest.raises(InputError, match="load it from a file"):
        trained(replace(bakery(tmp_path), folder=None))


# a table of a database


def in_database(folder, rows=(("rye bread", "sliced", 4), ("rye bread", None, 3), ("baguette", None, 1)), **more):
    path = folder / "prices.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE prices (id INTEGER PRIMARY KEY, bread TEXT, cut TEXT, coins INTEGER)")
        connection.executemany("INSERT INTO prices (bread, cut, coins) VALUES (?, ?, ?)", rows)
    named = {"database": f"sqlite:///{path}", "table": "prices", "columns": "[bread, cut, coins]"} | more
    source = ", ".join(f"{key}: {value}" for key, value in named.items())
    config = SHOP.replace("{bread} {cut}: 3 coins", "{bread} {cut}: {coins} coins") + f"catalogue:\n  - {{{source}}}\n"
    (folder / "shop.yaml").write_text(config, encoding="utf-8")
    return load_config(folder / "shop.yaml")


def change(folder, statement):
    with sqlite3.connect(folder / "prices.db") as connection:
        connection.execute(statement)


def test_a_table_of_a_database_fills_replies_and_is_read_again(tmp_path, monkeypatch):
    monkeypatch.setattr(catalogue_sources, "_DATABASE_EVERY", float("inf"))  # only when told
    bot = trained(in_database(tmp_path))
    bot.save(tmp_path / "bot")
    bot = load_bot(tmp_path / "bot")  # the folder of the bot has no file of it
    assert say(bot, "how much?", "rye", "sliced").reply == "rye bread in slices: 4 coins"
    assert say(bot, "how much?", "rye", "whole").reply == "rye bread in one piece: 3 coins"
    change(tmp_path, "UPDATE prices SET coins = 50 WHERE cut = 'sliced'")
    bot.live.reload()
    assert say(bot, "how much?", "rye", "sliced").reply == "rye bread in slices: 50 coins"
    change(tmp_path, "INSERT INTO prices (bread, coins) VALUES ('cake', 9)")
    bot.live.reload()
    assert bot.live.problem == (
        "table prices, row 4, bread: the configuration has no bread 'cake'; add it to the words of that slot"
    )
    assert say(bot, "how much?", "rye", "sliced").reply == "rye bread in slices: 50 coins"  # the last that was right
    (tmp_path / "prices.db").unlink()
    bot.live.reload()
    assert bot.live.problem.startswith("bot.yaml, line 35, catalogue: there is no database ")
    assert say(bot, "how much?", "rye", "sliced").reply == "rye bread in slices: 50 coins"


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"table": "costs"}, "there is no table 'costs' in the database"),
        ({"columns": "[bread, coin]"}, "the table 'prices' has no column 'coin'; it has id, bread, cut, coins"),
        ({"database": "'sqlite:///${NO_SUCH_VARIABLE}'"}, "the environment variable NO_SUCH_VARIABLE is not set"),
        ({"database": "sqlite:///nowhere.db"}, "there is no database nowhere.db"),
        ({"database": "nonsense"}, "the table 'prices' cannot be read: Could not parse SQLAlchemy URL from"),
    ],
)
def test_a_table_that_cannot_be_read_is_one_sentence_with_line_and_key(tmp_path, more, problem):
    with pytest.raises(InputError) as caught:
        catalogue_of(in_database(tmp_path, **more), tmp_path)
    assert str(caught.value).startswith(f"shop.yaml, line 35, catalogue: {problem}")


@pytest.mark.parametrize(
    ("bot", "message", "reply"),
    [
        (demo, "Do you handle the license plates?", "We register cars in Ohio; in other states you would do it"),
        (demo, "Can you get me plates in Ohio?", "We register the car in Ohio for you, plates included."),
        (chinese, "外省能上牌吗？", "省内可以，外省不行。"),
        (chinese, "我在河北，能落户吗", "河北可以代办上牌。"),
    ],
)
def test_plates_by_state_and_province(bot, message, reply):
    assert bot().answer(bot().start(), message).reply.startswith(reply)
