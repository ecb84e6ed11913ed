"""`noisybayes bot`, from the command line."""

from __future__ import annotations

import csv
import json

import pytest
from click.testing import CliRunner

from noisybayes.bot.config import SHIPPED
from noisybayes.bot.demo import DEMO_DIALOGS
from noisybayes.cli.bot import bot


def run(*arguments, stdin=None):
    return CliRunner().invoke(bot, [str(a) for a in arguments], input=stdin, env={"COLUMNS": "160"})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """init, then train."""
    place = tmp_path_factory.mktemp("shop")
    result = run("init", place / "shop.yaml", "--dialogs", place / "dialogs.csv")
    assert result.exit_code == 0, result.output
    assert "next: noisybayes bot train" in result.output
    result = run("train", place / "dialogs.csv", "--config", place / "shop.yaml", "--out", place / "bot")
    assert result.exit_code == 0, result.output
    assert "estimated share of wrong labels: " in result.output
    return place / "bot"


def total_of_used_tarvo():
    with (SHIPPED / "cars_en_catalogue.csv").open(encoding="utf-8", newline="") as file:
        rows = {(row["car"], row["condition"]): row for row in csv.DictReader(file)}
    return rows["Tarvo", "used"]["total_cost"]


def test_a_talk_through_a_pipe(folder):
    result = run("chat", folder, stdin="How much is a Tarvo?\n\nused\n555-0142\n/quit\nnot read\n")
    assert result.exit_code == 0, result.output
    assert result.output.splitlines() == [
        "bot: Do you mean a new or a second-hand Tarvo?",
        f"bot: The second-hand Tarvo is about {total_of_used_tarvo()} on the road, taxes and fees included.",
        "     [contact]",
        "bot: Got it, we will contact you as soon as possible!",
    ]


def test_a_verbose_talk_with_the_example_and_a_new_start():
    result = run("chat", "--verbose", stdin="Kestira\n/new\nnew\n")
    assert "names a car" in result.output
    assert "[New or second-hand unknown, " in result.output
    assert result.output.count("is the first message") == 2


@pytest.mark.parametrize("language", ["en", "zh"])
def test_init_writes_what_train_reads_and_overwrites_nothing(tmp_path, language):
    from noisybayes.bot import load_config

    path = tmp_path / "mine.yaml"
    assert run("init", path, "--language", language).exit_code == 0
    assert load_config(path).language == language
    again = run("init", path)
    assert again.exit_code == 2
    assert "already exists; choose another name" in again.output


def test_evaluate_prints_tables_and_writes_json(tmp_path):
    result = run("evaluate", DEMO_DIALOGS, "--reps", 2, "--json", tmp_path / "found.json")
    assert result.exit_code == 0, result.output
    for text in ("accuracy against the true labels", "the bot as a whole", "by category", "most frequent mistakes"):
        assert text in result.output
    found = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    assert (found["reps"], found["messages"]) == (2, 695)
    assert len(found["confusion"]) == len(found["categories"]) == 13


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", DEMO_DIALOGS, "--config", "cars_zh", "--out", "x"], "there is no column '对话编号' for the dialog"),
        (["train", DEMO_DIALOGS, "--config", "nothing.yaml", "--out", "x"], "there is no file 'nothing.yaml'"),
        (["train", "nothing.csv", "--out", "x"], "nothing.csv"),
        (["chat", "nothing"], "there is no bot in nothing"),
        (["evaluate", DEMO_DIALOGS, "--label", "labels"], "there is no label column 'labels'"),
    ],
)
def test_one_sentence_for_what_people_can_put_right(arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output
