"""Leads, the handover queue, and labels of turns for training."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, NamedTuple

from sqlalchemy import delete, insert, select, update

from .bot_schema import conversation, handover, lead, person_reply, turn_label
from .column_types import now
from .conversations import Event, TurnEffects, set_paused, write_effects
from .database import Part
from .outbox import forget_contact
from .schema import turn
from .values import Conflict, NotFound

Order = Literal["newest", "hottest"]


class LeadInfo(NamedTuple):
    id: int
    bot: str
    dialog_id: str
    contact: str  # encrypted
    masked: str
    known: dict[str, str]
    created: datetime


class HandoverInfo(NamedTuple):
    id: int
    bot: str
    dialog_id: str
    ordinal: int
    n_messages: int
    reason: str
    draft: str
    open: bool
    opened: datetime
    changed: datetime
    has_lead: bool


class Unlabeled(NamedTuple):
    dialog_id: str
    ordinal: int
    message: str
    category: str
    confidence: float
    handover: bool


class Leads(Part):
    def leads(self, bot: str | None = None, limit: int = 200, after: int = 0) -> list[LeadInfo]:
        """Newest first; with `after`, those with a larger id, oldest first."""
        chosen = select(
            lead.c.id, lead.c.bot, lead.c.dialog_id, lead.c.contact, lead.c.masked, lead.c.known, lead.c.created
        ).limit(limit)
        chosen = chosen.where(lead.c.id > after).order_by(lead.c.id) if after else chosen.order_by(lead.c.id.desc())
        if bot is not None:
            chosen = chosen.where(lead.c.bot == bot)
        with self._database.read() as connection:
            return [LeadInfo(*row) for row in connection.execute(chosen)]

    def remove_lead(self, lead_id: int) -> None:
        """Delete a lead (a customer asked to be forgotten) and all webhook events with its contact details."""
        with self._database.write() as connection:
            chosen = select(lead.c.dialog_id, lead.c.contact).where(lead.c.id == lead_id)
            row = connection.execute(chosen).one_or_none()
            if row is None:
                raise NotFound(f"there is no lead {lead_id}; it may have been removed")
            connection.execute(delete(lead).where(lead.c.id == lead_id))
            forget_contact(connection, row.dialog_id, row.contact)

    def handovers(self, order: Order = "newest", limit: int = 100, bot: str | None = None) -> list[HandoverInfo]:
        """Open handovers; the hottest are those with contact details, then those with the most waiting messages."""
        hot = [_has_lead().desc(), handover.c.n_messages.desc()] if order == "hottest" else []
        chosen = select(handover, _has_lead()).where(handover.c.open)
        if bot is not None:
            chosen = chosen.where(handover.c.bot == bot)
        chosen = chosen.order_by(*hot, handover.c.changed.desc(), handover.c.id.desc()).limit(limit)
        with self._database.read() as connection:
            return [_handover(row) for row in connection.execute(chosen)]

    def handover(self, handover_id: int) -> HandoverInfo:
        with self._database.read() as connection:
            chosen = select(handover, _has_lead()).where(handover.c.id == handover_id)
            row = connection.execute(chosen).one_or_none()
        if row is None:
            raise NotFound(f"there is no handover {handover_id}; reload the queue")
        return _handover(row)

    def close_handover(
        self, handover_id: int, *, seen: int, reviewer: str, reply: str, label: str | None, paused: bool,
        has_webhook: bool = True,
    ) -> None:  # fmt: skip
        """Store a person's answer ("" for none). Conflict if somebody else was first or there is a new message."""
        opened = self.handover(handover_id)
        still = (handover.c.id == handover_id) & handover.c.open & (handover.c.ordinal == seen)
        with self._database.write() as connection:
            if not connection.execute(update(handover).where(still).values(open=False, changed=now())).rowcount:
                raise Conflict("somebody else has answered this dialog, or it has a new message; read it again")
            if reply:
                values = {"dialog_id": opened.dialog_id, "ordinal": seen, "reviewer": reviewer, "reply": reply}
                connection.execute(insert(person_reply).values(**values, created=now()))
                who = select(conversation.c.person).where(conversation.c.dialog_id == opened.dialog_id)
                person = connection.execute(who).scalar_one_or_none() or opened.dialog_id
                body = {"person": person, "reply": reply, "by": "person"}
                effects = TurnEffects(opened.bot, events=[Event("reply", body)] if has_webhook else [])
                write_effects(connection, opened.dialog_id, seen, effects)
            if label is not None:
                _set_label(connection, opened.dialog_id, seen, reviewer, label)
            set_paused(connection, opened.dialog_id, opened.bot, paused)

    # labels for training

    def unlabeled(self, below: float, limit: int = 20) -> list[Unlabeled]:
        """Unlabeled turns that were handed over or have a confidence less than `below`; least confident first."""
        chosen = (
            select(
                turn.c.dialog_id, turn.c.ordinal, turn.c.message, turn.c.category, turn.c.confidence, turn.c.handover
            )
            .outerjoin(
                turn_label, (turn_label.c.dialog_id == turn.c.dialog_id) & (turn_label.c.ordinal == turn.c.ordinal)
            )
            .where(turn_label.c.ordinal.is_(None), turn.c.handover | (turn.c.confidence < below))
            .order_by(turn.c.confidence, turn.c.dialog_id, turn.c.ordinal)
            .limit(limit)
        )
        with self._database.read() as connection:
            return [Unlabeled(*row) for row in connection.execute(chosen)]

    def label_turn(self, dialog_id: str, ordinal: int, reviewer: str, label: str) -> None:
        with self._database.write() as connection:
            there = select(turn.c.ordinal).where((turn.c.dialog_id == dialog_id) & (turn.c.ordinal == ordinal))
            if connection.execute(there).one_or_none() is None:
                raise NotFound(f"the dialog {dialog_id!r} has no turn {ordinal}; reload the queue")
            _set_label(connection, dialog_id, ordinal, reviewer, label)

    def labeled_dialogs(self, bot: str) -> list[tuple[str, int, str, str | None]]:
        """Dialog, turn, message and label (if any) from all dialogs of a bot with at least one label."""
        ours = select(turn_label.c.dialog_id).distinct()
        foreign = select(conversation.c.dialog_id).where(conversation.c.bot != bot)
        chosen = (
            select(turn.c.dialog_id, turn.c.ordinal, turn.c.message, turn_label.c.label)
            .outerjoin(
                turn_label, (turn_label.c.dialog_id == turn.c.dialog_id) & (turn_label.c.ordinal == turn.c.ordinal)
            )
            .where(turn.c.dialog_id.in_(ours), turn.c.dialog_id.not_in(foreign))
            .order_by(turn.c.dialog_id, turn.c.ordinal)
        )
        with self._database.read() as connection:
            return [(row[0], row[1], row[2], row[3]) for row in connection.execute(chosen)]


def _has_lead() -> Any:
    return select(lead.c.id).where(lead.c.dialog_id == handover.c.dialog_id).exists().label("has_lead")


def _handover(row: Any) -> HandoverInfo:
    return HandoverInfo(**row._mapping)


def _set_label(connection: Any, dialog_id: str, ordinal: int, reviewer: str, label: str) -> None:
    own = (turn_label.c.dialog_id == dialog_id) & (turn_label.c.ordinal == ordinal)
    values = {"reviewer": reviewer, "label": label, "created": now()}
    if not connection.execute(update(turn_label).where(own).values(values)).rowcount:
        connection.execute(insert(turn_label).values(dialog_id=dialog_id, ordinal=ordinal, **values))
