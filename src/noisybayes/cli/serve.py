"""`noisybayes serve`: the review desk and the bot in the browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click

from .table_options import clear_errors


@click.command()
@click.option("--demo", is_flag=True, help="Start with the example messages and the example bot, in a temporary store.")
@click.option(
    "--store", help="Where verdicts and chats are stored: a file, or postgresql://...  [default: noisybayes.db]"
)
@click.option(
    "--bot",
    "bots",
    multiple=True,
    metavar="[NAME=]FOLDER",
    help="A bot trained by 'noisybayes bot train'. Repeat for several bots, each with a NAME.",
)
@click.option(
    "--webhook",
    "webhooks",
    multiple=True,
    metavar="[NAME=]URL",
    help="URL to which a bot's replies, leads and handovers are sent, signed with NOISYBAYES_WEBHOOK_SECRET.",
)
@click.option(
    "--email", "emails", multiple=True, metavar="[NAME=]ADDRESS",
    help="E-mail address that is told of a bot's leads and handovers, by the server in NOISYBAYES_SMTP.",
)  # fmt: skip
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on; any but the local machine's requires a token.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True)
@click.option("--token", envvar="NOISYBAYES_TOKEN", help="Token required to log in.", show_envvar=True)
@click.option(
    "--max-upload", type=click.IntRange(min=1), default=50, show_default=True, help="Maximum upload size, in MB."
)
@click.option(
    "--max-memory", type=click.IntRange(min=100), default=2000, show_default=True,
    help="Memory for reading, fitting or exporting a table, in MB.",
)  # fmt: skip
@click.option(
    "--requests-per-second", type=click.FloatRange(min=0, min_open=True), default=50.0, show_default=True,
    help="Limit per client; excess requests are refused.",
)  # fmt: skip
def serve(**options: Any) -> None:
    """Review suspect labels, and chat with the bot, in the browser.

    \b
    noisybayes serve --demo
    then open http://127.0.0.1:8000.
    """  # fmt: skip
    with clear_errors():
        _serve(options)


def _serve(options: dict[str, Any]) -> None:
    from .._extras import require

    for module in ("fastapi", "uvicorn", "sqlalchemy", "python_multipart", "yaml", "cryptography"):
        require(module, extra="web", purpose="the review desk")
    from ..web.server import serve as run
    from ..web.server_settings import Settings

    settings = Settings(
        options["host"], options["port"], options["token"], options["max_upload"] * 1_000_000,
        options["max_memory"] * 1_000_000, options["requests_per_second"],
    )  # fmt: skip
    hosted_bots = _hosted_bots(options)
    with _place(options["store"], options["demo"]) as place:
        store = open_store(place)
        service = None
        if hosted_bots:
            from ..bot.contacts import key_from
            from ..bot.service import Service

            service = Service(store, hosted_bots, key_from(demo=options["demo"]))
        with suppress(KeyboardInterrupt):  # the way to stop it
            run(
                store, settings, service, options["demo"],
                lambda url: click.echo(f"Open {url} in a browser; press Ctrl-C to stop."),
            )  # fmt: skip


def _hosted_bots(options: dict[str, Any]) -> dict[str, Any]:
    """Bots by name, each with its webhook, its e-mail address and the token NOISYBAYES_BOT_TOKEN_NAME, if set."""
    import os

    folders, webhooks, emails = (_named(f"--{name}", options[f"{name}s"]) for name in ("bot", "webhook", "email"))
    if not folders and not options["demo"] and not webhooks and not emails:
        return {}
    from ..bot import demo_bot, load_bot
    from ..bot.delivery import check_email, check_webhook
    from ..bot.service import HostedBot
    from ..data.errors import InputError

    bots: dict[str, tuple[Any, Path | None]] = {
        name: (load_bot(folder), Path(folder)) for name, folder in folders.items()
    }
    if not bots and options["demo"]:
        bots = {_ONLY: (demo_bot(), None)}
    secret, smtp = (os.environ.get(name, "") for name in ("NOISYBAYES_WEBHOOK_SECRET", "NOISYBAYES_SMTP"))
    for option, given in (("--webhook", webhooks), ("--email", emails)):
        for name in given:
            if name not in bots:
                known = f"choose from {', '.join(bots)}" if bots else "add --bot FOLDER"
                raise InputError(f"{option} names the bot {name!r}, which no --bot defines; {known}")
    for url in webhooks.values():
        check_webhook(url, secret)
    for address in emails.values():
        check_email(address, smtp)
    return {
        name: HostedBot(
            each, folder, token=os.environ.get(f"NOISYBAYES_BOT_TOKEN_{name.upper()}"), webhook=webhooks.get(name),
            secret=secret, email=emails.get(name), smtp=smtp,
        )
        for name, (each, folder) in bots.items()
    }  # fmt: skip


_ONLY = "bot"  # the default name of a bot
_NAME = re.compile(r"([A-Za-z][A-Za-z0-9_]{0,30})=(.+)", re.DOTALL)


def _named(option: str, values: tuple[str, ...]) -> dict[str, str]:
    from ..data.errors import InputError

    by_name: dict[str, str] = {}
    for value in values:
        match = _NAME.fullmatch(value)
        name, rest = (match[1], match[2]) if match else (_ONLY, value)
        if name in by_name:
            raise InputError(f"{option} gives the bot {name!r} twice; write NAME={rest} with different names")
        by_name[name] = rest
    return by_name


@contextmanager
def _place(given: str | None, demo: bool) -> Iterator[str | None]:
    """The URL of the store; that of the demo is deleted with the process, even if it is terminated."""
    if given is not None or not demo:
        yield given
        return
    import tempfile

    from .._files import scratch_folder

    with scratch_folder(Path(tempfile.gettempdir())) as folder:
        yield f"{folder}/demo.db"


def open_store(given: str | None) -> Any:
    """A name without :// is a file path."""
    from .._extras import require
    from ..data.errors import InputError

    require("sqlalchemy", extra="web", purpose="the review desk")
    from ..web.server import default_store
    from ..web.store import Store, StoreError

    url = default_store() if given is None else given if "://" in given else f"sqlite:///{Path(given).resolve()}"
    try:
        return Store.open(url)
    except StoreError as error:
        raise InputError(str(error)) from None
