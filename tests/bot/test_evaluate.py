"""Evaluation by dialog, on made dialogs and, where they are, on the real ones."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noisybayes.bot.demo import DEMO_DIALOGS
from noisybayes.bot.dialog_tables import read_dialogs, replay
from noisybayes.bot.evaluate import evaluate, splits
from noisybayes.data.errors import InputError

from .shop import config_of

CONFIG = config_of("en")
BOT = "the bot: INB and words, from the text"
ANSWERS = "the bot as it answers, by conditions of categories too"


@given(st.lists(st.integers(0, 8), min_size=2, max_size=40), st.integers(0, 5))
def test_no_dialog_is_in_both_parts_and_no_message_is_lost(numbers, seed):
    dialog = np.array(numbers)
    if len(set(numbers)) < 2:
        with pytest.raises(InputError, match="cannot be split into two parts"):
            list(splits(dialog, 1, seed))
        return
    for train, test in splits(dialog, 3, seed):
        assert not set(dialog[train]) & set(dialog[test])
        assert len(train)
        assert len(test)
        assert sorted([*train, *test]) == list(range(len(dialog)))


@pytest.fixture(scope="module")
def made():
    return evaluate(CONFIG, DEMO_DIALOGS, reps=2, seed=1)


def test_what_is_learned_from_wrong_labels_is_better_than_they_are(made):
    accuracy = {method.name: method.accuracy for method in made.methods}
    assert set(accuracy) == {
        "INB, features from the text", "naive Bayes, features from the text",
        "naive Bayes on true labels, features from the text", "the labels themselves", BOT, ANSWERS,
    }  # fmt: skip
    assert accuracy["INB, features from the text"] > accuracy["the labels themselves"] + 0.04
    assert made.agreements == ()
    assert made.against == "true labels"


def test_the_parts_of_an_evaluation_fit_together(made):
    total = made.confusion.sum()
    assert sum(row.messages for row in made.per_category) == total
    everything = made.answered[0]
    assert everything.threshold == 0.0
    assert everything.share == 1.0
    assert everything.accuracy == pytest.approx(np.trace(made.confusion) / total)
    shares = [row.share for row in made.answered]
    assert shares == sorted(shares, reverse=True)
    assert CONFIG.threshold in [row.threshold for row in made.answered]
    assert json.loads(json.dumps(made.as_dict()))["reps"] == 2


def test_the_order_of_rows_does_not_matter():
    frame = pd.read_csv(DEMO_DIALOGS, dtype=str)
    rows = []
    for table in (frame, frame.sample(frac=1, random_state=0)):
        found = read_dialogs(CONFIG, table)
        names = table["dialog"].drop_duplicates().to_numpy()[found.dialog]
        rows.append(sorted(zip(names, found.messages, replay(CONFIG, found).features.tolist(), strict=True)))
    assert rows[0] == rows[1]


def test_features_that_the_table_gives_are_compared_and_true_labels_may_be_missing():
    frame = pd.read_csv(DEMO_DIALOGS, dtype=str).drop(columns="true_label")
    frame = frame[frame["dialog"].isin(frame["dialog"].unique()[:80])]
    given = replay(CONFIG, read_dialogs(CONFIG, frame)).features
    frame = frame.assign(**{name: given[:, j] for j, name in enumerate(CONFIG.features)})
    frame["question"] = 1 - frame["question"]
    found = evaluate(CONFIG, frame, reps=1)
    assert found.against == "labels"
    assert len(found.agreements) == 22
    assert (found.agreements[0].feature, found.agreements[0].agreement) == ("question", 0.0)
    assert {row.agreement for row in found.agreements[1:]} == {1.0}
    assert [method.name for method in found.methods] == [
        "INB, given features", "naive Bayes, given features", "INB, features from the text",
        "naive Bayes, features from the text", BOT, ANSWERS,
    ]  # fmt: skip
    assert evaluate(CONFIG, frame, reps=1).as_dict() == found.as_dict()
