"""Answers: the model's posterior, the flow chart, the threshold, and bots as folders."""

from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax
from sklearn.feature_extraction.text import TfidfVectorizer

from noisybayes.bot import Dialog, load_bot, train
from noisybayes.bot.config import read_config
from noisybayes.bot.demo import DEMO_DIALOGS
from noisybayes.data.errors import InputError

from .shop import SHOP, bakery, demo

TALK = ["Hi!", "How much is a Tarvo?", "new", "Sport please", "any discount?", "call me: 555-0142", "thanks"]


def talk(bot, messages):
    dialog, turns = bot.start(), []
    for message in messages:
        turns.append(bot.answer(dialog, message))
        dialog = turns[-1].dialog
    return turns


def test_the_example_talks():
    turns = talk(demo(), TALK)
    assert [turn.category for turn in turns] == [
        "which_car", "new_or_used", "which_configuration", "total_cost", "discount", "contact_left", "ignore",
    ]  # fmt: skip
    assert turns[0].reply == "Which car are you interested in?"
    assert turns[1].reply == "Do you mean a new or a second-hand Tarvo?"
    assert turns[3].reply.startswith("The new Tarvo Sport is about $")
    assert turns[5].message == "call me: [contact]"
    assert [turn.left_contact for turn in turns] == [False] * 5 + [True, False]
    assert turns[-1].reply == ""
    assert "555" not in str(turns)


@given(st.lists(st.booleans(), min_size=22, max_size=22), st.sampled_from([*TALK, ""]))
def test_one_message_is_scored_as_a_table_would_be(row, text):
    """The vocabulary and the weights are applied as scikit-learn applies them."""
    vectorizer = TfidfVectorizer(
        analyzer="char", ngram_range=(1, 3), sublinear_tf=True, lowercase=False, vocabulary=demo().words.grams
    )
    vectorizer.idf_ = demo().words.idf
    design = np.hstack([np.array([row], dtype=float), vectorizer.transform([text]).toarray()])
    expected = softmax(design @ demo().words.weights + demo().words.base, axis=1)[0]
    np.testing.assert_allclose(demo().words.posterior(tuple(row), text), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "message",
    [
        "The brakes of my Tarvo failed on the highway!",
        "smoke is coming out of the dashboard",
        "My airbag went off for no reason",
        "You are liars and thieves",
        "I will see you in court",
        "What a disgrace, nobody ever calls back",
        "I want to order the Tarvo",
    ],
)
def test_danger_anger_and_orders_go_to_a_person(message):
    turn = demo().answer(Dialog(), message)
    assert turn.handover, (turn.category, turn.reply)


def test_below_the_threshold_a_person_answers():
    sure = replace(demo().config, threshold=1.0)
    turn = replace(demo(), config=sure).answer(Dialog(), "How much is a Tarvo?")
    assert turn.handover
    assert turn.reason == "low confidence"
    assert turn.draft == "Do you mean a new or a second-hand Tarvo?"
    assert turn.reply == demo().config.handover
    assert turn.category == "new_or_used"
    asking = demo().answer(Dialog(), "How much is a Tarvo?").confidence  # and others would ask the same
    between = replace(demo(), config=replace(demo().config, threshold=asking + 0.01))
    assert not between.answer(Dialog(), "How much is a Tarvo?").handover
    bold = replace(demo(), config=replace(demo().config, threshold=0.0))
    assert not bold.answer(Dialog(), "How much is a Tarvo?").handover
    assert bold.answer(Dialog(), "x").reason == "not understood"


def test_the_flow_chart_asks_for_what_is_missing():
    bot = bakery()
    assert [turn.reply for turn in talk(bot, ["how much?", "rye", "sliced"])] == [
        "Which bread?", "Sliced or whole rye bread?", "rye bread in slices: 3 coins",
    ]  # fmt: skip
    assert talk(bot, ["how much?", "baguette"])[-1].reply == "baguette: 3 coins"  # it need not be cut


def test_a_saved_bot_is_the_same_bot(tmp_path):
    demo().save(tmp_path / "bot")
    assert {path.name for path in (tmp_path / "bot").iterdir()} == {
        "bot.yaml", "classifier.inb", "words.npz", "meanings.npz", "cars_en_catalogue.csv", "cars_en_plates.csv",
        "cars_en_store.csv", "cars_en_examples.csv",
    }  # fmt: skip
    assert talk(load_bot(tmp_path / "bot"), TALK) == talk(demo(), TALK)
    demo().save(tmp_path / "bot")  # over an earlier bot


def test_replies_may_be_changed_after_training_but_not_features(tmp_path):
    folder = tmp_path / "bot"
    demo().save(folder)
    text = (folder / "bot.yaml").read_text(encoding="utf-8")
    (folder / "bot.yaml").write_text(text.replace("Which car are you", "What car are you"), encoding="utf-8")
    assert talk(load_bot(folder), ["Hi!"])[0].reply == "What car are you interested in?"
    renamed = text.replace("  first: {title", "  start: {title").replace(
        "[other_question, first]", "[other_question, start]"
    )
    (folder / "bot.yaml").write_text(renamed, encoding="utf-8")
    with pytest.raises(InputError, match="do not match the model; train the bot again"):
        load_bot(folder)


def test_folders_that_hold_no_bot(tmp_path):
    with pytest.raises(InputError, match="train one with `noisybayes bot train"):
        load_bot(tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="contains other files than those of a bot"):
        demo().save(tmp_path)
    assert (tmp_path / "notes.txt").read_text() == "mine"
    demo().save(tmp_path / "bot")
    (tmp_path / "bot" / "classifier.inb").write_bytes(b"broken")
    with pytest.raises(InputError, match="not a complete noisybayes model"):
        load_bot(tmp_path / "bot")


def test_the_example_dialogs_are_those_that_the_script_writes(tmp_path, monkeypatch):
    examples = Path(__file__).parents[2] / "examples"
    monkeypatch.setattr("sys.argv", ["make_dialogs.py", "--out", str(tmp_path / "made.csv")])
    monkeypatch.syspath_prepend(examples)
    runpy.run_path(str(examples / "make_dialogs.py"), run_name="__main__")
    assert (tmp_path / "made.csv").read_bytes() == DEMO_DIALOGS.read_bytes()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label": "prise"}, "row 1: the label 'prise' in the column 'label' is not a category .*; did you mean"),
        ({"position": "first"}, "row 1: the position 'first' in the column 'position' is not a number"),
        ({"dialog": None}, "row 1: the column 'dialog' is empty; every message belongs to a dialog"),
    ],
)
def test_tables_that_cannot_be_used(change, message):
    row = {"dialog": "1", "position": "1", "message": "rye", "label": "price"} | change
    with pytest.raises(InputError, match=message):
        train(read_config(SHOP), pd.DataFrame([row]))


def test_columns_that_are_missing():
    config, frame = read_config(SHOP), pd.DataFrame({"dialog": [1], "position": [1], "messages": ["rye"]})
    with pytest.raises(InputError, match="no column 'message' for the message; did you mean 'messages'?"):
        train(config, frame)
    with pytest.raises(InputError, match="there is no label column 'label'"):
        train(config, frame.rename(columns={"messages": "message"}))
    tokens = replace(config, columns=replace(config.columns, tokens=True))
    with pytest.raises(InputError, match="row 1: the column 'message' has 'rye', which is not a Python list of words"):
        train(tokens, frame.rename(columns={"messages": "message"}).assign(label="price"))


def test_a_used_car_is_not_said_to_have_the_version_that_was_asked_for_before():
    found = talk(demo(), ["How much is a new Tarvo Sport?", "is a used one in stock?"])
    assert [turn.reply for turn in found] == [
        "The new Tarvo Sport is about $37,492 on the road, taxes and fees included.",
        "The second-hand Tarvo is in stock.",
    ]
