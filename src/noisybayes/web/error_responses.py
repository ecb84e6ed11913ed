"""From exceptions to responses: a status for each exception, and a message in the terms of the page or the API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.routing import Match

from ..data.errors import InputError, in_field_words
from . import pages
from .api import api
from .bot_api import bot_api
from .review_api import review_api
from .store import Busy, Conflict, NotFound, StoreError, Unavailable

#: The first matching entry is used.
STATUS: dict[type[Exception], int] = {
    InputError: 422, NotFound: 404, Conflict: 409, Busy: 409, Unavailable: 503, StoreError: 422,
}  # fmt: skip
#: Seconds after which to retry when the store is unavailable.
_RETRY_AFTER = "5"


def add_error_handlers(app: FastAPI) -> None:
    for error in STATUS:
        app.add_exception_handler(error, _input_or_store_error)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(RequestValidationError, _bad_request)


async def _input_or_store_error(request: Request, error: Exception) -> Response:
    status = next(status for kind, status in STATUS.items() if isinstance(error, kind))
    headers = {"Retry-After": _RETRY_AFTER} if status == 503 else None
    return respond(request, status, in_field_words(str(error)), headers)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    headers = dict(error.headers or {})
    if error.status_code == 405:
        headers["Allow"] = ", ".join(_allowed_methods(request))
    return respond(request, error.status_code, str(error.detail), headers)


def _allowed_methods(request: Request) -> list[str]:
    """The methods of all routes of a path; the router only lists those of the first."""
    routes = [route for router in (api, review_api, bot_api, *pages.ROUTERS) for route in router.routes]
    matching = [route for route in routes if route.matches(request.scope)[0] is not Match.NONE]
    return sorted({method for route in matching for method in getattr(route, "methods", None) or ()})


async def _bad_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    detail = "; ".join(f"{'.'.join(map(str, each['loc'][1:]))}: {each['msg']}" for each in error.errors())
    return respond(request, 422, detail)


def respond(request: Request, status: int, detail: str, headers: Mapping[str, Any] | None = None) -> Response:
    """JSON for the API, a page for everything else."""
    if request.url.path.startswith("/api/"):
        return JSONResponse({"detail": detail}, status, headers)
    page = pages.error_page(request, status, detail)
    page.headers.update(headers or {})
    return page
