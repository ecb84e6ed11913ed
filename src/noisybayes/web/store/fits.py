"""Fits, and the findings of the latest one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection, Row, Select, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from .column_types import Dumped, dumps, now
from .database import Part
from .imported_tables import need_table
from .schema import correction, finding, fit
from .values import Busy, Conflict, Finding, FitInfo, NotFound

_ROWS_AT_ONCE = 5_000
#: A server that has not renewed its lease for this long is taken to have stopped; others take over its fits.
LEASE_LASTS = timedelta(seconds=30)
# A fit has a memory limit, but may still bring down its server if other programs leave too little memory. That must not
# repeat forever.
MOST_ATTEMPTS = 10
_TOO_OFTEN = f"the server stopped {MOST_ATTEMPTS} times during this fit; it may need more memory than is available"
_RUNNING, _DONE, _FAILED = "running", "done", "failed"


class Fits(Part):
    def start_fit(self, table_id: int, owner: str = "") -> int:
        """Start a fit and return its number; Busy while another fit of the table is running.

        The `owner` runs it and renews the lease until it has finished.
        """
        values = {
            "table_id": table_id, "state": _RUNNING, "stage": "", "share": 0.0, "message": "", "started": now(),
            "owner": owner,
        }  # fmt: skip
        try:
            with self._database.write() as connection:
                need_table(connection, table_id)
                values["lease"] = self._database.moment(connection) + LEASE_LASTS
                number: int = connection.execute(insert(fit).values(values).returning(fit.c.id)).scalar_one()
        except IntegrityError:
            with self._database.read() as connection:
                need_table(connection, table_id)  # it may have been removed in the meantime
            raise Busy(f"table {table_id} is already being fitted; wait until the fit is done") from None
        return number

    def report_progress(self, fit_id: int, stage: str, share: float, owner: str = "") -> None:
        with self._database.write(durable=False) as connection:
            _change_running(connection, fit_id, owner, stage=stage, share=share)

    def finish_fit(
        self, fit_id: int, overview: dict[str, Any], findings: Iterable[Finding], owner: str = "",
        corrected: Mapping[int, str] | None = None,
    ) -> None:  # fmt: skip
        """Replace the findings and corrected labels of the earlier fit in one transaction. Verdicts stay.

        Conflict if another owner has taken over the fit.
        """
        rows = [_row(place, one) for place, one in enumerate(_ranked(findings))]
        changed = [{"position": position, "label": label} for position, label in (corrected or {}).items()]
        with self._database.write() as connection:
            _change_running(connection, fit_id, owner, state=_DONE, share=1.0, finished=now(), overview=overview)
            table_id = connection.execute(select(fit.c.table_id).where(fit.c.id == fit_id)).scalar_one()
            for table, values in ((finding, rows), (correction, changed)):
                connection.execute(delete(table).where(table.c.table_id == table_id))
                for start in range(0, len(values), _ROWS_AT_ONCE):
                    some = values[start : start + _ROWS_AT_ONCE]
                    connection.execute(insert(table), [row | {"table_id": table_id} for row in some])

    def corrected(self, table_id: int) -> dict[int, str]:
        """The labels that the latest fit corrects without review, by position."""
        chosen = select(correction.c.position, correction.c.label).where(correction.c.table_id == table_id)
        with self._database.read() as connection:
            return {row.position: row.label for row in connection.execute(chosen)}

    def fail_fit(self, fit_id: int, message: str, owner: str = "") -> None:
        """Does nothing if the fit is no longer running or belongs to another owner."""
        with self._database.write() as connection:
            connection.execute(_fail(message).where(fit.c.id == fit_id, fit.c.owner == owner))

    def fit(self, fit_id: int) -> FitInfo:
        info = self._fit(select(fit).where(fit.c.id == fit_id))
        if info is None:
            raise _no_fit(fit_id)
        return info

    def running_fit(self, table_id: int) -> FitInfo | None:
        return self._fit(select(fit).where(fit.c.table_id == table_id, fit.c.state == _RUNNING))

    def latest_fit(self, table_id: int) -> FitInfo | None:
        """The last finished fit, to which the findings belong."""
        done = select(fit).where(fit.c.table_id == table_id, fit.c.state == _DONE)
        return self._fit(done.order_by(fit.c.id.desc()).limit(1))

    def last_fit(self, table_id: int) -> FitInfo | None:
        """The fit started last, in any state."""
        return self._fit(select(fit).where(fit.c.table_id == table_id).order_by(fit.c.id.desc()).limit(1))

    def renew_leases(self, owner: str) -> int:
        """Renew the leases of this owner and return how many there are."""
        own = update(fit).where(fit.c.state == _RUNNING, fit.c.owner == owner)
        with self._database.write(durable=False) as connection:
            lease = self._database.moment(connection) + LEASE_LASTS
            return connection.execute(own.values(lease=lease)).rowcount

    def release_fits(self, owner: str) -> None:
        """Release the leases of an owner that stops, so that others can take over at once."""
        with self._database.write() as connection:
            own = update(fit).where(fit.c.state == _RUNNING, fit.c.owner == owner)
            connection.execute(own.values(lease=self._database.moment(connection) - LEASE_LASTS))

    def take_over_fits(self, owner: str) -> list[tuple[int, int]]:
        """Take over fits whose lease has expired: (fit, table). Fits with too many attempts are marked as failed."""
        with self._database.write() as connection:
            now = self._database.moment(connection)
            # a lease that ends impossibly late was set by a clock that has since been set back
            over = (fit.c.lease.is_(None)) | (fit.c.lease < now) | (fit.c.lease > now + 2 * LEASE_LASTS)
            left = [fit.c.state == _RUNNING, over]
            connection.execute(_fail(_TOO_OFTEN).where(*left, fit.c.attempts >= MOST_ATTEMPTS))
            mine = {"owner": owner, "lease": now + LEASE_LASTS, "attempts": fit.c.attempts + 1, "stage": "waiting"}
            taken = update(fit).where(*left).values(mine).returning(fit.c.id, fit.c.table_id)
            return [(row.id, row.table_id) for row in connection.execute(taken)]

    def _fit(self, chosen: Select[Any]) -> FitInfo | None:
        with self._database.read() as connection:
            row = connection.execute(chosen).one_or_none()
        return None if row is None else _info(row)


def _change_running(connection: Connection, fit_id: int, owner: str, **values: Any) -> None:
    own = [fit.c.id == fit_id, fit.c.state == _RUNNING, fit.c.owner == owner]
    if connection.execute(update(fit).where(*own).values(values)).rowcount:
        return
    state = connection.execute(select(fit.c.state).where(fit.c.id == fit_id)).scalar_one_or_none()
    if state is None:
        raise _no_fit(fit_id)
    if state == _RUNNING:
        raise Conflict(f"fit {fit_id} was taken over by another server")
    raise Conflict(f"fit {fit_id} is no longer running (it is {state}); start a new one")


def _fail(message: str) -> Any:
    values = {"state": _FAILED, "message": message, "finished": now()}
    return update(fit).where(fit.c.state == _RUNNING).values(values)


def _ranked(findings: Iterable[Finding]) -> list[Finding]:
    """Most suspicious first."""
    known: dict[int, Finding] = {}
    for one in findings:
        if not (math.isfinite(one.p_wrong) and math.isfinite(one.p_suggested)):
            raise ValueError(f"the finding at position {one.position} has a probability that is not a number: {one!r}")
        if known.setdefault(one.position, one) is not one:
            raise ValueError(f"there are two findings at position {one.position}; give one per row")
    return sorted(known.values(), key=lambda one: (-one.p_wrong, one.position))


def _row(place: int, one: Finding) -> dict[str, Any]:
    # databases do not accept NumPy numbers
    return {
        "position": int(one.position),
        "place": place,
        "suspect": bool(one.suspect),
        "given": one.given,
        "suggested": one.suggested,
        "p_wrong": float(one.p_wrong),
        "p_suggested": float(one.p_suggested),
        "row_id": one.row_id,
        "shown": Dumped(dumps(one.shown)),
    }


def _no_fit(fit_id: int) -> NotFound:
    return NotFound(f"there is no fit {fit_id}; its table may have been removed")


def _info(row: Row[Any]) -> FitInfo:
    return FitInfo(
        row.id, row.table_id, row.state, row.stage, row.share, row.message, row.started, row.finished, row.overview
    )
