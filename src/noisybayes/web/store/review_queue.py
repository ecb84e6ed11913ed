"""The queue of rows to review."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, exists, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError

from .database import Part, check_name
from .imported_tables import need_table, no_table
from .schema import claim, finding, verdict
from .values import Finding, NotFound, Unavailable

CLAIM_LASTS = timedelta(minutes=3)
_SKEW = timedelta(seconds=5)


class Findings(Part):
    def queue(
        self,
        table_id: int,
        *,
        reviewer: str,
        given: str | None = None,
        suggested: str | None = None,
        suspects_only: bool = True,
        limit: int = 20,
        offset: int = 0,
    ) -> list[Finding]:
        """Rows without a verdict, most suspicious first, except those that another reviewer is looking at."""
        wanted = _wanted(table_id, given, suggested, suspects_only)
        with self._database.read() as connection:
            others = _claimed_by_others(reviewer, self._database.moment(connection))
            chosen = select(finding).where(*wanted, ~has_verdict(), ~others)
            rows = connection.execute(chosen.order_by(finding.c.place).limit(limit).offset(offset))
            return [_finding(row) for row in rows]

    def queue_length(
        self, table_id: int, *, given: str | None = None, suggested: str | None = None, suspects_only: bool = True
    ) -> int:
        """The number of rows without a verdict."""
        wanted = _wanted(table_id, given, suggested, suspects_only)
        with self._database.read() as connection:
            return count(connection, *wanted, ~has_verdict())

    def finding(self, table_id: int, position: int) -> Finding:
        with self._database.read() as connection:
            return need_finding(connection, table_id, position)

    def findings(self, table_id: int) -> list[Finding]:
        """All findings of the latest fit, most suspicious first."""
        chosen = select(finding).where(finding.c.table_id == table_id).order_by(finding.c.place)
        with self._database.read() as connection:
            return [_finding(row) for row in connection.execute(chosen)]

    def claim(self, table_id: int, position: int, reviewer: str) -> None:
        """Record that this reviewer is looking at this row, and at no other row of the table.

        Skipped if the store is busy or cannot be written to: two people seeing the same row does no harm.
        """
        check_name("reviewer", reviewer)
        insert = sqlite.insert if self._database.is_sqlite else postgresql.insert
        try:
            with suppress(Unavailable), self._database.write(durable=False, patient=False) as connection:
                there = {"position": position, "claimed": self._database.moment(connection)}
                added = insert(claim).values(table_id=table_id, reviewer=reviewer, **there)
                connection.execute(added.on_conflict_do_update(index_elements=list(claim.primary_key), set_=there))
        except IntegrityError:
            raise no_table(table_id) from None


def need_finding(connection: Connection, table_id: int, position: int) -> Finding:
    here = (finding.c.table_id == table_id) & (finding.c.position == position)
    row = connection.execute(select(finding).where(here)).one_or_none()
    if row is None:
        need_table(connection, table_id)
        raise NotFound(f"row {position + 1} is not among the findings of the latest fit of table {table_id}")
    return _finding(row)


def has_verdict() -> ColumnElement[bool]:
    """Condition that the row of a finding has a verdict."""
    return exists().where(
        verdict.c.table_id == finding.c.table_id, verdict.c.position == finding.c.position, verdict.c.undone.is_(None)
    )


def count(connection: Connection, *wanted: ColumnElement[bool]) -> int:
    return connection.execute(select(func.count()).select_from(finding).where(*wanted)).scalar_one()


def _wanted(table_id: int, given: str | None, suggested: str | None, suspects_only: bool) -> list[ColumnElement[bool]]:
    wanted = [finding.c.table_id == table_id]
    if suspects_only:
        wanted.append(finding.c.suspect)
    if given is not None:
        wanted.append(finding.c.given == given)
    if suggested is not None:
        wanted.append(finding.c.suggested == suggested)
    return wanted


def _claimed_by_others(reviewer: str, now: datetime) -> ColumnElement[bool]:
    return exists().where(
        claim.c.table_id == finding.c.table_id,
        claim.c.position == finding.c.position,
        claim.c.reviewer != reviewer,
        claim.c.claimed > now - CLAIM_LASTS,
        claim.c.claimed <= now + _SKEW,  # a clock that is set back must not hide a row for long
    )


def _finding(row: Row[Any]) -> Finding:
    return Finding(
        row.position, row.row_id, row.given, row.suggested, row.p_wrong, row.p_suggested, row.suspect, row.shown
    )
