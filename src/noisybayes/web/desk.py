"""Operations on tables and verdicts, for the pages and the API alike."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from fastapi import APIRouter

from ..data.errors import InputError
from .column_roles import LABEL_COLUMNS
from .jobs import Jobs
from .limited_process import run_limited, table_on_disk
from .reviewing import Reviewing
from .server_settings import Settings
from .store import FitInfo, ReviewProgress, Store, TableInfo
from .uploads import MOST_SECONDS, read_upload

LONGEST_NAME = 100
_HEALTH_LASTS = 1.0  # seconds


class Extension(Protocol):
    """What a server has besides the desk."""

    @property
    def package(self) -> str:
        """The package with its templates."""

    @property
    def routers(self) -> Sequence[APIRouter]: ...

    @property
    def links(self) -> Sequence[tuple[str, str]]:
        """Of the menu."""

    def summary(self) -> str:
        """A sentence for the start page."""

    async def work(self, end: asyncio.Event) -> None:
        """What it does while the server runs."""


class Overview(NamedTuple):
    table: TableInfo
    fit: FitInfo | None  # the last finished one
    running: FitInfo | None
    progress: ReviewProgress


def _labels_in(roles: Mapping[str, Any]) -> tuple[Any, Any]:
    return roles["label"], roles.get(LABEL_COLUMNS)


class Desk(Reviewing):
    def __init__(self, store: Store, settings: Settings) -> None:
        self.store, self.settings = store, settings
        self.jobs = Jobs(store, settings)
        self._healthy_until = 0.0

    def check_health(self) -> None:
        """Raise Unavailable if the store cannot be written to. The result is cached for a moment."""
        now = time.monotonic()
        if now > self._healthy_until:
            self.store.probe()
            self._healthy_until = now + _HEALTH_LASTS

    # tables

    def import_file(self, name: str, content: bytes, encoding: str = "") -> int:
        if not content:
            raise InputError(f"{name} is empty; choose a table with a column of labels")
        upload = read_upload(name, content, self.settings.most_memory, encoding)
        title = (name.replace("\\", "/").rsplit("/", 1)[-1] or "table")[:LONGEST_NAME]
        return self.store.add_table(title, upload.content, upload.n_rows, upload.columns, upload.preview)

    def guess_columns(self, table_id: int, label: str) -> dict[str, Any] | None:
        """The roles of the columns if `label` holds the labels; None if it cannot."""
        guessed: dict[str, Any] | None = self._on_table("guess", table_id, label=label)
        return guessed

    def _on_table(self, job: str, table_id: int, **arguments: Any) -> Any:
        with table_on_disk(self.store.content(table_id)) as path:
            return run_limited(job, {"table": str(path), **arguments}, self.settings.most_memory, MOST_SECONDS)

    def choose_columns(self, table_id: int, chosen: Mapping[str, Any]) -> None:
        """Set the roles of the columns and start a fit. Once there are verdicts, the label column cannot be changed."""
        table = self.store.table(table_id)
        choice = self._on_table("choose", table_id, chosen=dict(chosen))
        if (
            table.roles is not None
            and _labels_in(table.roles) != _labels_in(choice["roles"])
            and self.store.verdicts(table_id)
        ):
            raise InputError(
                "rows of this table have been reviewed with these labels; to choose another label, import it again"
            )
        self.store.set_roles(table_id, choice["roles"], choice["labels"])
        self.jobs.start(table_id)

    def overview(self, table_id: int) -> Overview:
        store = self.store
        return Overview(
            store.table(table_id), store.latest_fit(table_id), store.running_fit(table_id),
            store.review_progress(table_id),
        )  # fmt: skip
