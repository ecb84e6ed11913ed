"""The application: pages and API over one store."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.staticfiles import StaticFiles

from .._version import __version__
from ..bot import Bot
from ..data.errors import InputError
from . import pages
from .api import api
from .desk import Desk
from .guard import Guard
from .settings import Settings
from .store import Busy, Conflict, NotFound, Store

_STATUS = {InputError: 422, NotFound: 404, Conflict: 409, Busy: 409}


def create_app(store: Store, settings: Settings | None = None, bot: Bot | None = None) -> FastAPI:
    """The web application over an open store. Fits that an earlier server left unfinished count as failed."""
    settings = settings or Settings()
    store.abandon_fits()
    desk = Desk(store, settings, bot)
    # the documentation page is our own (see pages): the usual one loads scripts from elsewhere
    app = FastAPI(
        title="noisybayes", version=__version__, docs_url=None, redoc_url=None,
        openapi_url="/api/openapi.json", description="Review of suspect labels, and the bot's chats.",
    )  # fmt: skip
    app.state.desk = desk
    app.include_router(api)
    for router in pages.ROUTERS:
        app.include_router(router)
    app.mount("/static", StaticFiles(directory=str(files("noisybayes.web") / "static")), name="static")
    app.add_middleware(Guard, settings=settings)
    for error, status in _STATUS.items():
        app.add_exception_handler(error, _handler(status))
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(RequestValidationError, _bad_request)
    return app


def _handler(status: int) -> Any:
    async def handle(request: Request, error: Exception) -> Response:
        return _respond(request, status, str(error))

    return handle


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _respond(request, error.status_code, str(error.detail))


async def _bad_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    told = "; ".join(f"{'.'.join(map(str, each['loc'][1:]))}: {each['msg']}" for each in error.errors())
    return _respond(request, 422, told)


def _respond(request: Request, status: int, detail: str) -> Response:
    if request.url.path.startswith("/api/"):
        return JSONResponse({"detail": detail}, status)
    return pages.error_page(request, status, detail)
