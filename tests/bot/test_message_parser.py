"""Words, rules and the state of a dialog."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noisybayes.bot import Dialog
from noisybayes.bot.config import read_config
from noisybayes.bot.message_parser import parse_message
from noisybayes.data.errors import InputError

from .shop import SHOP, config_of

CONFIG = read_config(SHOP)
ENGLISH, CHINESE = config_of("en"), config_of("zh")


def fired(config, *messages):
    """The features of the last message."""
    dialog = Dialog()
    for message in messages:
        parsed = parse_message(config, dialog, message)
        dialog = parsed.dialog
    return {name for name, value in zip(config.features, parsed.features, strict=True) if value}


def known(config, *messages):
    dialog = Dialog()
    for message in messages:
        dialog = parse_message(config, dialog, message).dialog
    return dialog.known


@pytest.mark.parametrize(
    ("message", "bread"),
    [
        ("Rye, please", "rye bread"),
        ("RYE  BREAD", "rye bread"),
        ("ｒｙｅ", "rye bread"),
        ("fryer", None),
        ("two baguettes", "baguette"),
        ("minibaguette", None),
    ],
)
def test_words_end_where_letters_end(message, bread):
    assert known(CONFIG, message).get("bread") == bread


def test_conditions_speak_of_this_message_of_earlier_ones_and_of_both():
    assert fired(CONFIG, "How much is rye?") == {"asks_price", "names_bread", "bread_known", "first"}
    assert fired(CONFIG, "rye", "hm") == {"bread_known", "quiet"}
    assert "asks_price" not in fired(CONFIG, "rye")
    assert "asks_price" in fired(CONFIG, "rye", "sliced")  # goes on with what was asked
    assert fired(CONFIG, "me: @baker") == {"first", "contact_given", "quiet"}
    assert "quiet" not in fired(CONFIG, "Rye, sliced!")  # no words but those
    assert "quiet" in fired(CONFIG, "rye for me")


def test_another_bread_forgets_how_it_is_cut_and_the_same_one_does_not():
    assert known(CONFIG, "rye sliced", "hello") == {"bread": "rye bread", "cut": "sliced"}
    assert known(CONFIG, "rye sliced", "rye") == {"bread": "rye bread", "cut": "sliced"}
    assert known(CONFIG, "rye sliced", "baguette") == {"bread": "baguette"}
    assert known(CONFIG, "rye sliced", "baguette whole") == {"bread": "baguette", "cut": "whole"}


@pytest.mark.parametrize(
    ("messages", "features"),
    [
        (["你好"], {"first"}),
        (["奥迪A6多少钱"], {"first", "question", "car_known", "car_in_message", "total_cost_question"}),
        (["A4L", "新车"], {"only_car", "question", "car_known", "new", "total_cost_question"}),
        (["A4L有现车吗", "新车"], {"only_car", "question", "car_known", "new", "availability_question"}),
        (["Q5L40豪华动感裸车多少"], {"first", "question", "car_known", "configuration_known", "new", "car_in_message",
                                    "car_price_question"}),
        (["18年A4有吗"], {"first", "question", "car_known", "used", "car_in_message", "availability_question"}),
        (["你好", "微信号是abc_12345"], {"contact_given", "contact_before"}),
        (["13800138000", "谢谢"], {"contact_before"}),
        (["可以上外地牌照吗"], {"first", "question", "plate_question"}),
    ],
)  # fmt: skip
def test_chinese_messages(messages, features):
    assert fired(CHINESE, *messages) == features


@pytest.mark.parametrize(
    ("language", "message", "car", "condition"),
    [
        ("en", "the Tarvo, new, not used", "Tarvo", "new"),
        ("en", "not a new one, a used Tarvo", "Tarvo", "used"),
        ("en", "I don't want a used Tarvo", "Tarvo", None),
        ("en", "not the Tarvo, a new Velmora", "Velmora", "new"),
        ("en", "a Tarvo with 0 miles", "Tarvo", "new"),
        ("en", "a Tarvo with 30,000 miles", "Tarvo", "used"),
        ("zh", "A4L要新的，不要二手", "A4", "new"),
        ("zh", "不要新车 就二手Q3", "Q3", "used"),
        ("zh", "不要 A4L 要二手Q3", "Q3", "used"),
        ("zh", "0公里的A3", "A3", "new"),
        ("zh", "3.0公里的A3", "A3", "used"),
        ("zh", "10公里的A3", "A3", "used"),
    ],
)
def test_what_is_negated_is_not_meant(language, message, car, condition):
    known = parse_message(config_of(language), Dialog(), message).dialog.known
    assert (known.get("car"), known.get("condition")) == (car, condition)


def test_a_discount_on_a_used_car_does_not_make_it_new():
    used = parse_message(CHINESE, Dialog(), "二手Q3还有吗").dialog
    assert parse_message(CHINESE, used, "能优惠多少").dialog.known["condition"] == "used"
    assert parse_message(CHINESE, Dialog(), "Q3能优惠多少").dialog.known["condition"] == "new"


@given(st.lists(st.text(max_size=60), max_size=6))
def test_reading_is_deterministic_and_the_state_survives_json(messages):
    for config in (ENGLISH, CHINESE):
        dialog = Dialog()
        for n, message in enumerate(messages):
            again = Dialog.from_dict(json.loads(json.dumps(dialog.as_dict())))
            parsed = parse_message(config, dialog, message)
            assert parse_message(config, again, message)[:4] == parsed[:4]
            assert parsed.dialog.messages == n + 1
            assert parsed.dialog.left_contact >= dialog.left_contact
            dialog = parsed.dialog


@pytest.mark.parametrize("stored", [None, [], {}, {"messages": -1, "left_contact": False, "known": {}},
                                    {"messages": 1, "left_contact": 0, "known": {}},
                                    {"messages": 1, "left_contact": True, "known": {"car": 1}}])  # fmt: skip
def test_a_state_that_is_none_is_refused(stored):
    with pytest.raises(InputError, match="this is not a dialog state"):
        Dialog.from_dict(stored)
