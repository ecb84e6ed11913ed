"""The store of the bots: a message, its turn and everything it causes are written in one transaction."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple

from sqlalchemy import JSON, Boolean, Column, Connection, Double, ForeignKey, Index, Integer, MetaData  # isort: skip
from sqlalchemy import Row, Table, delete, func, insert, select, text, update  # isort: skip
from sqlalchemy.exc import IntegrityError

from ..web.store import Conflict, NotFound, Store
from ..web.store.column_types import Moment, Words, now
from ..web.store.database import Part
from .dialog import Turn

metadata = MetaData()


def _table(name: str, *keys: Column[Any], **columns: Any) -> Table:
    """Columns are never null; a number of its own if there are no keys."""
    own = keys or (Column("id", Integer, primary_key=True),)
    rest = [Column(column, kind, nullable=False) for column, kind in columns.items()]
    return Table(name, metadata, *own, *rest, sqlite_autoincrement=not keys)


def _dialog() -> Column[str]:
    return Column("dialog_id", Words, ForeignKey("dialog.id", ondelete="CASCADE"), primary_key=True)


def _ordinal() -> Column[int]:
    return Column("ordinal", Integer, primary_key=True, autoincrement=False)


# `person` is the channel's name for the customer, or the id of the dialog; `paused`: the bot is silent until a person
# has answered; `no_contact`: the customer does not want to be contacted
dialog = _table(
    "dialog", Column("id", Words, primary_key=True), bot=Words, person=Words, state=JSON, n_turns=Integer,
    paused=Boolean, no_contact=Boolean, created=Moment,
)  # fmt: skip
# contact details in messages are masked; `reason`: why people must know, "" if they need not
turn = _table(
    "turn", _dialog(), _ordinal(), message=Words, topics=JSON, confidence=Double, reason=Words, reply=Words,
    created=Moment,
)  # fmt: skip
# a message that a channel sends twice is answered once
received = _table(
    "received", Column("bot", Words, primary_key=True), Column("message_id", Words, primary_key=True),
    dialog_id=Words, ordinal=Integer,
)  # fmt: skip
# `contact` is encrypted, `known` are the slots
lead = _table(
    "lead", bot=Words, dialog_id=Words, ordinal=Integer, contact=Words, masked=Words, known=JSON, created=Moment
)
# `ordinal` is the last turn that waits
handover = _table(
    "handover", bot=Words, dialog_id=Words, ordinal=Integer, n_messages=Integer, reason=Words, draft=Words,
    open=Boolean, opened=Moment, changed=Moment,
)  # fmt: skip
# answers of people to a turn
person_reply = _table("person_reply", dialog_id=Words, ordinal=Integer, reviewer=Words, reply=Words, created=Moment)
# topics given by people; the last one counts; `corrects`: the bot had found another
turn_label = _table("turn_label", _dialog(), _ordinal(), reviewer=Words, label=Words, corrects=Boolean, created=Moment)
# events, kept until the webhook or the mail server has accepted them
outgoing = _table(
    "outgoing", bot=Words, channel=Words, dialog_id=Words, kind=Words, body=JSON, attempts=Integer, due=Moment,
    problem=Words, delivered=Boolean,
)  # fmt: skip

Index("one_dialog", dialog.c.bot, dialog.c.person, unique=True)
Index("one_open_handover", handover.c.dialog_id, unique=True, sqlite_where=text("open"), postgresql_where=text("open"))
Index("outgoing_waiting", outgoing.c.delivered, outgoing.c.id)
Index("outgoing_due", outgoing.c.delivered, outgoing.c.due)  # few of many events wait for a retry
for column in (dialog.c.created, turn.c.created, lead.c.dialog_id, person_reply.c.dialog_id, outgoing.c.dialog_id):
    Index(f"{column.table.name}_by_{column.name}", column)

Order = Literal["newest", "hottest"]
Events = Sequence[tuple[str, dict[str, Any]]]
#: Claimed events can be claimed by other senders after this time, unless their result has been recorded.
CLAIM_LASTS = timedelta(seconds=40)
_KEPT, _WEEKS = timedelta(days=7), 8
_SAME_TURN = (turn_label.c.dialog_id == turn.c.dialog_id) & (turn_label.c.ordinal == turn.c.ordinal)
_HAS_LEAD = select(lead.c.id).where(lead.c.dialog_id == handover.c.dialog_id).exists().label("has_lead")
_HANDOVERS = select(handover, _HAS_LEAD, dialog.c.no_contact).join(dialog, dialog.c.id == handover.c.dialog_id)


@dataclass(frozen=True)
class ChatTurn:
    ordinal: int  # from 1
    message: str  # contact details masked
    topics: list[str]
    confidence: float
    reason: str  # why people were told; "" if they were not
    reply: str
    created: datetime


@dataclass(frozen=True)
class DialogInfo:
    id: str
    bot: str
    person: str
    state: dict[str, Any]
    n_turns: int = 0
    paused: bool = False
    no_contact: bool = False
    created: datetime | None = None
    turns: Sequence[ChatTurn] = ()  # empty if they are not loaded

    @classmethod
    def new(cls, bot: str, person: str | None, state: dict[str, Any]) -> DialogInfo:
        name = secrets.token_urlsafe(12)
        return cls(name, bot, person or name, state, created=now())


@dataclass(frozen=True)
class LeadInfo:
    id: int
    bot: str
    dialog_id: str
    masked: str | None  # end of the contact details; None for roles below salesperson
    known: dict[str, str]
    created: datetime
    no_contact: bool  # the customer does not want to be contacted


@dataclass(frozen=True)
class HandoverInfo:
    id: int
    bot: str
    dialog_id: str
    ordinal: int  # the last turn that waits; sent as `seen` with an answer
    n_messages: int
    reason: str
    draft: str
    open: bool
    opened: datetime
    changed: datetime
    has_lead: bool
    no_contact: bool


@dataclass(frozen=True)
class Week:
    begin: datetime
    answered: int
    handed_over: int
    leads: int
    corrected: int  # messages to which people gave another topic than the bot


class Outgoing(NamedTuple):
    id: int
    bot: str
    dialog_id: str
    kind: str
    body: dict[str, Any]
    attempts: int


@dataclass(frozen=True)
class Backlog:
    """Events that the webhook or the mail server has not accepted yet."""

    bot: str
    events: int = 0
    dialogs: int = 0  # the events of a dialog are sent in order
    attempts: int = 0  # of the oldest event
    problem: str = ""  # why the last attempt failed
    again: datetime | None = None  # time of the next attempt
    folder: str = ""  # why what changed in the folder of the bot cannot be used


class Chats(Part):
    @classmethod
    def open(cls, store: Store) -> Chats:
        """The tables of the bots in an open store; created if needed."""
        with store.database.write() as connection:
            store.database.one_at_a_time(connection, "bots")
            metadata.create_all(connection)
        return cls(store.database)

    # dialogs

    def dialog(self, dialog_id: str) -> DialogInfo:
        turns = select(turn).where(turn.c.dialog_id == dialog_id).order_by(turn.c.ordinal)
        with self._database.read() as connection:
            row = connection.execute(select(dialog).where(dialog.c.id == dialog_id)).one_or_none()
            if row is None:
                raise NotFound(f"there is no dialog {dialog_id!r}; start one first")
            return replace(_info(row), turns=[ChatTurn(*each[1:]) for each in connection.execute(turns)])

    def incoming(self, bot: str, message_id: str, person: str) -> tuple[tuple[str, int] | None, DialogInfo | None]:
        """The dialog and turn that answered this message already, and the dialog of the person."""
        before = select(received.c.dialog_id, received.c.ordinal)
        before = before.where(received.c.bot == bot, received.c.message_id == message_id)
        chosen = select(dialog).where(dialog.c.bot == bot, dialog.c.person == person)
        with self._database.read() as connection:
            answered = connection.execute(before).one_or_none()
            row = connection.execute(chosen).one_or_none() if answered is None else None
        return None if answered is None else (answered[0], answered[1]), None if row is None else _info(row)

    def add_turn(
        self, seen: DialogInfo, said: Turn, message_id: str | None = None, leads: Sequence[tuple[str, str]] = (),
        events: Events = (), channels: Sequence[str] = (),
    ) -> ChatTurn:  # fmt: skip
        """Add a turn after those that `seen` has, with everything that it causes; Conflict if others were added.

        leads : contact details, encrypted and masked; events : kind and body, for these channels
        """
        added = ChatTurn(
            seen.n_turns + 1, said.message, list(said.topics), said.confidence, said.reason, said.reply, now()
        )
        # a bot must not ask somebody in danger which car they like
        after = {"state": said.dialog.as_dict(), "n_turns": added.ordinal, "no_contact": said.dialog.stop,
                 "paused": seen.paused or said.mutes}  # fmt: skip
        place: dict[str, Any] = {"bot": seen.bot, "dialog_id": seen.id, "ordinal": added.ordinal}
        try:
            with self._database.write(durable=False) as connection:
                same = (dialog.c.id == seen.id) & (dialog.c.n_turns == seen.n_turns)
                if not connection.execute(update(dialog).where(same).values(after)).rowcount:
                    if seen.n_turns:
                        raise Conflict(f"the dialog {seen.id!r} now has other turns; read it again")
                    own = {name: value for name, value in asdict(seen).items() if name != "turns"}
                    connection.execute(insert(dialog).values(own | after))
                connection.execute(insert(turn).values(dialog_id=seen.id, **asdict(added)))
                if message_id is not None:
                    connection.execute(insert(received).values(place | {"message_id": message_id}))
                for contact, masked in leads:
                    about = {"known": dict(said.dialog.known), "created": added.created}
                    connection.execute(insert(lead).values(place | about | {"contact": contact, "masked": masked}))
                if added.reason:
                    _hand_over(connection, place, added, said)
                _send(connection, place, events, channels)
        except IntegrityError:
            raise Conflict("another server answered this person at the same time; send the message again") from None
        return added

    def counts(self) -> tuple[int, int]:
        """Numbers of dialogs and turns."""
        with self._database.read() as connection:
            row = connection.execute(select(func.count(), func.coalesce(func.sum(dialog.c.n_turns), 0))).one()
        return int(row[0]), int(row[1])

    def dialogs(self, limit: int = 50) -> list[DialogInfo]:
        """Newest first, without their turns."""
        with self._database.read() as connection:
            rows = connection.execute(select(dialog).order_by(dialog.c.created.desc()).limit(limit))
            return [_info(row) for row in rows]

    def replies(self, after: int = 0, **of: str) -> list[dict[str, Any]]:
        """Replies by people after the one with this id, in a dialog (`id=`) or to a customer (`bot=`, `person=`)."""
        chosen = select(person_reply).join(dialog, dialog.c.id == person_reply.c.dialog_id)
        chosen = chosen.where(person_reply.c.id > after, *(dialog.c[name] == value for name, value in of.items()))
        with self._database.read() as connection:
            return [dict(row._mapping) for row in connection.execute(chosen.order_by(person_reply.c.id))]

    def weeks(self, bot: str) -> list[Week]:
        """What happened in each of the last weeks, the newest first."""
        today = now().replace(hour=0, minute=0, second=0, microsecond=0)
        turns, labels = (
            select(func.count()).select_from(table.join(dialog)).where(dialog.c.bot == bot)
            for table in (turn, turn_label)
        )  # fmt: skip
        wanted = (
            (turns.where(turn.c.reason == ""), turn.c.created),
            (turns.where(turn.c.reason != ""), turn.c.created),
            (select(func.count()).select_from(lead).where(lead.c.bot == bot), lead.c.created),
            (labels.where(turn_label.c.corrects), turn_label.c.created),
        )
        found = []
        with self._database.read() as connection:
            for number in range(_WEEKS):
                begin = today - timedelta(days=today.weekday(), weeks=number)
                queries = (query.where(when >= begin, when < begin + timedelta(weeks=1)) for query, when in wanted)
                found.append(Week(begin, *(int(connection.execute(query).scalar_one()) for query in queries)))
        return found

    # leads and handovers

    def leads(self, bot: str | None = None, limit: int = 200, after: int = 0) -> list[LeadInfo]:
        """Newest first; with `after`, those with a larger id, oldest first."""
        columns = lead.c.id, lead.c.bot, lead.c.dialog_id, lead.c.masked, lead.c.known, lead.c.created
        chosen = select(*columns, dialog.c.no_contact).join(dialog, dialog.c.id == lead.c.dialog_id).limit(limit)
        chosen = chosen.where(lead.c.id > after).order_by(lead.c.id) if after else chosen.order_by(lead.c.id.desc())
        if bot is not None:
            chosen = chosen.where(lead.c.bot == bot)
        with self._database.read() as connection:
            return [LeadInfo(*row) for row in connection.execute(chosen)]

    def contacts(self) -> dict[int, str]:
        """Encrypted contact details by lead."""
        with self._database.read() as connection:
            return {row.id: row.contact for row in connection.execute(select(lead.c.id, lead.c.contact))}

    def remove_lead(self, lead_id: int) -> None:
        """Delete a lead (a customer asked to be forgotten) and all events with its contact details."""
        with self._database.write() as connection:
            chosen = select(lead.c.dialog_id, lead.c.contact).where(lead.c.id == lead_id)
            row = connection.execute(chosen).one_or_none()
            if row is None:
                raise NotFound(f"there is no lead {lead_id}; it may have been removed")
            connection.execute(delete(lead).where(lead.c.id == lead_id))
            ours = (outgoing.c.dialog_id == row.dialog_id) & (outgoing.c.kind == "lead")
            events = connection.execute(select(outgoing.c.id, outgoing.c.body).where(ours))
            gone = [event.id for event in events if event.body.get("contact") == row.contact]
            connection.execute(delete(outgoing).where(outgoing.c.id.in_(gone)))

    def handovers(self, order: Order = "newest", limit: int = 100, bot: str | None = None) -> list[HandoverInfo]:
        """Open handovers; the hottest are danger, contact details, and many messages."""
        chosen = _HANDOVERS.where(handover.c.open).limit(limit)
        if bot is not None:
            chosen = chosen.where(handover.c.bot == bot)
        hot = [dialog.c.paused.desc(), _HAS_LEAD.desc(), handover.c.n_messages.desc()] if order == "hottest" else []
        with self._database.read() as connection:
            rows = connection.execute(chosen.order_by(*hot, handover.c.changed.desc(), handover.c.id.desc()))
            return [HandoverInfo(*row) for row in rows]

    def handover(self, handover_id: int) -> HandoverInfo:
        with self._database.read() as connection:
            row = connection.execute(_HANDOVERS.where(handover.c.id == handover_id)).one_or_none()
        if row is None:
            raise NotFound(f"there is no handover {handover_id}; reload the queue")
        return HandoverInfo(*row)

    def queue(self) -> tuple[int, str]:
        """How many dialogs wait, and when the queue changed last."""
        chosen = select(func.count(), func.max(handover.c.changed)).where(handover.c.open)
        with self._database.read() as connection:
            waiting, changed = connection.execute(chosen).one()
        return int(waiting), str(changed or "")

    def close_handover(
        self, handover_id: int, *, seen: int, reviewer: str, reply: str, paused: bool, channels: Sequence[str] = ()
    ) -> None:
        """Store a person's answer ("" for none). Conflict if somebody else was first or there is a new message."""
        opened = self.handover(handover_id)
        still = (handover.c.id == handover_id) & handover.c.open & (handover.c.ordinal == seen)
        own = dialog.c.id == opened.dialog_id
        with self._database.write() as connection:
            if not connection.execute(update(handover).where(still).values(open=False, changed=now())).rowcount:
                raise Conflict("somebody else has answered this dialog, or it has a new message; read it again")
            if reply:
                values = {"dialog_id": opened.dialog_id, "ordinal": seen, "reviewer": reviewer, "reply": reply}
                connection.execute(insert(person_reply).values(**values, created=now()))
                person = connection.execute(select(dialog.c.person).where(own)).scalar_one()
                place = {"bot": opened.bot, "dialog_id": opened.dialog_id, "ordinal": seen}
                _send(connection, place, [("reply", {"person": person, "reply": reply, "by": "person"})], channels)
            connection.execute(update(dialog).where(own).values(paused=paused))

    # labels

    def unlabeled(self, below: float, limit: int = 20) -> Sequence[Any]:
        """Unlabeled turns for which people must know, or with a confidence less than `below`; least confident first."""
        chosen = (
            select(turn.c.dialog_id, turn.c.ordinal, dialog.c.bot, turn.c.message, turn.c.topics)
            .join(dialog, dialog.c.id == turn.c.dialog_id)
            .outerjoin(turn_label, _SAME_TURN)
            .where(turn_label.c.ordinal.is_(None), (turn.c.reason != "") | (turn.c.confidence < below))
            .order_by(turn.c.confidence, turn.c.dialog_id, turn.c.ordinal)
            .limit(limit)
        )
        with self._database.read() as connection:
            return connection.execute(chosen).all()

    def label_turn(self, dialog_id: str, ordinal: int, reviewer: str, label: str) -> str:
        """Returns the message."""
        own = (turn_label.c.dialog_id == dialog_id) & (turn_label.c.ordinal == ordinal)
        said = select(turn.c.message, turn.c.topics).where(turn.c.dialog_id == dialog_id, turn.c.ordinal == ordinal)
        with self._database.write() as connection:
            row = connection.execute(said).one_or_none()
            if row is None:
                raise NotFound(f"the dialog {dialog_id!r} has no turn {ordinal}; reload the queue")
            values = {"reviewer": reviewer, "label": label, "corrects": label not in row.topics, "created": now()}
            if not connection.execute(update(turn_label).where(own).values(values)).rowcount:
                connection.execute(insert(turn_label).values(dialog_id=dialog_id, ordinal=ordinal, **values))
        return str(row.message)

    def labeled(self, bot: str) -> list[tuple[str, str]]:
        """Messages of a bot with their labels, oldest first; of equal messages, the last label counts."""
        chosen = select(turn.c.message, turn_label.c.label).join(turn_label, _SAME_TURN)
        chosen = chosen.join(dialog, dialog.c.id == turn.c.dialog_id).where(dialog.c.bot == bot)
        with self._database.read() as connection:
            return list({row[0]: row[1] for row in connection.execute(chosen.order_by(turn_label.c.created))}.items())

    # the outbox

    def due_events(self, bot: str, channel: str = "webhook", limit: int = 100) -> list[Outgoing]:
        """The oldest pending events, except those of dialogs in which an event waits for a retry: order is kept."""
        with self._database.read() as connection:
            return _due(connection, bot, channel, now(), limit)

    def claim_events(self, bot: str, channel: str = "webhook", limit: int = 100) -> list[Outgoing]:
        """Claim events that are due, so that several servers on one store do not send an event twice."""
        if not self.due_events(bot, channel, 1):  # reading does not block writers
            return []
        with self._database.write(durable=False) as connection:
            self._database.one_at_a_time(connection, "outgoing")
            moment = self._database.moment(connection)
            due = _due(connection, bot, channel, moment, limit)
            _set_due(connection, [event.id for event in due], moment + CLAIM_LASTS)
        return due

    def record_deliveries(self, taken: list[int], failed: list[tuple[int, str, float]], left: list[int]) -> None:
        """The results of claimed events; for failed ones, the reason and the seconds until the next attempt.

        Events in `left` were not sent and can be claimed again.
        """
        with self._database.write(durable=False) as connection:
            moment = self._database.moment(connection)
            if taken:
                chosen = update(outgoing).where(outgoing.c.id.in_(taken))
                connection.execute(chosen.values(delivered=True, problem="", due=moment))
            for event_id, problem, again_in in failed:
                again = {"problem": problem[:200], "due": moment + timedelta(seconds=again_in)}
                change = update(outgoing).where(outgoing.c.id == event_id)
                connection.execute(change.values(attempts=outgoing.c.attempts + 1, **again))
            _set_due(connection, left, moment)

    def backlog(self) -> dict[str, Backlog]:
        """Pending events by bot."""
        dialogs = func.count(outgoing.c.dialog_id.distinct())
        chosen = select(outgoing.c.bot, func.count(), dialogs, func.min(outgoing.c.id)).group_by(outgoing.c.bot)
        by_bot = {}
        with self._database.read() as connection:
            for bot, events, n_dialogs, oldest in connection.execute(chosen.where(outgoing.c.delivered.is_(False))):
                row = connection.execute(select(outgoing).where(outgoing.c.id == oldest)).one()
                again = row.due if row.attempts else None
                by_bot[bot] = Backlog(bot, events, n_dialogs, row.attempts, row.problem, again)
        return by_bot

    def forget_delivered(self) -> None:
        """Delete events that were accepted some days ago."""
        with self._database.write(durable=False) as connection:
            connection.execute(delete(outgoing).where(outgoing.c.delivered & (outgoing.c.due < now() - _KEPT)))


def _info(row: Row[Any]) -> DialogInfo:
    return DialogInfo(**row._mapping)


def _hand_over(connection: Connection, place: dict[str, Any], added: ChatTurn, said: Turn) -> None:
    """A dialog is in the queue once, however much the customer writes."""
    newest = {"ordinal": added.ordinal, "draft": said.draft, "changed": added.created}
    newest |= {"reason": added.reason} if said.mutes else {}
    waiting = (handover.c.dialog_id == place["dialog_id"]) & handover.c.open
    more = update(handover).where(waiting).values(n_messages=handover.c.n_messages + 1, **newest)
    if not connection.execute(more).rowcount:
        opened = {"n_messages": 1, "reason": added.reason, "open": True, "opened": added.created}
        connection.execute(insert(handover).values(place | opened | newest))


def _send(connection: Connection, place: dict[str, Any], events: Events, channels: Sequence[str]) -> None:
    """To the webhook, and all but the replies by e-mail."""
    rest = {"bot": place["bot"], "dialog_id": place["dialog_id"], "attempts": 0, "problem": "", "delivered": False}
    rows = [
        {**rest, "channel": channel, "kind": kind, "body": body | {"ordinal": place["ordinal"]}, "due": now()}
        for kind, body in events for channel in channels if channel == "webhook" or kind != "reply"
    ]  # fmt: skip
    if rows:
        connection.execute(insert(outgoing), rows)


def _due(connection: Connection, bot: str, channel: str, moment: datetime, limit: int) -> list[Outgoing]:
    waiting = outgoing.c.delivered.is_(False) & (outgoing.c.channel == channel)
    blocked = select(outgoing.c.dialog_id).where(waiting, outgoing.c.due > moment)
    chosen = select(*(outgoing.c[name] for name in Outgoing._fields)).order_by(outgoing.c.id).limit(limit)
    chosen = chosen.where(waiting, outgoing.c.bot == bot, outgoing.c.dialog_id.not_in(blocked))
    return [Outgoing(*row) for row in connection.execute(chosen)]


def _set_due(connection: Connection, ids: list[int], moment: datetime) -> None:
    if ids:
        connection.execute(update(outgoing).where(outgoing.c.id.in_(ids)).values(due=moment))
