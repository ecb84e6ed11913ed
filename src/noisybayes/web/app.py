"""The application: pages and API over one store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.staticfiles import StaticFiles

from .._version import __version__
from ..bot import Bot
from . import pages
from .api import api
from .bot_api import bot_api
from .contact_key import key_from
from .desk import Desk
from .error_responses import add_error_handlers, respond
from .guard import Guard
from .responder import HostedBot, Responder
from .review_api import review_api
from .server_settings import Settings
from .store import Store
from .webhook import send_events


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    desk, end = app.state.desk, asyncio.Event()
    desk.jobs.watch()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(send_events(desk.responder, end))
        yield
        end.set()  # the posts under way are finished, so that they need not be repeated
    await run_in_threadpool(desk.jobs.stop)


def create_app(
    store: Store, settings: Settings | None = None, bot: Bot | None = None, *, responder: Responder | None = None
) -> FastAPI:
    """The web application on an open store. It takes over fits that an earlier server left unfinished.

    `bot` alone, for demos and tests, encrypts contact details with a key that ends with the process; `responder` has
    bots with their webhooks and keys.
    """
    settings = settings or Settings()
    if responder is None and bot is not None:
        responder = Responder(store, {"bot": HostedBot(bot)}, key_from({}, demo=True))
    desk = Desk(store, settings, responder)
    # we have our own documentation page (see pages): FastAPI's loads scripts from other sites
    app = FastAPI(
        title="noisybayes", version=__version__, docs_url=None, redoc_url=None,
        openapi_url="/api/openapi.json", lifespan=_lifespan,
        description="Review of suspect labels, and the bot's chats.",
    )  # fmt: skip
    app.state.desk = desk
    for router in (bot_api, api, review_api, *pages.ROUTERS):  # messages of customers come most often
        app.include_router(router)
    app.mount("/static", StaticFiles(directory=str(files("noisybayes.web") / "static")), name="static")
    app.add_middleware(Guard, settings=settings, store=store, respond=respond)
    add_error_handlers(app)
    return app
