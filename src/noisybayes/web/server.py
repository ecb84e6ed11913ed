"""The server: one process, a store and, optionally, the example data."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ..data.errors import InputError
from .server_settings import Settings

if TYPE_CHECKING:
    from fastapi import FastAPI

    from .desk import Extension
    from .store import Store

DEMO_TABLE = "dealership.csv"
_MOST_CONNECTIONS = 800  # others get 503; below the usual limit of 1,024 open files
DEMO_COLUMNS = {"label": "label", "text": ["message"], "id": "id"}


def add_demo(store: Store, app: FastAPI) -> None:
    """Import and fit the example messages, unless the store already has them."""
    if any(table.name == DEMO_TABLE for table in store.tables()):
        return
    desk = app.state.desk
    desk.choose_columns(desk.import_file(DEMO_TABLE, _demo_file().read_bytes()), DEMO_COLUMNS)


def _demo_file() -> Path:
    """Next to this file when installed, among the examples in a checkout."""
    here = Path(__file__).parent
    installed = here / "demo" / DEMO_TABLE
    return installed if installed.exists() else here.parents[2] / "examples" / DEMO_TABLE


def serve(
    store: Store, settings: Settings, extension: Extension | None, demo: bool, announce: Callable[[str], None]
) -> None:
    """Serve until interrupted. `announce` is called with the address as soon as it is bound."""
    import uvicorn

    from .app import create_app

    listener = _listen(settings)
    announce(_address(listener))
    app = create_app(store, settings, extension)
    if demo:
        add_demo(store, app)
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=5,
        limit_concurrency=_MOST_CONNECTIONS,
    )  # fmt: skip
    try:
        uvicorn.Server(config).run(sockets=[listener])
    finally:
        store.close()


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    name = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{name}:{port}"


def _listen(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
    except OSError as error:
        listener.close()
        raise InputError(
            f"cannot listen on {settings.host} port {settings.port} ({error.strerror}); choose another --port"
        ) from None
    listener.listen(512)
    return listener


def default_store() -> str:
    """A file in the current folder, so that the next start there finds the review again."""
    return f"sqlite:///{Path('noisybayes.db').resolve()}"
