"""The webhook: events are sent signed, in order per dialog, and again with growing pauses until they are taken."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

from ..data.errors import InputError
from .contact_key import ContactKey
from .responder import Seat
from .store import Store, StoreError
from .store.outbox import Outgoing

SIGNATURE, EVENT_ID, TIMESTAMP = "X-Noisybayes-Signature", "X-Noisybayes-Event", "X-Noisybayes-Timestamp"
LEAST_SECRET = 16
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 60.0  # seconds
_PATIENCE = 10.0  # seconds for one answer
_IDLE = 0.2  # seconds between looks into the outbox
_AT_ONCE = 8
_BATCH = 64  # events that are sent before the store is told


def check_webhook(url: str, secret: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError(f"the webhook {url!r} is not an address; write https://HOST/PATH")
    if len(secret) < LEAST_SECRET:
        raise InputError(
            f"a webhook needs a secret of {LEAST_SECRET} characters or more to sign with: set NOISYBAYES_WEBHOOK_SECRET"
        )


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """HMAC-SHA256 of `timestamp.body`, hexadecimal."""
    return "sha256=" + hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()


class Sender:
    """Sends what waits in the store, in a thread of its own, until it is closed."""

    def __init__(self, store: Store, seats: Mapping[str, Seat], key: ContactKey | None, pause: float = _FIRST_PAUSE):
        self._store, self._key, self._first_pause = store, key, pause
        self._seats = {name: seat for name, seat in seats.items() if seat.webhook is not None}
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._work, name="webhook", daemon=True)

    def start(self) -> None:
        if self._seats:
            self._thread.start()

    def close(self) -> None:
        self._end.set()
        if self._thread.is_alive():
            self._thread.join(_PATIENCE + 1)

    def _work(self) -> None:
        with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="webhook") as pool:
            while not self._end.is_set():
                try:
                    due = self._store.due_events(list(self._seats), _BATCH)
                    self._settle(due, list(pool.map(self._post, due)))
                except StoreError:  # the store will work again, or the server says so itself
                    due = []
                if not due:
                    self._end.wait(_IDLE)

    def _settle(self, events: list[Outgoing], problems: list[str | None]) -> None:
        both = list(zip(events, problems, strict=True))
        self._store.settle_events(
            [event.id for event, problem in both if problem is None],
            [(event.id, problem, self._pause(event)) for event, problem in both if problem is not None],
        )

    def _pause(self, event: Outgoing) -> float:
        return float(min(self._first_pause * 2 ** min(event.attempts, 20), _LONGEST_PAUSE))

    def _post(self, event: Outgoing) -> str | None:
        """None if it was taken, else what was wrong."""
        seat = self._seats[event.bot]
        assert seat.webhook is not None
        body = json.dumps(self._told(event), ensure_ascii=False).encode()
        stamp = str(int(time.time()))
        headers = {
            "Content-Type": "application/json", EVENT_ID: str(event.id), TIMESTAMP: stamp,
            SIGNATURE: signature(seat.secret, stamp, body),
        }  # fmt: skip
        try:
            with _OPENER.open(urllib.request.Request(seat.webhook, body, headers), timeout=_PATIENCE):
                return None
        except urllib.error.HTTPError as error:
            error.close()
            return f"the webhook answered {error.code}"
        except (OSError, ValueError) as error:  # no connection, no answer in time, or an answer that is not HTTP
            return f"the webhook did not answer: {error}"

    def _told(self, event: Outgoing) -> dict[str, object]:
        body = dict(event.body)
        if event.kind == "lead" and self._key is not None:
            body["contact"] = self._key.decrypt(str(body["contact"]))
        return {"id": event.id, "bot": event.bot, "dialog": event.dialog_id, "kind": event.kind, **body}


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A receiver that moved must be told to us by people: contact details go where they said, and nowhere else."""

    def redirect_request(self, *_: object) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirects)
