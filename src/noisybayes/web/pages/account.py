"""The name of the reviewer, login, and the API page."""

from __future__ import annotations

import math
from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import Response

from ...data.errors import InputError
from ...report.html import asset
from ..api import CurrentDesk, account_of
from ..guard import REVIEWER, SESSION, Locked, account_of_token, client_of, proof_of
from ..store import SESSION_LASTS
from .rendering import checked, render, see_other, set_cookie

router = APIRouter(include_in_schema=False)


@router.get("/static/report.css")
def report_style() -> Response:
    return Response(str(asset("report.css")), media_type="text/css")


@router.post("/reviewer", dependencies=checked)
def rename_reviewer(request: Request, name: Annotated[str, Form(min_length=1, max_length=60)]) -> Response:
    if account_of(request).name:
        raise InputError("your name is the name of your account and cannot be changed here")
    if not name.strip().isprintable() or not name.strip().isascii():
        raise InputError("the name is stored in a cookie, so it can only contain ASCII letters, digits and punctuation")
    response = see_other("/")
    set_cookie(request, response, REVIEWER, name.strip())
    return response


@router.get("/api")
def api_page(request: Request) -> Response:
    return render(request, "api.html", document=request.app.openapi())


@router.get("/login")
def login_form(request: Request) -> Response:
    return render(request, "login.html", error=None)


@router.post("/login", dependencies=checked)
def login(request: Request, desk: CurrentDesk, token: Annotated[str, Form()]) -> Response:
    expected, client = desk.settings.token, client_of(request.scope)
    try:
        account = None if expected is None else account_of_token(desk.store, desk.settings, token.strip(), client)
    except Locked as locked:
        wait = math.ceil(locked.seconds)
        page = render(request, "login.html", 429, error=f"Too many wrong tokens. Wait {wait} seconds.")
        page.headers["Retry-After"] = str(wait)
        return page
    if expected is None or account is None:
        return render(request, "login.html", 403, error="This token belongs neither to the server nor to an account.")
    desk.store.login_succeeded(client)
    response = see_other("/")
    key = desk.store.start_session(account.name, proof_of(expected))
    set_cookie(request, response, SESSION, key, int(SESSION_LASTS.total_seconds()))
    return response


@router.post("/logout", dependencies=checked)
def logout(request: Request, desk: CurrentDesk) -> Response:
    key = request.cookies.get(SESSION)
    if key is not None:
        desk.store.end_session(key)
    response = see_other("/login")
    response.delete_cookie(SESSION)
    return response
