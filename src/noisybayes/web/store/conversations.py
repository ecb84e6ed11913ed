"""Conversations with bots: a message, its turn and all its effects are stored in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from .bot_schema import conversation, handover, lead, outgoing, person_reply, received
from .column_types import clean_text, now
from .database import Part, check_name
from .schema import dialog, turn
from .values import ChatTurn, Conflict, DialogInfo, NotFound


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
    def start_dialog(self, dialog_id: str, state: dict[str, Any]) -> None:
        check_name("dialog", dialog_id)
        values = {"id": dialog_id, "state": state, "n_turns": 0, "created": now()}
        try:
            with self._database.write(durable=False) as connection:
                connection.execute(insert(dialog).values(values))
        except IntegrityError:
            raise Conflict(f"the dialog {dialog_id!r} already exists; choose another name") from None

    def dialog(self, dialog_id: str) -> DialogInfo:
        turns = select(turn).where(turn.c.dialog_id == dialog_id).order_by(turn.c.ordinal)
        with self._database.read() as connection:
            row = connection.execute(select(dialog).where(dialog.c.id == dialog_id)).one_or_none()
            if row is None:
                raise _no_dialog(dialog_id)
            return _info(row)._replace(turns=[_turn(one) for one in connection.execute(turns)])

    def add_turn(
        self,
        dialog_id: str,
        *,
        seen: int,
        state: dict[str, Any],
        message: str,
        category: str,
        title: str,
        confidence: float,
        handover: bool,
        reply: str,
        fired: list[str],
        effects: TurnEffects | None = None,
        begins: Conversation | None = None,
    ) -> ChatTurn:
        """Add the turn after the `seen` ones, and the new state; Conflict if other turns were added in the meantime.

        `begins`: the conversation that starts with this turn; Conflict if the person already has one.
        """
        added = ChatTurn(
            seen + 1, clean_text(message), clean_text(category), clean_text(title), float(confidence), bool(handover),
            clean_text(reply), [clean_text(rule) for rule in fired], now(),
        )  # fmt: skip
        try:
            with self._database.write(durable=False) as connection:
                if begins is None:
                    _go_on(connection, dialog_id, seen, state)
                else:
                    values = {"id": dialog_id, "state": state, "n_turns": 1, "created": added.created}
                    connection.execute(insert(dialog).values(values))
                    connection.execute(insert(conversation).values(begins._asdict()))
                connection.execute(insert(turn).values(dialog_id=dialog_id, **added._asdict()))
                if effects is not None:
                    write_effects(connection, dialog_id, seen + 1, effects)
        except IntegrityError:
            raise Conflict("another server answered this person at the same time; send the message again") from None
        return added

    def chat_counts(self) -> tuple[int, int]:
        """Numbers of dialogs and turns."""
        with self._database.read() as connection:
            row = connection.execute(select(func.count(), func.coalesce(func.sum(dialog.c.n_turns), 0))).one()
        return int(row[0]), int(row[1])

    def dialogs(self, limit: int = 50) -> list[DialogInfo]:
        """Newest first, without their turns."""
        newest = select(dialog).order_by(dialog.c.created.desc(), dialog.c.id).limit(limit)
        with self._database.read() as connection:
            return [_info(row) for row in connection.execute(newest)]

    def conversation(self, dialog_id: str, bot: str) -> Conversation:
        """The conversation of a dialog; a new dialog belongs to `bot`."""
        with self._database.read() as connection:
            row = connection.execute(select(conversation).where(conversation.c.dialog_id == dialog_id)).one_or_none()
        return Conversation(dialog_id, bot, dialog_id, False) if row is None else Conversation(*row)

    def incoming(self, bot: str, message_id: str, person: str) -> Incoming:
        """What is known when a message arrives."""
        before = select(received.c.dialog_id, received.c.ordinal).where(
            received.c.bot == bot, received.c.message_id == message_id
        )
        chosen = (
            select(conversation, dialog.c.state, dialog.c.n_turns, dialog.c.created)
            .join(dialog, dialog.c.id == conversation.c.dialog_id)
            .where(conversation.c.bot == bot, conversation.c.person == person)
        )
        with self._database.read() as connection:
            answered = connection.execute(before).one_or_none()
            if answered is not None:
                return Incoming(answered=(answered.dialog_id, answered.ordinal))
            row = connection.execute(chosen).one_or_none()
        if row is None:
            return Incoming()
        *spoken, state, n_turns, created = row
        known = Conversation(*spoken)
        return Incoming(None, known, DialogInfo(known.dialog_id, state, [], created, n_turns))

    def pause(self, dialog_id: str, bot: str, paused: bool) -> None:
        with self._database.write() as connection:
            set_paused(connection, dialog_id, bot, paused)

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


def _go_on(connection: Connection, dialog_id: str, seen: int, state: dict[str, Any]) -> None:
    """The count enforces the order: of two concurrent updates, the second no longer matches the row."""
    own = (dialog.c.id == dialog_id) & (dialog.c.n_turns == seen)
    if connection.execute(update(dialog).where(own).values(state=state, n_turns=seen + 1)).rowcount:
        return
    n_turns = connection.execute(select(dialog.c.n_turns).where(dialog.c.id == dialog_id)).scalar_one_or_none()
    if n_turns is None:
        raise _no_dialog(dialog_id)
    raise Conflict(f"the dialog {dialog_id!r} now has {n_turns} turns, not {seen}; read it again")


def set_paused(connection: Connection, dialog_id: str, bot: str, paused: bool) -> None:
    change = update(conversation).where(conversation.c.dialog_id == dialog_id).values(paused=paused)
    if not connection.execute(change).rowcount:
        begun = Conversation(dialog_id, bot, dialog_id, paused)
        connection.execute(insert(conversation).values(begun._asdict()))


def write_effects(connection: Connection, dialog_id: str, ordinal: int, effects: TurnEffects) -> None:
    """Called within the transaction of the turn, so that a crash leaves all of it or nothing."""
    place = {"bot": effects.bot, "dialog_id": dialog_id}
    if effects.message_id is not None:
        connection.execute(insert(received).values(**place, message_id=effects.message_id, ordinal=ordinal))
    for each in effects.leads:
        values = {**place, "ordinal": ordinal, **each._asdict(), "known": effects.known, "created": now()}
        connection.execute(insert(lead).values(values))
    if effects.reason:
        _hand_over(connection, place, ordinal, effects)
    if effects.reason == "policy":  # a bot must not ask somebody who is angry or in danger which car they like
        set_paused(connection, dialog_id, effects.bot, True)
    for event in effects.events:
        values = {
            **place, "kind": event.kind, "body": event.body | {"ordinal": ordinal}, "attempts": 0, "due": now(),
            "problem": "", "delivered": False,
        }  # fmt: skip
        connection.execute(insert(outgoing).values(values))


def _hand_over(connection: Connection, place: dict[str, Any], ordinal: int, effects: TurnEffects) -> None:
    """A dialog is in the queue once, however much the customer writes."""
    newest = {"ordinal": ordinal, "draft": effects.draft, "changed": now()}
    waiting = (handover.c.dialog_id == place["dialog_id"]) & handover.c.open
    more = update(handover).where(waiting).values(n_messages=handover.c.n_messages + 1, **newest)
    if not connection.execute(more).rowcount:
        opened = {"n_messages": 1, "reason": effects.reason, "open": True, "opened": newest["changed"]}
        connection.execute(insert(handover).values(place | newest | opened))


def _no_dialog(dialog_id: str) -> NotFound:
    return NotFound(f"there is no dialog {dialog_id!r}; start one first")


def _info(row: Row[Any]) -> DialogInfo:
    return DialogInfo(row.id, row.state, [], row.created, row.n_turns)


def _turn(row: Row[Any]) -> ChatTurn:
    return ChatTurn(
        row.ordinal, row.message, row.category, row.title, row.confidence, row.handover, row.reply, row.fired,
        row.created,
    )  # fmt: skip
