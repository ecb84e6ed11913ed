"""The application: pages and API over one store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.staticfiles import StaticFiles

from .. import __version__
from ..bot import Bot
from . import pages
from .answers import add_answers
from .api import api
from .desk import Desk
from .guard import Guard
from .settings import Settings
from .store import Store


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    jobs = app.state.desk.jobs
    jobs.watch()
    yield
    await run_in_threadpool(jobs.stop)


def create_app(store: Store, settings: Settings | None = None, bot: Bot | None = None) -> FastAPI:
    """The web application over an open store. Fits that an earlier server left unfinished are taken over."""
    settings = settings or Settings()
    desk = Desk(store, settings, bot)
    # the documentation page is our own (see pages): the usual one loads scripts from elsewhere
    app = FastAPI(
        title="noisybayes", version=__version__, docs_url=None, redoc_url=None,
        openapi_url="/api/openapi.json", lifespan=_lifespan,
        description="Review of suspect labels, and the bot's chats.",
    )  # fmt: skip
    app.state.desk = desk
    app.include_router(api)
    for router in pages.ROUTERS:
        app.include_router(router)
    app.mount("/static", StaticFiles(directory=str(files("noisybayes.web") / "static")), name="static")
    app.add_middleware(Guard, settings=settings, store=store)
    add_answers(app)
    return app
