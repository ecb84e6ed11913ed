"""Fits in the background: one after the other, while the pages stay usable."""

from __future__ import annotations

import logging
from threading import Lock, Thread

from ..data.errors import InputError
from ..data.roles import Roles
from .fitting import STAGES, fit_table, read_content
from .store import Store

_log = logging.getLogger(__name__)


class Jobs:
    """At most one fit at a time; a server that is stopped does not wait for it (see Store.abandon_fits)."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._turn = Lock()

    def start(self, table_id: int) -> Thread:
        """Busy if the table is being fitted already."""
        fit_id = self._store.start_fit(table_id)
        thread = Thread(target=self._wait_and_run, args=(table_id, fit_id), name=f"fit {fit_id}", daemon=True)
        thread.start()
        return thread

    def _wait_and_run(self, table_id: int, fit_id: int) -> None:
        self._store.report_progress(fit_id, "waiting", 0.0)
        with self._turn:
            self._run(table_id, fit_id)

    def _run(self, table_id: int, fit_id: int) -> None:
        store = self._store

        def tell(stage: str) -> None:
            store.report_progress(fit_id, stage, STAGES.get(stage, 0.0))

        try:
            tell("reading")
            table = store.table(table_id)
            verdicts = {position: verdict.label for position, verdict in store.verdicts(table_id).items()}
            fit = fit_table(read_content(store.content(table_id)), as_roles(table.roles), table.name, verdicts, tell)
            store.finish_fit(fit_id, fit.overview, fit.findings)
        except InputError as error:
            store.fail_fit(fit_id, str(error))
        except Exception:
            _log.exception("the fit of table %d failed", table_id)
            store.fail_fit(fit_id, "something went wrong that should not; the server's log has the details")


def as_roles(stored: dict[str, object] | None) -> Roles:
    if stored is None:
        raise InputError("the columns of this table were not chosen yet; choose them on the Import page")
    return Roles(*(tuple(value) if isinstance(value := stored[name], list) else value for name in Roles._fields))  # type: ignore[arg-type]
