"""Events are claimed by one sender at a time, and can be claimed again when it does not say what became of them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from noisybayes.web.store import Store
from noisybayes.web.store.conversations import Conversation, Event, TurnEffects

from .made import at_once


@pytest.fixture
def outbox(store: Store) -> Store:
    """Three dialogs with two events each."""
    for dialog in ("a", "b", "c"):
        for seen in range(2):
            store.add_turn(
                dialog, seen=seen, state={}, message="hello", category="", title="", confidence=1.0, handover=False,
                reply="hi", fired=[], effects=TurnEffects("bot", events=[Event("reply", {})]),
                begins=None if seen else Conversation(dialog, "bot", dialog, False),
            )  # fmt: skip
    return store


def test_an_event_is_claimed_once(outbox: Store) -> None:
    claims = at_once(4, lambda _: outbox.claim_events("bot"))
    assert sorted(event.id for claim in claims for event in claim) == [1, 2, 3, 4, 5, 6]
    assert outbox.claim_events("bot") == []


def test_a_dialog_of_which_an_event_is_claimed_keeps_its_order(outbox: Store) -> None:
    first = outbox.claim_events("bot", 1)
    assert [event.id for event in first] == [1]
    assert {event.dialog_id for event in outbox.claim_events("bot")} == {"b", "c"}


def test_what_was_left_or_failed_can_be_claimed_again_and_what_was_taken_cannot(outbox: Store) -> None:
    ids = [event.id for event in outbox.claim_events("bot")]
    outbox.record_deliveries(ids[:2], [(ids[2], "no", 0.0)], ids[3:])
    again = outbox.claim_events("bot")
    assert [(event.id, event.attempts) for event in again] == [(ids[2], 1), *((i, 0) for i in ids[3:])]


def test_the_claim_of_a_sender_that_is_gone_ends(outbox: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noisybayes.web.store.outbox.CLAIM_LASTS", timedelta(0))
    assert len(outbox.claim_events("bot")) == len(outbox.claim_events("bot")) == 6
