"""Operations on tables, verdicts and dialogs, for the pages and the API alike."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from anyio import CapacityLimiter

from ..bot import Bot
from ..data.errors import InputError
from .column_roles import LABEL_COLUMNS
from .jobs import Jobs
from .limited_process import run_limited, table_on_disk
from .responder import Responder
from .reviewing import Reviewing
from .server_settings import Settings
from .store import ChatTurn, DialogInfo, FitInfo, ReviewProgress, Store, TableInfo
from .uploads import MOST_SECONDS, read_upload

LONGEST_NAME = 100
_HEALTH_LASTS = 1.0  # seconds


class Overview(NamedTuple):
    table: TableInfo
    fit: FitInfo | None  # the last finished one
    running: FitInfo | None
    progress: ReviewProgress


def _labels_in(roles: Mapping[str, Any]) -> tuple[Any, Any]:
    return roles["label"], roles.get(LABEL_COLUMNS)


class Desk(Reviewing):
    def __init__(self, store: Store, settings: Settings, responder: Responder | None = None) -> None:
        self.store, self.settings = store, settings
        self.responder = responder or Responder(store, {}, None)
        self.jobs = Jobs(store, settings)
        self.turns_to_write = CapacityLimiter(store.most_writers)
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

    # chat

    @property
    def bot(self) -> Bot | None:
        """The bot of the chat page."""
        first = self.responder.first
        return None if first is None else self.responder.hosted_bots[first].bot

    def start_dialog(self) -> str:
        dialog_id = secrets.token_urlsafe(12)
        self.store.start_dialog(dialog_id, self._bot()[1].start().as_dict())
        return dialog_id

    def say(self, dialog: DialogInfo, message: str) -> ChatTurn:
        """The bot's reply; contact details are masked and stored as a lead."""
        return self.responder.say(self._bot()[0], dialog, message)

    def answer_handover(
        self, handover_id: int, *, seen: int, reviewer: str, reply: str, label: str | None, bot_goes_on: bool
    ) -> None:
        """A person's answer goes to the customer and, with a label, into the training data."""
        handover = self.store.handover(handover_id)
        if label is not None:
            self.check_category(handover.bot, label)
        self.store.close_handover(
            handover_id, seen=seen, reviewer=reviewer, reply=reply.strip(), label=label, paused=not bot_goes_on,
            has_webhook=self.responder.hosted_bot(handover.bot).webhook is not None,
        )  # fmt: skip

    def check_category(self, bot: str, label: str) -> None:
        categories = self.responder.hosted_bot(bot).bot.config.categories
        if label not in categories:
            raise InputError(f"{label!r} is not a category of the bot {bot!r}; it has {', '.join(categories)}")

    def _bot(self) -> tuple[str, Bot]:
        if self.responder.first is None or self.bot is None:
            raise InputError(
                "this server was started without a bot; train one with 'noisybayes bot train' and use --bot FOLDER"
            )
        return self.responder.first, self.bot
