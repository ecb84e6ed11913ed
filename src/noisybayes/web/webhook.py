"""The webhook: events are signed, sent in order within a dialog, and retried with growing pauses until accepted."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple
from urllib.parse import urlsplit

from ..data.errors import InputError
from .contact_key import ContactKey
from .store import Store, StoreError
from .store.outbox import CLAIM_LASTS, Outgoing
from .webhook_client import PATIENCE, Failure, Receiver

LEAST_SECRET = 16
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 60.0  # seconds
_IDLE = 0.2  # seconds between checks of the outbox
_AT_ONCE = 4  # concurrent posts to one receiver
_BATCH = 64  # events that are sent before the store is updated
_FORGET_EVERY = 3_600.0  # seconds
# Seconds after which a batch starts no more posts: the last must end before others may claim its event.
_LONGEST_BATCH = CLAIM_LASTS.total_seconds() - 2 * PATIENCE
_DOWN = 4  # posts without a response and without a success, after which the receiver counts as down


def check_webhook(url: str, secret: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError(f"the webhook {url!r} is not a valid URL; write https://HOST/PATH")
    if len(secret) < LEAST_SECRET:
        raise InputError(
            f"a webhook needs a signing secret of at least {LEAST_SECRET} characters: set NOISYBAYES_WEBHOOK_SECRET"
        )


class Hook(NamedTuple):
    """Where the events of a bot go."""

    url: str
    secret: str


class Sender:
    """Sends the events waiting in the store. Each bot has a thread, so a receiver that is down blocks no others."""

    def __init__(self, store: Store, hooks: Mapping[str, Hook], key: ContactKey | None, pause: float = _FIRST_PAUSE):
        self._end = threading.Event()
        self._threads = [
            threading.Thread(
                target=_BotSender(store, name, hook, key, pause, self._end).work, name="webhook", daemon=True
            )
            for name, hook in hooks.items()
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        self._end.set()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(PATIENCE + 1)


class _BotSender:
    """Sends the events of one bot. They wait in the store; at most one batch is in memory."""

    def __init__(
        self, store: Store, bot: str, hook: Hook, key: ContactKey | None, pause: float, end: threading.Event
    ) -> None:
        self._store, self._bot, self._key, self._first_pause, self._end = store, bot, key, pause, end
        self._receiver = Receiver(*hook)
        self._times_down = 0

    def work(self) -> None:
        forgotten = float("-inf")
        with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="webhook") as pool:
            while not self._end.is_set():
                try:
                    if time.monotonic() - forgotten > _FORGET_EVERY:
                        self._store.forget_delivered()
                        forgotten = time.monotonic()
                    pause = self._send(pool)
                except StoreError:  # temporary, or reported by the server
                    pause = _IDLE
                self._end.wait(pause)

    def _send(self, pool: ThreadPoolExecutor) -> float:
        """Send a batch, or a few events to probe a receiver that is down. Returns the seconds until the next batch."""
        most = _DOWN if self._times_down else _BATCH
        due = self._store.claim_events(self._bot, most)
        if not due:
            return _IDLE
        dialogs: dict[str, list[Outgoing]] = {}
        for event in due:
            dialogs.setdefault(event.dialog_id, []).append(event)
        batch = _Batch()
        list(pool.map(lambda events: self._send_dialog(events, batch), dialogs.values()))
        failed = [(event.id, why.problem, self._pause(event.attempts)) for event, why in batch.failed]
        sent = {*batch.taken, *(event_id for event_id, _, _ in failed)}
        self._store.record_deliveries(batch.taken, failed, [event.id for event in due if event.id not in sent])
        self._times_down = self._times_down + 1 if batch.is_down else 0
        if self._times_down:
            return self._pause(self._times_down - 1)
        return 0.0 if len(due) == most else _IDLE  # small batches would write to the store all the time

    def _send_dialog(self, events: list[Outgoing], batch: _Batch) -> None:
        """Send events in order and stop at the first failure."""
        for event in events:
            if self._end.is_set() or batch.is_over:
                return
            failure = self._receiver.post(event.id, json.dumps(self._payload(event), ensure_ascii=False).encode())
            if failure is not None:
                batch.failed.append((event, failure))
                return
            batch.taken.append(event.id)

    def _pause(self, failures: int) -> float:
        return float(min(self._first_pause * 2 ** min(failures, 20), _LONGEST_PAUSE))

    def _payload(self, event: Outgoing) -> dict[str, object]:
        body = dict(event.body)
        if event.kind == "lead" and self._key is not None:
            body["contact"] = self._key.decrypt(str(body["contact"]))
        return {"id": event.id, "bot": event.bot, "dialog": event.dialog_id, "kind": event.kind, **body}


class _Batch:
    """The results of a batch; threads append to the lists."""

    def __init__(self) -> None:
        self.taken: list[int] = []
        self.failed: list[tuple[Outgoing, Failure]] = []
        self._end = time.monotonic() + _LONGEST_BATCH

    @property
    def is_over(self) -> bool:
        return self.is_down or time.monotonic() > self._end

    @property
    def is_down(self) -> bool:
        """Only posts without a response count: refusals are quick and delay one dialog; timeouts add up to hours."""
        return not self.taken and sum(not failure.answered for _, failure in self.failed) >= _DOWN
