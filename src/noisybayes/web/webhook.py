"""The webhook: events are signed, sent in order within a dialog, and retried with growing pauses until accepted."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import logging
import time
from contextlib import suppress
from typing import NamedTuple
from urllib.parse import urlsplit

import httpx2

from ..data.errors import InputError
from .contact_key import ContactKey
from .responder import HostedBot, Responder
from .store import Store, StoreError
from .store.outbox import CLAIM_LASTS, Outgoing

_log = logging.getLogger(__name__)
SIGNATURE, EVENT_ID, TIMESTAMP = "X-Noisybayes-Signature", "X-Noisybayes-Event", "X-Noisybayes-Timestamp"
LEAST_SECRET = 16
PATIENCE = 10.0  # seconds to wait for a response
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 60.0  # seconds
_IDLE = 0.2  # seconds between checks of the outbox
_AT_ONCE = 4  # concurrent posts to one receiver
_BATCH = 64  # events that are sent before the store is updated
_FORGET_EVERY = 3_600.0  # seconds
# Seconds after which a batch starts no more posts: the last must end before others may claim its event.
_LONGEST_BATCH = CLAIM_LASTS.total_seconds() - 2 * PATIENCE
_LONGEST_ANSWER = 65_536  # bytes
_DOWN = 4  # posts without a response and without a success, after which the receiver counts as down


def check_webhook(url: str, secret: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError(f"the webhook {url!r} is not a valid URL; write https://HOST/PATH")
    if len(secret) < LEAST_SECRET:
        raise InputError(
            f"a webhook needs a signing secret of at least {LEAST_SECRET} characters: set NOISYBAYES_WEBHOOK_SECRET"
        )


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """HMAC-SHA256 of `timestamp.body`, hexadecimal."""
    return "sha256=" + hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()


async def send_events(responder: Responder, end: asyncio.Event) -> None:
    """Send the events waiting in the store until `end`. Each bot has a task, so no receiver holds up another."""
    hooked = {name: hosted for name, hosted in responder.hosted_bots.items() if hosted.webhook is not None}
    if not hooked:
        return
    # redirects are not followed: contact details must go to the configured address and nowhere else
    async with httpx2.AsyncClient(timeout=PATIENCE, follow_redirects=False) as client, asyncio.TaskGroup() as tasks:
        for name, hosted in hooked.items():
            tasks.create_task(_Sender(responder.store, name, hosted, responder.key, client, end).work())


class _Failure(NamedTuple):
    event: Outgoing
    problem: str
    answered: bool  # with a status that is not below 300


class _Sender:
    """Sends the events of one bot. They wait in the store; at most one batch is in memory."""

    def __init__(
        self, store: Store, bot: str, hosted: HostedBot, key: ContactKey | None, client: httpx2.AsyncClient,
        end: asyncio.Event,
    ) -> None:  # fmt: skip
        self._store, self._bot, self._key, self._client, self._end = store, bot, key, client, end
        self._url, self._secret = str(hosted.webhook), hosted.secret
        self._slots = asyncio.Semaphore(_AT_ONCE)
        self._times_down = 0

    async def work(self) -> None:
        forget_at = time.monotonic()
        while not self._end.is_set():
            try:
                if time.monotonic() >= forget_at:
                    await asyncio.to_thread(self._store.forget_delivered)
                    forget_at = time.monotonic() + _FORGET_EVERY
                pause = await self._send_batch()
            except StoreError:  # temporary, or reported by the server
                pause = _IDLE
            except Exception:  # the server goes on
                _log.exception("the events of the bot %s could not be sent", self._bot)
                pause = _LONGEST_PAUSE
            with suppress(TimeoutError):
                await asyncio.wait_for(self._end.wait(), pause)

    async def _send_batch(self) -> float:
        """Send a batch, or a few events to probe a receiver that is down. Returns the seconds until the next batch."""
        most = _DOWN if self._times_down else _BATCH
        due = await asyncio.to_thread(self._store.claim_events, self._bot, most)
        if not due:
            return _IDLE
        dialogs: dict[str, list[Outgoing]] = {}
        for event in due:
            dialogs.setdefault(event.dialog_id, []).append(event)
        batch = _Batch()
        await asyncio.gather(*(self._send_dialog(events, batch) for events in dialogs.values()))
        failed = [(each.event.id, each.problem, _pause(each.event.attempts)) for each in batch.failed]
        sent = {*batch.taken, *(event_id for event_id, _, _ in failed)}
        left = [event.id for event in due if event.id not in sent]
        await asyncio.to_thread(self._store.record_deliveries, batch.taken, failed, left)
        self._times_down = self._times_down + 1 if batch.is_down else 0
        if self._times_down:
            return _pause(self._times_down - 1)
        return 0.0 if len(due) == most else _IDLE  # small batches would write to the store all the time

    async def _send_dialog(self, events: list[Outgoing], batch: _Batch) -> None:
        """Send events in order and stop at the first failure."""
        async with self._slots:
            for event in events:
                if self._end.is_set() or batch.is_over:
                    return
                failure = await self._post(event)
                if failure is not None:
                    batch.failed.append(failure)
                    return
                batch.taken.append(event.id)

    async def _post(self, event: Outgoing) -> _Failure | None:
        """None if it was accepted."""
        body = dict(event.body)
        if event.kind == "lead" and self._key is not None:
            try:
                body["contact"] = self._key.decrypt(str(body["contact"]))
            except InputError as error:
                return _Failure(event, str(error), True)
        told = {"id": event.id, "bot": event.bot, "dialog": event.dialog_id, "kind": event.kind, **body}
        content, stamp = json.dumps(told, ensure_ascii=False).encode(), str(int(time.time()))
        headers = {
            "Content-Type": "application/json", EVENT_ID: str(event.id), TIMESTAMP: stamp,
            SIGNATURE: signature(self._secret, stamp, content),
        }  # fmt: skip
        try:
            async with (
                asyncio.timeout(PATIENCE),
                self._client.stream("POST", self._url, content=content, headers=headers) as answer,
            ):
                n_read = 0
                async for part in answer.aiter_raw():  # to the end, so that the connection can be used again
                    n_read += len(part)
                    if n_read > _LONGEST_ANSWER:
                        break
        except TimeoutError:
            return _Failure(event, "the webhook did not respond: timed out", False)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            return _Failure(event, f"the webhook did not respond: {str(error) or type(error).__name__}", False)
        if answer.status_code < 300:
            return None
        return _Failure(event, f"the webhook responded with status {answer.status_code}", True)


class _Batch:
    """The results of a batch."""

    def __init__(self) -> None:
        self.taken: list[int] = []
        self.failed: list[_Failure] = []
        self._end = time.monotonic() + _LONGEST_BATCH

    @property
    def is_over(self) -> bool:
        return self.is_down or time.monotonic() > self._end

    @property
    def is_down(self) -> bool:
        """Only posts without a response count: refusals are quick and delay one dialog; timeouts add up to hours."""
        return not self.taken and sum(not failure.answered for failure in self.failed) >= _DOWN


def _pause(failures: int) -> float:
    return min(_FIRST_PAUSE * 2.0 ** min(failures, 20), _LONGEST_PAUSE)
