"""Who looks, who may come in, and what programs may ask."""

from __future__ import annotations

import hmac
from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import Response

from ...data.errors import InputError
from ...report.html import asset
from ..api import TheDesk
from ..guard import REVIEWER, SESSION, session_of
from .page import checked, go, render, set_cookie

router = APIRouter(include_in_schema=False)


@router.get("/static/report.css")
def report_style() -> Response:
    return Response(str(asset("report.css")), media_type="text/css")


@router.post("/reviewer", dependencies=checked)
def rename_reviewer(request: Request, name: Annotated[str, Form(min_length=1, max_length=60)]) -> Response:
    if not name.strip().isprintable() or not name.strip().isascii():
        raise InputError("a reviewer's name is kept in a cookie: use plain letters, digits and signs")
    response = go("/")
    set_cookie(request, response, REVIEWER, name.strip())
    return response


@router.get("/api")
def api_page(request: Request) -> Response:
    return render(request, "api.html", document=request.app.openapi())


@router.get("/login")
def login_form(request: Request) -> Response:
    return render(request, "login.html", error=None)


@router.post("/login", dependencies=checked)
def login(request: Request, desk: TheDesk, token: Annotated[str, Form()]) -> Response:
    expected = desk.settings.token
    if expected is None or not hmac.compare_digest(token.strip().encode(), expected.encode()):
        return render(request, "login.html", 403, error="This is not the token that the server was started with.")
    response = go("/")
    set_cookie(request, response, SESSION, session_of(expected))
    return response


@router.post("/logout", dependencies=checked)
def logout() -> Response:
    response = go("/login")
    response.delete_cookie(SESSION)
    return response
