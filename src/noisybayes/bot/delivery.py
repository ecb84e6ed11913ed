"""Events leave the store: by a signed webhook or by e-mail, in order within a dialog, retried until accepted."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import logging
import smtplib
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from email.message import EmailMessage
from typing import Any
from urllib.parse import unquote, urlsplit

import httpx2

from ..data.errors import InputError
from ..web.store import StoreError
from .service import HostedBot, Service
from .store import CLAIM_LASTS, Outgoing

_log = logging.getLogger(__name__)
SIGNATURE, EVENT_ID, TIMESTAMP = "X-Noisybayes-Signature", "X-Noisybayes-Event", "X-Noisybayes-Timestamp"
LEAST_SECRET = 16
PATIENCE = 10.0  # seconds to wait for a response
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 60.0  # seconds
_IDLE = 0.2  # seconds between checks of the outbox
_AT_ONCE, _BATCH = 4, 64  # concurrent posts to one receiver; events that are sent before the store is updated
_FORGET_EVERY = 3_600.0  # seconds
# Seconds after which a batch starts no more posts: the last must end before others may claim its event.
_LONGEST_BATCH = CLAIM_LASTS.total_seconds() - 2 * PATIENCE
_LONGEST_ANSWER = 65_536  # bytes
_DOWN = 4  # posts without a response and without a success, after which the receiver counts as down


class Failed(Exception):
    """An event was not accepted; `answered`: by somebody who was there."""

    def __init__(self, problem: str, answered: bool = False) -> None:
        super().__init__(problem)
        self.answered = answered


Deliver = Callable[[Outgoing], Awaitable[None]]


def check_webhook(url: str, secret: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError(f"the webhook {url!r} is not a valid URL; write https://HOST/PATH")
    if len(secret) < LEAST_SECRET:
        raise InputError(
            f"a webhook needs a signing secret of at least {LEAST_SECRET} characters: set NOISYBAYES_WEBHOOK_SECRET"
        )


def check_email(address: str, server: str) -> None:
    if "@" not in address:
        raise InputError(f"{address!r} is not an e-mail address")
    if urlsplit(server).scheme not in ("smtp", "smtps") or not urlsplit(server).hostname:
        raise InputError("e-mail needs a server: set NOISYBAYES_SMTP to smtp://USER:PASSWORD@HOST:PORT, or smtps://...")


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """HMAC-SHA256 of `timestamp.body`, hexadecimal."""
    return "sha256=" + hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()


async def send_events(service: Service, end: asyncio.Event) -> None:
    """Send the events waiting in the store until `end`. Each receiver has a task, so none holds up another."""
    hosted = [(name, each, channel) for name, each in service.hosted_bots.items() for channel in each.channels]
    if not hosted:
        return
    # redirects are not followed: contact details must go to the configured address and nowhere else
    async with httpx2.AsyncClient(timeout=PATIENCE, follow_redirects=False) as client, asyncio.TaskGroup() as tasks:
        for name, each, channel in hosted:
            deliver = _webhook(service, each, client) if channel == "webhook" else _email(each)
            tasks.create_task(_Sender(service, name, channel, deliver, end).work())


def _webhook(service: Service, hosted: HostedBot, client: httpx2.AsyncClient) -> Deliver:
    async def deliver(event: Outgoing) -> None:
        body = dict(event.body)
        if event.kind == "lead" and service.key is not None:
            try:
                body["contact"] = service.key.decrypt(str(body["contact"]))
            except InputError as error:
                raise Failed(str(error), True) from None
        told = {"id": event.id, "bot": event.bot, "dialog": event.dialog_id, "kind": event.kind, **body}
        content, stamp = json.dumps(told, ensure_ascii=False).encode(), str(int(time.time()))
        headers = {
            "Content-Type": "application/json", EVENT_ID: str(event.id), TIMESTAMP: stamp,
            SIGNATURE: signature(hosted.secret, stamp, content),
        }  # fmt: skip
        try:
            async with (
                asyncio.timeout(PATIENCE),
                client.stream("POST", str(hosted.webhook), content=content, headers=headers) as answer,
            ):
                n_read = 0
                async for part in answer.aiter_raw():  # to the end, so that the connection can be used again
                    n_read += len(part)
                    if n_read > _LONGEST_ANSWER:
                        break
        except TimeoutError:
            raise Failed("the webhook did not respond: timed out") from None
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise Failed(f"the webhook did not respond: {str(error) or type(error).__name__}") from None
        if answer.status_code >= 300:
            raise Failed(f"the webhook responded with status {answer.status_code}", True)

    return deliver


def _email(hosted: HostedBot) -> Deliver:
    """Contact details stay in the store: the mail says where to look."""

    def send(event: Outgoing) -> None:
        server, mail, body = urlsplit(hosted.smtp), EmailMessage(), event.body
        mail["From"], mail["To"] = hosted.email, hosted.email
        mail["Subject"] = f"{event.bot}: {event.kind}" + (f", {body['reason']}" if "reason" in body else "")
        mail["Message-ID"] = f"<{event.dialog_id}.{event.id}@noisybayes>"
        known = ", ".join(map(str, body.get("known", {}).values()))
        said = body.get("message") or "left contact details"
        mail.set_content(
            f"{said}\n\nAbout: {known or '-'}\nCustomer: {body.get('person')}\n\nSee Handover and Leads.\n"
        )
        kind: Any = smtplib.SMTP_SSL if server.scheme == "smtps" else smtplib.SMTP
        with kind(server.hostname, server.port or 0, timeout=PATIENCE) as connection:
            if server.username:
                if server.scheme == "smtp":
                    connection.starttls()
                connection.login(unquote(server.username), unquote(server.password or ""))
            connection.send_message(mail)

    async def deliver(event: Outgoing) -> None:
        try:
            await asyncio.to_thread(send, event)
        except smtplib.SMTPException as error:
            raise Failed(f"the mail server refused: {error}", True) from None
        except OSError as error:
            raise Failed(f"the mail server did not respond: {error}") from None

    return deliver


class _Sender:
    """Sends the events of one bot on one channel. They wait in the store; at most one batch is in memory."""

    def __init__(self, service: Service, bot: str, channel: str, deliver: Deliver, end: asyncio.Event) -> None:
        self._chats, self._bot, self._channel, self._deliver, self._end = service.chats, bot, channel, deliver, end
        self._slots, self._times_down = asyncio.Semaphore(_AT_ONCE), 0

    async def work(self) -> None:
        forget_at = time.monotonic()
        while not self._end.is_set():
            try:
                if time.monotonic() >= forget_at:
                    await asyncio.to_thread(self._chats.forget_delivered)
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
        due = await asyncio.to_thread(self._chats.claim_events, self._bot, self._channel, most)
        if not due:
            return _IDLE
        dialogs: dict[str, list[Outgoing]] = {}
        for event in due:
            dialogs.setdefault(event.dialog_id, []).append(event)
        taken: list[int] = []
        failed: list[tuple[Outgoing, Failed]] = []
        stop_at = time.monotonic() + _LONGEST_BATCH

        def is_down() -> bool:
            # only posts without a response count: refusals are quick and delay one dialog; timeouts add up to hours
            return not taken and sum(not problem.answered for _, problem in failed) >= _DOWN

        async def send_dialog(events: list[Outgoing]) -> None:
            """In order; the first failure ends it."""
            async with self._slots:
                for event in events:
                    if self._end.is_set() or is_down() or time.monotonic() > stop_at:
                        return
                    try:
                        await self._deliver(event)
                    except Failed as problem:
                        failed.append((event, problem))
                        return
                    taken.append(event.id)

        await asyncio.gather(*map(send_dialog, dialogs.values()))
        results = [(event.id, str(problem), _pause(event.attempts)) for event, problem in failed]
        sent = {*taken, *(event.id for event, _ in failed)}
        left = [event.id for event in due if event.id not in sent]
        await asyncio.to_thread(self._chats.record_deliveries, taken, results, left)
        self._times_down = self._times_down + 1 if is_down() else 0
        if self._times_down:
            return _pause(self._times_down - 1)
        return 0.0 if len(due) == most else _IDLE  # small batches would write to the store all the time


def _pause(failures: int) -> float:
    return min(_FIRST_PAUSE * 2.0 ** min(failures, 20), _LONGEST_PAUSE)
