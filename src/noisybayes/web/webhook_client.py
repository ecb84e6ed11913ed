"""Signed posts to the receiver of a webhook, over connections that are kept open."""

from __future__ import annotations

import base64
import hashlib
import hmac
import http.client
import threading
import time
from typing import NamedTuple
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

SIGNATURE, EVENT_ID, TIMESTAMP = "X-Noisybayes-Signature", "X-Noisybayes-Event", "X-Noisybayes-Timestamp"
PATIENCE = 10.0  # seconds to wait for a response
_LONGEST_ANSWER = 65_536  # bytes that are read so that the connection can be used again


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """HMAC-SHA256 of `timestamp.body`, hexadecimal."""
    return "sha256=" + hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()


class Failure(NamedTuple):
    problem: str
    answered: bool  # with a status that is not below 300


class Receiver:
    """Posts over one connection per thread. Redirects are not followed.

    Contact details must go to the configured address and nowhere else.
    """

    def __init__(self, url: str, secret: str) -> None:
        self._secret = secret
        self._scheme, host, self._target = _parts(url)
        proxy = None if proxy_bypass(host) else getproxies().get(self._scheme)
        self._host, self._proxy = host, None if proxy is None else urlsplit(proxy)
        self._headers = {"Content-Type": "application/json"}
        if self._proxy is not None and self._scheme == "http":
            self._target = url
            self._headers |= self._proxy_headers()
        self._local = threading.local()

    def post(self, event_id: int, body: bytes) -> Failure | None:
        """None if it was accepted."""
        stamp = str(int(time.time()))
        headers = self._headers | {
            EVENT_ID: str(event_id), TIMESTAMP: stamp, SIGNATURE: signature(self._secret, stamp, body)
        }  # fmt: skip
        reused = getattr(self._local, "connection", None) is not None
        try:
            try:
                status = self._ask(body, headers)
            except (ConnectionError, http.client.RemoteDisconnected):
                if not reused:
                    raise
                status = self._ask(body, headers)  # the receiver had closed the idle connection
        except (OSError, ValueError, http.client.HTTPException) as error:
            return Failure(f"the webhook did not respond: {str(error) or type(error).__name__}", False)
        return None if status < 300 else Failure(f"the webhook responded with status {status}", True)

    def close(self) -> None:
        """The connection of this thread."""
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            self._local.connection = None
            connection.close()

    def _ask(self, body: bytes, headers: dict[str, str]) -> int:
        connection = getattr(self._local, "connection", None) or self._connect()
        self._local.connection = connection
        try:
            connection.request("POST", self._target, body, headers)
            answer = connection.getresponse()
            if len(answer.read(_LONGEST_ANSWER)) == _LONGEST_ANSWER or answer.will_close:
                self.close()
            return int(answer.status)
        except BaseException:
            self.close()
            raise

    def _connect(self) -> http.client.HTTPConnection:
        kind = http.client.HTTPSConnection if self._scheme == "https" else http.client.HTTPConnection
        if self._proxy is None:
            return kind(self._host, timeout=PATIENCE)
        connection = kind(str(self._proxy.hostname), self._proxy.port, timeout=PATIENCE)
        if self._scheme == "https":
            connection.set_tunnel(self._host, headers=self._proxy_headers())
        return connection

    def _proxy_headers(self) -> dict[str, str]:
        assert self._proxy is not None
        if self._proxy.username is None:
            return {}
        both = f"{unquote(self._proxy.username)}:{unquote(self._proxy.password or '')}"
        return {"Proxy-Authorization": f"Basic {base64.b64encode(both.encode()).decode()}"}


def _parts(url: str) -> tuple[str, str, str]:
    """Scheme, host with port, and request target."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return parts.scheme, host, (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
