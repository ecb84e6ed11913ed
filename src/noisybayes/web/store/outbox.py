"""Events for the webhook, kept until it accepts them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, func, select, update

from .bot_schema import outgoing
from .column_types import now
from .database import Part

_KEPT = timedelta(days=7)
#: Claimed events can be claimed by other senders after this time, unless their result has been recorded.
CLAIM_LASTS = timedelta(seconds=40)


class Outgoing(NamedTuple):
    id: int
    bot: str
    dialog_id: str
    kind: str
    body: dict[str, Any]
    attempts: int


class Backlog(NamedTuple):
    events: int
    dialogs: int
    attempts: int  # of the oldest event
    problem: str  # why the last attempt failed
    again: datetime | None  # time of the next attempt


class Outbox(Part):
    def due_events(self, bot: str, limit: int = 100) -> list[Outgoing]:
        """The oldest pending events, except those of dialogs in which an event waits for a retry: order is kept."""
        with self._database.read() as connection:
            return _due(connection, bot, now(), limit)

    def claim_events(self, bot: str, limit: int = 100) -> list[Outgoing]:
        """Claim events that are due, so that several servers on one store do not send an event twice."""
        if not self.due_events(bot, 1):  # reading does not block writers
            return []
        with self._database.write(durable=False) as connection:
            self._database.one_at_a_time(connection, "outgoing")
            moment = self._database.moment(connection)
            due = _due(connection, bot, moment, limit)
            _set_due(connection, [event.id for event in due], moment + CLAIM_LASTS)
        return due

    def record_deliveries(self, taken: list[int], failed: list[tuple[int, str, float]], left: list[int]) -> None:
        """Record the results of claimed events; for failed ones, the reason and the seconds until the next attempt.

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
        waiting = outgoing.c.delivered.is_(False)
        chosen = (
            select(outgoing.c.bot, func.count(), func.count(outgoing.c.dialog_id.distinct()), func.min(outgoing.c.id))
            .where(waiting).group_by(outgoing.c.bot)
        )  # fmt: skip
        with self._database.read() as connection:
            by_bot = {}
            for bot, events, dialogs, oldest in connection.execute(chosen):
                row = connection.execute(select(outgoing).where(outgoing.c.id == oldest)).one()
                by_bot[bot] = Backlog(events, dialogs, row.attempts, row.problem, row.due if row.attempts else None)
        return by_bot

    def forget_delivered(self) -> None:
        """Delete events that were accepted some days ago."""
        old = outgoing.c.delivered & (outgoing.c.due < now() - _KEPT)
        with self._database.write(durable=False) as connection:
            connection.execute(delete(outgoing).where(old))


def forget_contact(connection: Connection, dialog_id: str, contact: str) -> None:
    """Events with these contact details, sent or not."""
    ours = (outgoing.c.dialog_id == dialog_id) & (outgoing.c.kind == "lead")
    rows = connection.execute(select(outgoing.c.id, outgoing.c.body).where(ours))
    gone = [row.id for row in rows if row.body.get("contact") == contact]
    connection.execute(delete(outgoing).where(outgoing.c.id.in_(gone)))


def _due(connection: Connection, bot: str, moment: datetime, limit: int) -> list[Outgoing]:
    waiting = outgoing.c.delivered.is_(False)
    blocked = select(outgoing.c.dialog_id).where(waiting, outgoing.c.due > moment)
    chosen = (
        select(*(outgoing.c[name] for name in Outgoing._fields))
        .where(waiting, outgoing.c.bot == bot, outgoing.c.dialog_id.not_in(blocked))
        .order_by(outgoing.c.id)
        .limit(limit)
    )
    return [Outgoing(*row) for row in connection.execute(chosen)]


def _set_due(connection: Connection, ids: list[int], moment: datetime) -> None:
    if ids:
        connection.execute(update(outgoing).where(outgoing.c.id.in_(ids)).values(due=moment))
