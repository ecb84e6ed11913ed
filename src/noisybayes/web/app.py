"""The application: pages and API over one store, and a status and a sentence for each error."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.routing import Match
from starlette.staticfiles import StaticFiles

from .._version import __version__
from ..data.errors import InputError, in_field_words
from . import pages
from .api import api
from .desk import Desk, Extension
from .guard import Guard
from .review_api import review_api
from .server_settings import Settings
from .store import Busy, Conflict, NotFound, Store, StoreError, Unavailable

#: The first matching entry is used.
STATUS: dict[type[Exception], int] = {
    InputError: 422, NotFound: 404, Conflict: 409, Busy: 409, Unavailable: 503, StoreError: 422,
}  # fmt: skip
#: Seconds after which to retry when the store is unavailable.
_RETRY_AFTER = "5"


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    desk, end = app.state.desk, asyncio.Event()
    desk.jobs.watch()
    async with asyncio.TaskGroup() as tasks:
        if app.state.extension is not None:
            tasks.create_task(app.state.extension.work(end))
        yield
        end.set()
    await run_in_threadpool(desk.jobs.stop)


def create_app(store: Store, settings: Settings | None = None, extension: Extension | None = None) -> FastAPI:
    """The web application on an open store. It takes over fits that an earlier server left unfinished.

    extension : further pages and routes, such as those of bots
    """
    settings = settings or Settings()
    # we have our own documentation page (see pages): FastAPI's loads scripts from other sites
    app = FastAPI(
        title="noisybayes", version=__version__, docs_url=None, redoc_url=None,
        openapi_url="/api/openapi.json", lifespan=_lifespan,
        description="Review of suspect labels.",
    )  # fmt: skip
    app.state.desk, app.state.extension = Desk(store, settings), extension
    own = () if extension is None else extension.routers
    for router in (*own, api, review_api, *pages.ROUTERS):  # messages of customers come most often
        app.include_router(router)
    app.mount("/static", StaticFiles(directory=str(files("noisybayes.web") / "static")), name="static")
    app.add_middleware(Guard, settings=settings, store=store, respond=respond)
    add_error_handlers(app)
    return app


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
    extension = request.app.state.extension
    routers = (api, review_api, *pages.ROUTERS, *(() if extension is None else extension.routers))
    routes = [route for router in routers for route in router.routes]
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
