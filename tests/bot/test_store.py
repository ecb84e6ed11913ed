"""The contract of the bots' store, on SQLite and on PostgreSQL."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from noisybayes.bot import store as chats
from noisybayes.bot.dialog import Dialog, Turn
from noisybayes.bot.store import Chats, DialogInfo
from noisybayes.web.store import Conflict, Store
from noisybayes.web.store.column_types import now

from ..web.test_store import TEXTS, at_once, cluster, store, store_url

__all__ = ["cluster", "store", "store_url"]  # fixtures


@pytest.fixture
def opened(store: Store) -> Chats:
    assert Chats.open(store) is not Chats.open(store)  # the tables are made once
    return Chats.open(store)


def say(opened: Chats, seen: DialogInfo, message: str = "hello", reason: str = "", **caused: Any) -> DialogInfo:
    state = Dialog(messages=seen.n_turns + 1, known=(("text", message),))
    turn = Turn(state, message, ("greeting",), 0.75, "hi", reason, "", (), "", False)
    opened.add_turn(seen, turn, **caused)
    return opened.dialog(seen.id)


def new(name: str, bot: str = "bot") -> DialogInfo:
    return DialogInfo(name, bot, name, {}, created=now())


@pytest.mark.parametrize(("given", "kept"), TEXTS.items(), ids=range(len(TEXTS)))
def test_texts_of_all_kinds(opened: Chats, given: str, kept: str | None) -> None:
    kept = given if kept is None else kept
    dialog = say(opened, new("d"), given)
    assert (dialog.turns[0].message, dialog.state["known"]["text"]) == (kept, kept)


def test_a_turn_that_comes_too_late(opened: Chats) -> None:
    first = say(opened, new("d"))
    with pytest.raises(Conflict, match="another server answered this person"):
        say(opened, new("d"))
    say(opened, first)
    with pytest.raises(Conflict, match="the dialog 'd' now has other turns; read it again"):
        say(opened, first)
    assert opened.dialog("d").state["messages"] == 2
    assert opened.counts() == (1, 2)


def test_an_event_is_claimed_once_and_again_when_its_sender_is_gone(
    opened: Chats, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        seen = new(name)
        for _ in range(2):
            seen = say(opened, seen, events=[("reply", {})], channels=["webhook", "email"])
    assert opened.claim_events("bot", "email") == []  # replies do not go out by mail
    assert [event.id for event in opened.claim_events("bot", limit=1)] == [1]
    claims = at_once(4, lambda _: opened.claim_events("bot"))
    # the other event of the first dialog waits, so that its order is kept
    assert sorted(event.id for claim in claims for event in claim) == [3, 4, 5, 6]
    opened.record_deliveries([1, 3], [(4, "no", 0.0)], [5, 6])
    again = opened.claim_events("bot")
    assert [(event.id, event.attempts) for event in again] == [(2, 0), (4, 1), (5, 0), (6, 0)]
    opened.record_deliveries([], [], [event.id for event in again])
    monkeypatch.setattr(chats, "CLAIM_LASTS", timedelta(0))
    assert len(opened.claim_events("bot")) == len(opened.claim_events("bot")) == 4


def test_the_weeks_count_what_happened(opened: Chats) -> None:
    seen = say(opened, new("d"), leads=[("secret", "***42")])
    say(opened, seen, reason="order")
    opened.label_turn("d", 1, "ann", "price")
    opened.label_turn("d", 2, "ann", "greeting")
    week = opened.weeks("bot")[0]
    assert (week.answered, week.handed_over, week.leads, week.corrected) == (1, 1, 1, 1)
    assert sum(each.answered for each in opened.weeks("bot")) == 1
    assert opened.labeled("bot") == [("hello", "greeting")]  # of equal messages, the last label counts
    assert opened.contacts() == {1: "secret"}
