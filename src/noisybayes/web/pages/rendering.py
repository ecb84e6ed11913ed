"""What all pages share: layout, cookies, and the token that proves that a form is ours."""

from __future__ import annotations

import hmac
import re
import secrets
from functools import cache
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Depends, Form, HTTPException, Request
from jinja2 import ChoiceLoader, Environment, PackageLoader
from markupsafe import Markup, escape
from starlette.responses import HTMLResponse, RedirectResponse, Response

from ..._version import __version__
from ...report import phrases
from ...report.highlights import excerpt, length_of
from ...report.html import environment
from ..api import account_of, desk_of
from ..desk import Desk
from ..guard import CSRF, REVIEWER, new_csrf
from ..store import TableInfo, Unavailable

YEAR = 365 * 24 * 3600


@cache
def templates(extension: str | None = None) -> Environment:
    """extension : a package with further templates"""
    shared = environment("noisybayes.web")
    # shared with the report
    packages = ["noisybayes.web", "noisybayes.report", *([extension] if extension else [])]
    shared.loader = ChoiceLoader([PackageLoader(name) for name in packages])
    shared.filters |= {"excerpt": excerpt, "length_of": length_of, "with_code": with_code}
    return shared


def with_code(text: str) -> Markup:
    """Names between backticks, as in docstrings, become code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def render(request: Request, name: str, status: int = 200, **context: Any) -> HTMLResponse:
    """Render a page with what all pages need: the reviewer, the form token and the table in the menu."""
    csrf = request.cookies.get(CSRF) or new_csrf()
    account = getattr(request.state, "account", None)
    reviewer = (account.name if account else "") or request.cookies.get(REVIEWER) or f"guest-{secrets.token_hex(2)}"
    desk, extension = desk_of(request), request.app.state.extension
    table = context.pop("table", None)
    shared = {
        "csrf": csrf, "reviewer": reviewer, "has_account": bool(account and account.name),
        "path": request.url.path, "table": table, "phrases": phrases,
        "has_token": desk.settings.token is not None, "version": __version__, "menu": table or _newest(desk),
        "links": extension.links if extension else (),
        "summary": extension.summary() if extension and name == "home.html" else "",
        "running": None if table is None else desk.store.running_fit(table.id),
    }  # fmt: skip
    response = HTMLResponse(
        templates(extension.package if extension else None).get_template(name).render(shared | context), status
    )
    if CSRF not in request.cookies:
        set_cookie(request, response, CSRF, csrf)
    if REVIEWER not in request.cookies and not (account and account.name):
        set_cookie(request, response, REVIEWER, reviewer)
    return response


def _newest(desk: Desk) -> TableInfo | None:
    """The table in the menu of pages without one; None while the store is unavailable."""
    try:
        return next((table for table in desk.store.tables() if table.roles is not None), None)
    except Unavailable:
        return None


def set_cookie(request: Request, response: Response, name: str, value: str, max_age: int = YEAR) -> None:
    secure = request.url.scheme == "https"  # set by a proxy on this machine
    response.set_cookie(name, value, max_age=max_age, httponly=True, samesite="lax", secure=secure)


def error_page(request: Request, status: int, detail: str) -> Response:
    titles = {
        403: "Not allowed", 404: "Page not found", 409: "Not possible right now", 413: "Too large",
        503: "Temporarily unavailable",
    }  # fmt: skip
    title = titles.get(status, "Something went wrong")
    return render(request, "error.html", status, title=title, detail=detail)


def check_csrf(request: Request, csrf_token: Annotated[str, Form()] = "") -> None:
    """Accept a form only if it was rendered for this browser."""
    expected = request.cookies.get(CSRF, "")
    if not expected or not hmac.compare_digest(expected.encode(), csrf_token.encode()):
        raise HTTPException(403, "this form has expired or is not from this server; go back, reload and try again")


def reviewer_of(request: Request) -> str:
    return (account_of(request).name or request.cookies.get(REVIEWER) or "somebody")[:60]


checked = [Depends(check_csrf)]
Reviewer = Annotated[str, Depends(reviewer_of)]


def see_other(path: str, **query: Any) -> RedirectResponse:
    given = {name: value for name, value in query.items() if value not in (None, "")}
    return RedirectResponse(f"{path}?{urlencode(given)}" if given else path, 303)
