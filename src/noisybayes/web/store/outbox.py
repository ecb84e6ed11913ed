"""Events for the webhook, kept until they were taken."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, and_, func, select, update

from .bot_schema import outgoing
from .kinds import now
from .part import Part


class Outgoing(NamedTuple):
    id: int
    bot: str
    dialog_id: str
    kind: str
    body: dict[str, Any]
    attempts: int


class Outbox(Part):
    def due_events(self, bots: list[str], limit: int = 100) -> list[Outgoing]:
        """Of every dialog the oldest event that was not taken, if its time has come: so they arrive in order."""
        first = (
            select(func.min(outgoing.c.id))
            .where(outgoing.c.delivered.is_(False), outgoing.c.bot.in_(bots))
            .group_by(outgoing.c.dialog_id)
        )
        chosen = (
            select(
                outgoing.c.id, outgoing.c.bot, outgoing.c.dialog_id, outgoing.c.kind, outgoing.c.body,
                outgoing.c.attempts,
            )
            .where(outgoing.c.id.in_(first), outgoing.c.due <= now())
            .order_by(outgoing.c.id)
            .limit(limit)
        )  # fmt: skip
        with self._database.read() as connection:
            return [Outgoing(*row) for row in connection.execute(chosen)]

    def settle_events(self, taken: list[int], failed: list[tuple[int, str, float]]) -> None:
        """What became of events that were sent; of the failed ones why, and after how many seconds to try again."""
        if not taken and not failed:
            return
        with self._database.write(durable=False) as connection:
            if taken:
                chosen = update(outgoing).where(outgoing.c.id.in_(taken))
                connection.execute(chosen.values(delivered=True, problem=""))
            for event_id, problem, again_in in failed:
                self._failed(connection, event_id, problem, again_in)

    @staticmethod
    def _failed(connection: Connection, event_id: int, problem: str, again_in: float) -> None:
        values = {
            "attempts": outgoing.c.attempts + 1, "problem": problem[:200], "due": now() + timedelta(seconds=again_in)
        }  # fmt: skip
        connection.execute(update(outgoing).where(outgoing.c.id == event_id).values(values))

    def events_waiting(self) -> tuple[int, str, datetime | None]:
        """How many wait, why the last of them did, and since when the webhook is tried again."""
        waiting = outgoing.c.delivered.is_(False)
        failed = and_(waiting, outgoing.c.attempts > 0)
        last = select(outgoing.c.problem, outgoing.c.due).where(failed).order_by(outgoing.c.due.desc()).limit(1)
        with self._database.read() as connection:
            count = int(connection.execute(select(func.count()).select_from(outgoing).where(waiting)).scalar_one())
            row = connection.execute(last).one_or_none()
        return (count, "", None) if row is None else (count, row.problem, row.due)
