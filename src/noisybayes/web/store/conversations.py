"""Conversations with bots: a message, its turn and all its effects are stored in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import bindparam, select, update

from .bot_schema import conversation, handover, lead, outgoing, person_reply, received
from .column_types import now
from .prepared import Direct, Prepared
from .schema import dialog
from .store_part import Part
from .values import DialogInfo


class Conversation(NamedTuple):
    dialog_id: str
    bot: str
    person: str
    paused: bool


class Incoming(NamedTuple):
    """Where a message belongs; all None for the first message of a person."""

    answered: tuple[str, int] | None = None  # dialog and turn, if the message was received before
    conversation: Conversation | None = None
    dialog: DialogInfo | None = None  # without its turns


class Lead(NamedTuple):
    """Contact details in a message; `contact` is encrypted."""

    contact: str
    masked: str


class Event(NamedTuple):
    """An event for the webhook."""

    kind: str
    body: dict[str, Any]


class TurnEffects(NamedTuple):
    """The effects of a message besides its turn."""

    bot: str
    message_id: str | None = None
    leads: Sequence[Lead] = ()
    known: dict[str, str] = {}  # noqa: RUF012 - never changed
    reason: str = ""  # of a handover; "" for none
    draft: str = ""
    events: Sequence[Event] = ()


class Conversations(Part):
    def conversation(self, dialog_id: str, bot: str) -> Conversation:
        """The conversation of a dialog; a new dialog belongs to `bot`."""
        with self._database.read() as connection:
            row = connection.execute(select(conversation).where(conversation.c.dialog_id == dialog_id)).one_or_none()
        return Conversation(dialog_id, bot, dialog_id, False) if row is None else Conversation(*row)

    def incoming(self, bot: str, message_id: str, person: str) -> Incoming:
        """What is known when a message arrives."""
        with self._database.read_directly() as direct:
            before = _BEFORE.row(direct, {"of_bot": bot, "of_message": message_id})
            if before is not None:
                return Incoming(answered=(before[0], before[1]))
            row = _WITH.row(direct, {"of_bot": bot, "of_person": person})
        if row is None:
            return Incoming()
        *spoken, state, n_turns, created = row
        known = Conversation(*spoken)
        return Incoming(None, known, DialogInfo(known.dialog_id, state, [], created, n_turns))

    def pause(self, dialog_id: str, bot: str, paused: bool) -> None:
        with self._database.write() as connection:
            set_paused(Direct.of(connection), dialog_id, bot, paused)

    def person_replies(self, dialog_id: str) -> list[dict[str, Any]]:
        """Replies by people, oldest first."""
        chosen = select(person_reply).where(person_reply.c.dialog_id == dialog_id).order_by(person_reply.c.id)
        with self._database.read() as connection:
            return [dict(row._mapping) for row in connection.execute(chosen)]

    def replies_to(self, bot: str, person: str, after: int) -> list[dict[str, Any]]:
        """Replies by people to a customer, after the reply with this id."""
        chosen = (
            select(person_reply)
            .join(conversation, conversation.c.dialog_id == person_reply.c.dialog_id)
            .where(conversation.c.bot == bot, conversation.c.person == person, person_reply.c.id > after)
            .order_by(person_reply.c.id)
        )
        with self._database.read() as connection:
            return [dict(row._mapping) for row in connection.execute(chosen)]


_RECEIVED, _LEAD, _OUTGOING = Prepared.insert(received), Prepared.insert(lead), Prepared.insert(outgoing)
_CONVERSATION, _HANDOVER = Prepared.insert(conversation), Prepared.insert(handover)
_BEFORE = Prepared(
    select(received.c.dialog_id, received.c.ordinal).where(
        received.c.bot == bindparam("of_bot"), received.c.message_id == bindparam("of_message")
    )
)
_WITH = Prepared(
    select(conversation, dialog.c.state, dialog.c.n_turns, dialog.c.created)
    .join(dialog, dialog.c.id == conversation.c.dialog_id)
    .where(conversation.c.bot == bindparam("of_bot"), conversation.c.person == bindparam("of_person"))
)
_PAUSE = Prepared(
    update(conversation).where(conversation.c.dialog_id == bindparam("of_dialog")).values(paused=bindparam("is_paused"))
)
_WAITS_ON = Prepared(
    update(handover)
    .where(handover.c.dialog_id == bindparam("of_dialog"), handover.c.open)
    .values(
        ordinal=bindparam("last"), draft=bindparam("newest"), changed=bindparam("moment"),
        n_messages=handover.c.n_messages + 1,
    )
)  # fmt: skip


def begin_conversation(direct: Direct, begun: Conversation) -> None:
    _CONVERSATION.run(direct, begun._asdict())


def set_paused(direct: Direct, dialog_id: str, bot: str, paused: bool) -> None:
    if not _PAUSE.run(direct, {"of_dialog": dialog_id, "is_paused": paused}):
        begin_conversation(direct, Conversation(dialog_id, bot, dialog_id, paused))


def write_effects(direct: Direct, dialog_id: str, ordinal: int, effects: TurnEffects) -> None:
    """Called within the transaction of the turn, so that a crash leaves all of it or nothing."""
    place = {"bot": effects.bot, "dialog_id": dialog_id}
    if effects.message_id is not None:
        _RECEIVED.run(direct, {**place, "message_id": effects.message_id, "ordinal": ordinal})
    for each in effects.leads:
        _LEAD.run(direct, {**place, "ordinal": ordinal, **each._asdict(), "known": effects.known, "created": now()})
    if effects.reason:
        _hand_over(direct, place, ordinal, effects)
    if effects.reason == "policy":  # a bot must not ask somebody who is angry or in danger which car they like
        set_paused(direct, dialog_id, effects.bot, True)
    for event in effects.events:
        _OUTGOING.run(
            direct,
            {
                **place, "kind": event.kind, "body": event.body | {"ordinal": ordinal}, "attempts": 0, "due": now(),
                "problem": "", "delivered": False,
            },
        )  # fmt: skip


def _hand_over(direct: Direct, place: dict[str, Any], ordinal: int, effects: TurnEffects) -> None:
    """A dialog is in the queue once, however much the customer writes."""
    moment = now()
    more = {"of_dialog": place["dialog_id"], "last": ordinal, "newest": effects.draft, "moment": moment}
    if not _WAITS_ON.run(direct, more):
        _HANDOVER.run(
            direct,
            {
                **place, "ordinal": ordinal, "draft": effects.draft, "changed": moment, "n_messages": 1,
                "reason": effects.reason, "open": True, "opened": moment,
            },
        )  # fmt: skip
