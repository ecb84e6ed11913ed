"""Fits in the background, one at a time, while the pages stay usable; fits of stopped servers are taken over."""

from __future__ import annotations

import json
import logging
import secrets
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from threading import Event, Lock, Thread
from typing import Any

from ..data.errors import InputError
from .column_roles import as_roles
from .limited_process import run_limited, table_on_disk
from .server_settings import Settings
from .store import Conflict, Finding, NotFound, Store, StoreError, Unavailable, Verdict

_log = logging.getLogger(__name__)
#: Stages of a fit, and the share of the total time at which each begins.
STAGES = {
    "reading": 0.0, "building features": 0.05, "fitting": 0.15, "scoring with other views": 0.3,
    "scoring the rows": 0.55, "computing intervals": 0.6, "writing": 0.95,
}  # fmt: skip
_HEARTBEAT = 5.0  # seconds; a lease lasts several of them
MOST_SECONDS = 6 * 3600.0  # for a fit
_KEEP_TRYING = 600.0  # seconds to retry storing the result while the store is unavailable


class Jobs:
    """Runs one fit at a time. Another server takes over a fit whose lease this one has not renewed."""

    def __init__(self, store: Store, settings: Settings | None = None, heartbeat: float = _HEARTBEAT) -> None:
        self.owner = secrets.token_hex(8)
        self._store, self._heartbeat = store, heartbeat
        self._settings = settings or Settings()
        self._turn, self._stopped = Lock(), Event()
        self._watcher: Thread | None = None

    def watch(self) -> None:
        """Start renewing leases and taking over abandoned fits."""
        self._stopped.clear()
        self._watcher = Thread(target=self._watch, name="leases of fits", daemon=True)
        self._watcher.start()

    def stop(self) -> None:
        """Release our leases, so that other servers do not have to wait for them to expire."""
        self._stopped.set()
        if self._watcher is not None:
            self._watcher.join(5)
            try:
                self._store.release_fits(self.owner)
            except StoreError as error:
                _log.warning("could not release the leases: %s", error)

    def start(self, table_id: int) -> Thread:
        """Raise Busy if the table is already being fitted."""
        return self._begin(table_id, self._store.start_fit(table_id, self.owner))

    def _begin(self, table_id: int, fit_id: int) -> Thread:
        thread = Thread(target=self._wait_and_run, args=(table_id, fit_id), name=f"fit {fit_id}", daemon=True)
        thread.start()
        return thread

    def _watch(self) -> None:
        while True:
            try:
                self._store.renew_leases(self.owner)
                for fit_id, table_id in self._store.take_over_fits(self.owner):
                    self._begin(table_id, fit_id)
            except StoreError as error:
                _log.warning("could not renew the leases: %s", error)
            except Exception:  # if this thread died, other servers would take over fits that are still running here
                _log.exception("could not renew the leases")
            if self._stopped.wait(self._heartbeat):
                return

    def _wait_and_run(self, table_id: int, fit_id: int) -> None:
        with self._turn:
            try:
                self._run(table_id, fit_id)
            except (Conflict, NotFound) as error:  # taken over, or the table was removed
                _log.info("fit %d ended: %s", fit_id, error)
            except StoreError as error:
                _log.warning("fit %d is left to other servers: %s", fit_id, error)

    def _run(self, table_id: int, fit_id: int) -> None:
        store = self._store

        def report_stage(stage: str) -> None:
            if self._stopped.is_set():
                raise Conflict("this server is stopping")
            _retry_while_unavailable(lambda: store.report_progress(fit_id, stage, STAGES.get(stage, 0.0), self.owner))

        try:
            report_stage("reading")
            table = store.table(table_id)
            as_roles(table.roles)
            verdicts = store.verdicts(table_id)
            described = {
                "roles": table.roles, "name": table.name,
                "verdicts": {str(position): verdict.label for position, verdict in verdicts.items()},
                "no_class": [position for position, verdict in verdicts.items() if verdict.action == "no_class"],
            }  # fmt: skip
            overview, findings, corrected = self._fit(store.content(table_id), described, report_stage)
            findings += _kept_findings(store, table_id, verdicts.values(), findings)
            _retry_while_unavailable(lambda: store.finish_fit(fit_id, overview, findings, self.owner, corrected))
        except InputError as error:
            message = str(error)
        except StoreError:
            raise
        except Exception:
            _log.exception("fit of table %d failed", table_id)
            message = "an unexpected error occurred; see the server's log for details"
        else:
            return
        _retry_while_unavailable(lambda: store.fail_fit(fit_id, message, self.owner))

    def _fit(
        self, content: bytes, described: dict[str, Any], report_stage: Callable[[str], None]
    ) -> tuple[dict[str, Any], list[Finding], dict[int, str]]:
        with table_on_disk(content) as path:
            target = path.with_name("fit.json")
            arguments = {"table": str(path), "target": str(target), **described}
            run_limited("fit", arguments, self._settings.most_memory, MOST_SECONDS, report_stage)
            result = json.loads(target.read_bytes())
        corrected = {int(position): label for position, label in result["corrected"].items()}
        return result["overview"], [Finding(**one) for one in result["findings"]], corrected


def _kept_findings(
    store: Store, table_id: int, verdicts: Iterable[Verdict], findings: Iterable[Finding]
) -> list[Finding]:
    """Earlier findings on rows whose verdict has no label, so that they can be reviewed again."""
    known = {one.position for one in findings}
    earlier = []
    for verdict in verdicts:
        if verdict.label is None and verdict.position not in known:
            with suppress(NotFound):
                earlier.append(store.finding(table_id, verdict.position)._replace(suspect=False))
    return earlier


def _retry_while_unavailable(write: Callable[[], None]) -> None:
    """Retry, so that minutes of work are not lost because the store is locked or full for a while."""
    end, pause = time.monotonic() + _KEEP_TRYING, 0.5
    while True:
        try:
            write()
            return
        except Unavailable:
            if time.monotonic() > end:
                raise
            time.sleep(pause)
            pause = min(2 * pause, 10.0)
