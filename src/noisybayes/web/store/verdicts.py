"""The queue of rows to review, and the verdicts on them. The log keeps all verdicts; at most one per row is current."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, get_args

from sqlalchemy import ColumnElement, Connection, Row, exists, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError

from .column_types import clean_text, now
from .database import Part, check_name
from .imported_tables import need_table, no_table
from .schema import claim, finding, verdict
from .values import Action, Conflict, Finding, NoLabel, NotFound, ReviewProgress, Unavailable, Verdict

CLAIM_LASTS = timedelta(minutes=3)
_SKEW = timedelta(seconds=5)


class Verdicts(Part):
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
            chosen = select(finding).where(*wanted, ~_has_verdict(), ~others)
            rows = connection.execute(chosen.order_by(finding.c.place).limit(limit).offset(offset))
            return [_finding(row) for row in rows]

    def queue_length(
        self, table_id: int, *, given: str | None = None, suggested: str | None = None, suspects_only: bool = True
    ) -> int:
        """The number of rows without a verdict."""
        wanted = _wanted(table_id, given, suggested, suspects_only)
        with self._database.read() as connection:
            return _count(connection, *wanted, ~_has_verdict())

    def finding(self, table_id: int, position: int) -> Finding:
        with self._database.read() as connection:
            return _need_finding(connection, table_id, position)

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
        insert_or_update = sqlite.insert if self._database.is_sqlite else postgresql.insert
        try:
            with suppress(Unavailable), self._database.write(durable=False, patient=False) as connection:
                there = {"position": position, "claimed": self._database.moment(connection)}
                added = insert_or_update(claim).values(table_id=table_id, reviewer=reviewer, **there)
                connection.execute(added.on_conflict_do_update(index_elements=list(claim.primary_key), set_=there))
        except IntegrityError:
            raise no_table(table_id) from None

    def verdict(self, table_id: int, position: int) -> Verdict | None:
        """The current verdict."""
        with self._database.read() as connection:
            return _in_force(connection, table_id, position)

    def give_verdict(
        self,
        table_id: int,
        position: int,
        *,
        reviewer: str,
        label: str | None = None,
        no_label: NoLabel | None = None,
        seen: int,
        note: str = "",
    ) -> Verdict:
        """Record the true `label`, or why there is none. `seen` : the id of the last known verdict, 0 if none.

        Conflict if another verdict is current by now. The seen verdict is replaced and marked as undone.
        """
        check_name("reviewer", reviewer)
        if (label is None) == (no_label is None):
            raise ValueError("a verdict has either a label or a reason why there is none")
        try:
            with self._database.write() as connection:
                finding_row = _need_finding(connection, table_id, position)
                current = _in_force(connection, table_id, position)
                # two concurrent verdicts may both pass this check; the unique index stops the second
                if (current.id if current else 0) != seen:
                    raise _conflict(position, current)
                moment = now()
                if current and not _mark_undone(connection, current.id, moment):
                    raise _Overtaken
                action = no_label or _action(finding_row, clean_text(label or ""))
                values = {"reviewer": reviewer, "action": action, "label": label or "", "note": note, "created": moment}
                return _add(connection, table_id, finding_row, values)
        except (IntegrityError, _Overtaken):
            with self._database.read() as connection:
                need_table(connection, table_id)  # it may have been removed in the meantime
                raise _conflict(position, _in_force(connection, table_id, position)) from None

    def undo(self, table_id: int, reviewer: str) -> Verdict | None:
        """Undo the reviewer's last current verdict; the row returns to the queue."""
        own = [verdict.c.table_id == table_id, verdict.c.reviewer == reviewer, verdict.c.undone.is_(None)]
        last = select(verdict).where(*own).order_by(verdict.c.id.desc()).limit(1)
        while True:
            with self._database.write() as connection:
                row = connection.execute(last).one_or_none()
                if row is None:
                    return None
                moment = now()
                if _mark_undone(connection, row.id, moment):
                    return _verdict(row)._replace(undone=moment)

    def verdicts(self, table_id: int) -> dict[int, Verdict]:
        """The current verdicts, by position."""
        return {one.position: one for one in self._verdicts(verdict.c.table_id == table_id, verdict.c.undone.is_(None))}

    def log(self, table_id: int) -> list[Verdict]:
        """All verdicts ever given, oldest first."""
        return self._verdicts(verdict.c.table_id == table_id)

    def review_progress(self, table_id: int) -> ReviewProgress:
        of_table = finding.c.table_id == table_id
        groups = (verdict.c.action, verdict.c.suspect)
        of_verdicts = select(*groups, func.count()).where(verdict.c.table_id == table_id, verdict.c.undone.is_(None))
        with self._database.read() as connection:
            n_findings = _count(connection, of_table)
            n_suspects = _count(connection, of_table, finding.c.suspect)
            n_reviewed_suspects = _count(connection, of_table, finding.c.suspect, _has_verdict())
            counts = {(row[0], row[1]): row[2] for row in connection.execute(of_verdicts.group_by(*groups))}
        by_action = {action: counts.get((action, True), 0) + counts.get((action, False), 0) for action in _ACTIONS}
        judged = sum(counts.get((action, True), 0) for action in _ACTIONS if action != "unsure")
        wrong = judged - counts.get(("keep", True), 0)
        return ReviewProgress(
            n_findings=n_findings,
            n_suspects=n_suspects,
            n_reviewed=sum(counts.values()),
            n_reviewed_suspects=n_reviewed_suspects,
            n_accepted=by_action["accept"],
            n_kept=by_action["keep"],
            n_other=by_action["other"],
            n_unsure=by_action["unsure"],
            n_no_class=by_action["no_class"],
            precision=wrong / judged if judged else None,
            n_precision=judged,
        )

    def _verdicts(self, *wanted: ColumnElement[bool]) -> list[Verdict]:
        with self._database.read() as connection:
            return [_verdict(row) for row in connection.execute(select(verdict).where(*wanted).order_by(verdict.c.id))]


_ACTIONS: tuple[Action, ...] = ("accept", "keep", "other", "unsure", "no_class")


class _Overtaken(Exception):
    """The current verdict was undone between two statements."""


def _in_force(connection: Connection, table_id: int, position: int) -> Verdict | None:
    here = [verdict.c.table_id == table_id, verdict.c.position == position, verdict.c.undone.is_(None)]
    row = connection.execute(select(verdict).where(*here)).one_or_none()
    return None if row is None else _verdict(row)


def _mark_undone(connection: Connection, verdict_id: int, moment: Any) -> bool:
    """False if somebody else was first."""
    change = update(verdict).where(verdict.c.id == verdict_id, verdict.c.undone.is_(None)).values(undone=moment)
    return bool(connection.execute(change).rowcount)


def _add(connection: Connection, table_id: int, finding_row: Finding, verdict_row: dict[str, Any]) -> Verdict:
    seen = {
        "table_id": table_id,
        "position": finding_row.position,
        "given": finding_row.given,
        "suggested": finding_row.suggested,
        "p_wrong": finding_row.p_wrong,
        "suspect": finding_row.suspect,
    }
    return _verdict(connection.execute(insert(verdict).values(seen | verdict_row).returning(verdict)).one())


def _action(finding_row: Finding, label: str) -> Action:
    if label == finding_row.given:  # checked first: if the row is not a suspect, both labels may be equal
        return "keep"
    return "accept" if label == finding_row.suggested else "other"


def _conflict(position: int, current: Verdict | None) -> Conflict:
    row = f"row {position + 1}"
    if current is None:
        return Conflict(f"the verdict on {row} that you saw was undone in the meantime; look at it again")
    reasons = {"unsure": f"was unsure about {row}", "no_class": f"found that {row} belongs to none of the classes"}
    did = reasons.get(current.action, f"gave {row} the label {current.label!r}")
    return Conflict(f"{current.reviewer} {did} in the meantime; look at it again", current)


def _verdict(row: Row[Any]) -> Verdict:
    return Verdict(
        id=row.id,
        table_id=row.table_id,
        position=row.position,
        reviewer=row.reviewer,
        action=row.action,
        label=None if row.action in get_args(NoLabel) else row.label,
        given=row.given,
        suggested=row.suggested,
        p_wrong=row.p_wrong,
        suspect=row.suspect,
        created=row.created,
        undone=row.undone,
        note=row.note,
    )


def _need_finding(connection: Connection, table_id: int, position: int) -> Finding:
    here = (finding.c.table_id == table_id) & (finding.c.position == position)
    row = connection.execute(select(finding).where(here)).one_or_none()
    if row is None:
        need_table(connection, table_id)
        raise NotFound(f"row {position + 1} is not among the findings of the latest fit of table {table_id}")
    return _finding(row)


def _has_verdict() -> ColumnElement[bool]:
    """Condition that the row of a finding has a verdict."""
    return exists().where(
        verdict.c.table_id == finding.c.table_id, verdict.c.position == finding.c.position, verdict.c.undone.is_(None)
    )


def _count(connection: Connection, *wanted: ColumnElement[bool]) -> int:
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
