"""Checks on every request: host, rate, size, permission and origin."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import math
import re
import secrets
import time
from collections.abc import Callable
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .server_settings import Settings, is_local
from .store import ROLES, Account, Store, Unavailable

_log = logging.getLogger(__name__)
SESSION, CSRF, REVIEWER = "noisybayes_session", "noisybayes_csrf", "noisybayes_reviewer"
SMALL_BODY = 1_000_000
_OPEN = ("/login", "/static/", "/api/health")
# A viewer looks, a reviewer gives labels and talks to bots, a salesperson sees contact details and answers customers,
# an admin changes and removes things.
SAFE = ("GET", "HEAD", "OPTIONS")
_OF_EVERYBODY = re.compile(r"/(login|logout|reviewer)")
_OF_REVIEWERS = re.compile(
    r"/api/tables/\d+/(verdicts|accept|undo|fit)|/t/\d+/(verdict|accept|undo|refit|fit)|(/api)?/chat(/[^/]*)?|/learn"
    r"|/api/bots/[^/]+/messages|/api/labels"
)
_OF_SALES = re.compile(r"/handover/\d+|/api/handovers/\d+/answer|/leads\.csv")
#: Content types that other sites can send without a preflight request; we refuse preflight requests.
_SIMPLE = ("application/x-www-form-urlencoded", "multipart/form-data", "text/plain", "")
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # with no-referrer, browsers would send our own forms with the origin null
    "Cross-Origin-Opener-Policy": "same-origin",
}


class Guard:
    """respond : from request, status, detail and headers to a page, or JSON for the API"""

    def __init__(self, app: ASGIApp, settings: Settings, store: Store, respond: Callable[..., Response]) -> None:
        self.app, self.settings, self.store, self.respond = app, settings, store, respond
        self.limiter = Limiter(settings.requests_per_second)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path = scope["path"]
        answer = _Answer(send, path)
        try:
            refused = await self._refused(scope, Headers(scope=scope))
            if refused is not None:
                await refused(scope, receive, answer.send)
                return
            limit = self.settings.most_upload + 10_000 if _takes_files(path) else SMALL_BODY
            await self.app(scope, _bounded(receive, limit, self.settings.most_seconds), answer.send)
        except Exception:
            # an unhandled exception would be answered by the server, without our headers
            _log.exception("%s %s failed", scope["method"], path)
            if answer.begun:
                raise
            failed = _says(500, "an unexpected error occurred; see the server's log for details")
            await failed(scope, receive, answer.send)

    async def _refused(self, scope: Scope, headers: Headers) -> Response | None:
        refused = self._refused_by_form(scope, headers)
        if refused is not None:
            return refused
        path, method = scope["path"], scope["method"]
        bearer = headers.get("authorization")
        account: Account | None = EVERYBODY  # without a server token, everybody on this machine may do everything
        try:
            if self.settings.token is not None:
                account = await run_in_threadpool(self._account, self.settings.token, headers, bearer, client_of(scope))
        except Unavailable as error:
            return await self._explained(scope, 503, str(error), {"Retry-After": "5"})
        except Locked as locked:
            return too_many_tries(locked.seconds)
        if account is None and not _is_open(path):
            detail = "a token is required: send it as 'Authorization: Bearer TOKEN'"
            wanted = {"WWW-Authenticate": "Bearer"}
            return _says(401, detail, wanted) if path.startswith("/api") else RedirectResponse("/login", 303)
        scope.setdefault("state", {})["account"] = account
        if account is not None and not may(account, least_role(method, path)):
            needed = least_role(method, path)
            detail = f"this requires the role {needed}; {account.name} has the role {account.role}"
            return await self._explained(scope, 403, detail)
        if method not in SAFE and not (bearer and account) and _is_foreign(headers, path):
            return _says(403, "this request did not come from a page of this server")
        too_large = self._too_large(headers, path)
        if too_large is not None:
            return await self._explained(scope, 413, too_large)
        return None

    async def _explained(
        self, scope: Scope, status: int, detail: str, headers: dict[str, str] | None = None
    ) -> Response:
        """For a person, who cannot read JSON."""
        return await run_in_threadpool(self.respond, Request(scope), status, detail, headers)

    def _refused_by_form(self, scope: Scope, headers: Headers) -> Response | None:
        """Checks that need only the request."""
        # a foreign name may resolve to 127.0.0.1; with a token, there may be a proxy in front
        if self.settings.token is None and not _is_local_name(headers.get("host", "")):
            return _says(421, "this server only answers requests from its own machine")
        if not self.limiter.allows(client_of(scope)):
            return _says(429, "too many requests; wait a moment", {"Retry-After": "1"})
        if not _is_origin(headers.get("origin")):
            return _says(400, "the header Origin is not a valid URL")
        return None

    def _too_large(self, headers: Headers, path: str) -> str | None:
        length = headers.get("content-length", "0")
        most = self.settings.most_upload if _takes_files(path) else SMALL_BODY
        is_fine = length.isascii() and length.isdigit() and int(length) <= most + 10_000
        return None if is_fine else f"the request is larger than {most / 1e6:,.0f} MB"

    def _account(self, token: str, headers: Headers, bearer: str | None, client: str) -> Account | None:
        """The account that sent the request."""
        if bearer is not None:
            return account_of_token(self.store, self.settings, bearer.removeprefix("Bearer "), client)
        key = cookie(headers, SESSION)
        return None if key is None else self.store.session(key, proof_of(token))


#: Anyone with the server token; they may use any name.
EVERYBODY = Account("", "admin")


def least_role(method: str, path: str) -> str:
    """Everything that is not listed requires an admin."""
    if method in SAFE or _OF_EVERYBODY.fullmatch(path):
        return "viewer"
    if _OF_REVIEWERS.fullmatch(path):
        return "reviewer"
    return "salesperson" if _OF_SALES.fullmatch(path) else "admin"


def may(account: Account, role: str) -> bool:
    return ROLES.index(account.role) >= ROLES.index(role)


def may_see_contacts(account: Account) -> bool:
    """Even masked ones: the last digits of a number or the host of an address can identify a person."""
    return may(account, "salesperson")


class Locked(Exception):
    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds


def account_of_token(store: Store, settings: Settings, token: str, client: str) -> Account | None:
    """The account of a token. Wrong tokens make the client wait longer; until then, even a right one is refused."""
    own = settings.token
    wait = store.wait_for_login(client)
    if wait > 0:
        raise Locked(wait)
    if own is not None and hmac.compare_digest(token.encode(), own.encode()):
        return EVERYBODY
    account = store.account_of(token)
    if account is None:
        store.login_failed(client)
    return account


def too_many_tries(seconds: float) -> Response:
    detail = f"too many wrong tokens; wait {math.ceil(seconds)} seconds"
    return _says(429, detail, {"Retry-After": str(math.ceil(seconds))})


def client_of(scope: Scope) -> str:
    return str((scope.get("client") or ("",))[0])


class Limiter:
    """Limits the requests per second and client; allows a burst of two seconds."""

    def __init__(self, per_second: float) -> None:
        self.per_second = per_second
        self._left: dict[str, tuple[float, float]] = {}

    def allows(self, client: str) -> bool:
        now = time.monotonic()
        left, last = self._left.get(client, (2 * self.per_second, now))
        left = min(left + (now - last) * self.per_second, 2 * self.per_second)
        if len(self._left) > 10_000:
            self._left.clear()
        self._left[client] = (max(left - 1, 0.0), now)
        return left >= 1


def proof_of(token: str) -> str:
    """Proof that the token was known, without storing it; sessions end when the server's token changes."""
    return hmac.new(token.encode(), b"noisybayes session", hashlib.sha256).hexdigest()


def new_csrf() -> str:
    return secrets.token_urlsafe(24)


def cookie(headers: Headers, name: str) -> str | None:
    try:
        morsel = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return None
    return None if morsel is None else morsel.value


def _is_origin(origin: str | None) -> bool:
    try:
        urlsplit(origin or "")
    except ValueError:
        return False
    return True


def _is_foreign(headers: Headers, path: str) -> bool:
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    if site is not None and site not in ("same-origin", "none"):
        return True
    # older browsers only send the origin
    if site is None and origin is not None and urlsplit(origin).netloc != headers.get("host"):
        return True
    # forms have a token (see pages); requests to the API must be such that no form on another site can send them
    kind = headers.get("content-type", "").split(";")[0].strip().lower()
    return path.startswith("/api/") and kind in _SIMPLE and "x-requested-with" not in headers


def _is_local_name(host: str) -> bool:
    try:
        name = urlsplit(f"//{host}").hostname
    except ValueError:
        return False
    return name is not None and is_local(name)


def _is_open(path: str) -> bool:
    return any(path == each or (each.endswith("/") and path.startswith(each)) for each in _OPEN)


def _takes_files(path: str) -> bool:
    return path in ("/import", "/api/tables")


def _says(status: int, detail: str, headers: dict[str, str] | None = None) -> Response:
    return JSONResponse({"detail": detail}, status, headers)


def _bounded(receive: Receive, most: int, seconds: float) -> Receive:
    """Limits the size of the body and the time until it has arrived."""
    taken, whole = 0, False
    end = time.monotonic() + seconds

    async def bounded() -> Message:
        nonlocal taken, whole
        if whole:  # from now on this waits for the client to disconnect
            return await receive()
        try:
            async with asyncio.timeout(max(end - time.monotonic(), 0.0)):
                message = await receive()
        except TimeoutError:
            raise HTTPException(408, f"the request did not arrive within {seconds:,.0f} seconds") from None
        whole = not message.get("more_body", False)
        taken += len(message.get("body", b""))
        if taken > most:
            raise HTTPException(413, f"the request is larger than {most / 1e6:,.0f} MB")
        return message

    return bounded


class _Answer:
    """Sends the response with the headers that all responses have."""

    def __init__(self, send: Send, path: str) -> None:
        self._send, self._path = send, path
        self.begun = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
            if not self._path.startswith("/static/"):
                headers.setdefault("Cache-Control", "no-store")
        await self._send(message)
