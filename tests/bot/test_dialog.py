"""Dialogs: questions for what is missing, several questions at once, promises, and what is kept in mind."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from noisybayes.bot import Bot, Dialog, demo_bot, load_bot
from noisybayes.bot.contacts import MASK
from noisybayes.data.errors import InputError

from .shop import bakery_config, demo

OPEN = datetime(2026, 11, 20, 17, tzinfo=UTC)  # a Friday noon in Ohio
CLOSED = datetime(2026, 11, 21, 23, 30, tzinfo=UTC)  # Saturday evening


def talk(*messages, bot=None, **options):
    dialog, turns = Dialog(), []
    for message in messages:
        turn = (bot or demo()).answer(dialog, message, **{"now": OPEN} | options)
        dialog = turn.dialog
        turns.append(turn)
    return turns


def replies(*messages, **options):
    return [turn.reply for turn in talk(*messages, **options)]


def test_it_asks_for_what_the_answer_depends_on():
    asked = replies("How much is the Tarvo?", "a new one", "Sport")
    assert asked[0] == "Do you mean a new or a second-hand Tarvo?"
    assert asked[1] == "Which version of the Tarvo: Touring, Sport, Comfort, Classic, Premium, Limited?"
    assert asked[2] == "The new Tarvo Sport is about $37,492 on the road, taxes and fees included."
    assert replies("A4L落地多少", "二手") == [
        "A4您要新车还是二手车？",
        "二手A4落地14.8万左右。",
    ]  # no version: its price has none


def test_the_language_is_that_of_the_message():
    assert replies("how much is a used A4L?", "优惠多少")[1] == "二手A4目前优惠2个点。"


def test_a_digression_does_not_end_the_question():
    turns = talk("how much is the new Kestira", "does it have a sunroof", "the second one", "what about the Velmora")
    assert [turn.topics for turn in turns] == [("price",), ("other",), ("price",), ("price",)]
    assert turns[2].reply.startswith("The new Kestira Sport is about")
    assert talk("二手Q5L")[0].dialog.language == "zh"
    assert replies("Tarvo多少钱", "新车 Sport")[1] == "新车Tarvo Sport落地26.6万左右。"


def test_several_questions_are_answered_in_turn():
    (turn,) = talk("How much is the new Tarvo Sport, and is it in stock?")
    assert turn.topics == ("price", "availability")
    assert turn.reply.endswith("fees included. The new Tarvo Sport is in stock.")
    assert talk("Tarvo多少钱，能分期吗", "新车", "Sport")[-1].topics == ("price",)
    first, second = talk("how much is the used Tarvo or the used Velmora?", "thanks")
    assert "$21,586" in first.reply
    assert "$28,862" in first.reply
    assert second.dialog.topics == ("price",)


def test_a_slot_that_does_not_go_with_the_others_is_not_mentioned():
    assert replies("how much is a new Tarvo Sport", "and a used one?")[1].startswith("The second-hand Tarvo is about")


def test_what_is_not_understood_or_not_in_the_catalogue_goes_to_a_person(tmp_path):
    bot = Bot.train(bakery_config(tmp_path))
    for message, reason in (
        ("xyzzy plugh", "not understood"),
        ("allergens in the olive loaf?", "not in the catalogue"),
    ):
        (turn,) = talk(message, bot=bot)
        assert (turn.reason, turn.reply) == (reason, "A colleague will answer you here.")
    (turn,) = talk("how much is a loaf", bot=bot)
    assert turn.reply == "Which bread? (walnut loaf, olive loaf)"


@pytest.mark.parametrize(
    "messages",
    [
        ["I want to speak to a real person"], ["can somebody call me"], ["How much is a new Tarvo?", "614-555-0188"],
        ["Can I pay the Velmora in instalments?"], ["转人工"], ["给我打电话"], ["可以贷款吗", "13800138000"],
        ["I want my deposit back"], ["smoke comes out of my Tarvo"], ["you are crooks"],
    ],
)  # fmt: skip
def test_every_promise_tells_people(messages):
    assert talk(*messages)[-1].handover


def test_outside_opening_hours_a_promise_says_when_the_shop_opens():
    assert "open again on Monday 09:00" in replies("call me please", now=CLOSED)[0]
    assert "周一 09:00" in replies("转人工", now=CLOSED)[0]
    assert "closed" not in replies("call me please")[0]
    assert "closed" not in replies("how much is a used Tarvo", now=CLOSED)[0]


def test_a_contact_is_masked_and_always_acknowledged():
    turns = talk("my brakes failed", "614-555-0188", paused=False)
    assert turns[0].mutes
    after = demo().answer(turns[0].dialog, "call 614-555-0188 now", paused=True, now=OPEN)
    assert (after.message, after.contacts) == (f"call {MASK} now", ("614-555-0188",))
    assert after.reply == "Got it, thank you: a colleague will contact you."
    silent = demo().answer(turns[0].dialog, "how much is a used Tarvo", paused=True, now=OPEN)
    assert (silent.reply, silent.reason) == ("", "a person is talking")


def test_danger_mutes_and_a_complaint_does_not():
    turns = talk("the airbag light is on", "you lied to me", "the guy down the road offered 8 %")
    assert [turn.mutes for turn in turns] == [True, False, False]


def test_who_does_not_want_to_be_contacted_is_not_promised_it():
    turns = talk("please do not call me", "I want to cancel my order", "where are you?")
    assert [turn.dialog.stop for turn in turns] == [True, True, True]
    assert turns[0].reply == "Understood: nobody will contact you."
    assert turns[1].reply == "A colleague will answer you here."
    assert not talk("remove my number 614-555-0188 please, do not call")[0].contacts
    assert not talk("please do not call me", "ok, call me then: 614-555-0188")[-1].dialog.stop


def test_public_comments_get_no_small_talk():
    assert replies("hello everybody", public=True) == [""]
    assert replies("how much is a used Tarvo?", public=True)[0].startswith("The second-hand Tarvo")


def test_what_need_not_be_said_twice():
    answer, question, promise = talk("how much is a used Tarvo?", "and the Velmora? new", "call me")
    assert [answer.is_answer, question.is_answer, promise.is_answer] == [True, False, False]


def test_a_dialog_is_a_value():
    dialog = talk("How much is the Tarvo?")[-1].dialog
    assert Dialog.from_dict(dialog.as_dict()) == dialog
    assert dialog.as_dict()["known"] == {"car": "Tarvo"}
    for broken in ({}, {**dialog.as_dict(), "known": 1}, {**dialog.as_dict(), "messages": "one"}):
        with pytest.raises(InputError, match="this is not a dialog state"):
            Dialog.from_dict(broken)


def test_a_saved_bot_answers_alike_and_a_damaged_one_is_refused(tmp_path):
    bot = Bot.train(bakery_config(tmp_path))
    bot.save(tmp_path / "bot")
    loaded = load_bot(tmp_path / "bot")
    for message in ("how much is rye, whole?", "is there anything with nuts", "bake me a cake"):
        assert talk(message, bot=loaded)[0] == talk(message, bot=bot)[0]
    (tmp_path / "bot" / "vocabulary.json").write_text("[]")
    with pytest.raises(InputError, match="train the bot again"):
        load_bot(tmp_path / "bot")
    with pytest.raises(InputError, match="there is no bot in"):
        load_bot(tmp_path)
    with pytest.raises(InputError, match="contains other files than those of a bot"):
        bot.save(tmp_path)


def test_the_model_of_the_example_is_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first = demo_bot()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Bot, "train", None)  # not needed again
        assert talk("how much is a used Tarvo", bot=demo_bot()) == talk("how much is a used Tarvo", bot=first)
    next(tmp_path.rglob("topics.npz")).write_bytes(b"")
    assert demo_bot().model.topics == first.model.topics
