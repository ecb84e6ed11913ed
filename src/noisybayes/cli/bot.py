"""`noisybayes bot`: an auto-responder, from its configuration to a chat in the terminal."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .table_options import clear_errors, quiet_option

if TYPE_CHECKING:
    from ..bot import Bot, Turn

_LANGUAGES = click.Choice(["en", "zh"])


@click.group()
def bot() -> None:
    """Answer customers' messages, and hand over to people what they must know.

    \b
        noisybayes bot init shop.yaml --minimal
        noisybayes bot train shop.yaml --out shop
        noisybayes bot chat shop
    """


@bot.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--minimal", is_flag=True, help="Ask three questions, and write a file for your own shop.")
@click.option("--language", type=_LANGUAGES, default="en", show_default=True, help="Language of --minimal.")
def init(file: Path, minimal: bool, language: str) -> None:
    """Write a configuration to FILE and its catalogue beside it: the example dealership, or (--minimal) your shop."""
    with clear_errors():
        from .._files import whole_file
        from ..bot.config import SHIPPED, load_config
        from ..data.errors import InputError

        if minimal:
            texts = _minimal(file, language, *(click.prompt(question) for question in _QUESTIONS[language]))
        else:
            texts = {file: (SHIPPED / "cars.yaml").read_text(encoding="utf-8")}
            texts |= {file.parent / name: text for name, text in load_config("cars").files().items()}
        for path in texts:
            if path.exists():
                raise InputError(f"{path} already exists; choose another name or remove it first")
        for path, text in texts.items():
            with whole_file(path) as target:
                target.write_text(text, encoding="utf-8")
            click.echo(f"wrote {path}")
    click.echo(f"next: noisybayes bot train {file} --out {file.with_suffix('')}")


_QUESTIONS = {
    "en": ("Name of your business", "Address and opening hours", "What you sell (names, separated by commas)"),
    "zh": ("店名", "地址和营业时间", "卖什么（名称，用逗号分开）"),
}


def _minimal(file: Path, language: str, title: str, address: str, sold: str) -> dict[Path, str]:
    """The configuration and its two tables."""
    import csv
    import io
    import re

    from ..bot.config import SHIPPED

    def table(rows: list[list[str]]) -> str:
        buffer = io.StringIO()
        csv.writer(buffer, lineterminator="\n").writerows(rows)
        return buffer.getvalue()

    products, shop = (file.with_name(f"{file.stem}_{name}.csv") for name in ("products", "shop"))
    text = (SHIPPED / f"minimal_{language}.yaml").read_text(encoding="utf-8")
    quoted = "'" + title.strip().replace("'", "''") + "'"
    for name, value in (("PRODUCTS", products.name), ("SHOP", shop.name), ("TITLE", quoted)):
        text = text.replace(name, value, 1)
    names = [name.strip() for name in re.split("[,，、]", sold) if name.strip()]
    rows = [["product", "price", "stock"], *([name, "", ""] for name in names or ["?"])]
    return {file: text, products: table(rows), shop: table([["address"], [address]])}


@bot.command()
@click.argument("config", metavar="FILE")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder for the bot.")
@quiet_option
def train(config: str, out: Path, quiet: bool) -> None:
    """Train a bot from the examples of the configuration FILE (or of the shipped one, cars)."""
    with clear_errors():
        from ..bot import Bot, load_config

        trained = Bot.train(load_config(config))
        trained.save(out)
    if not quiet:
        click.echo(f"{len(trained.examples):,} examples of {len(trained.model.topics)} topics")
        click.echo(f"wrote {out}; next: noisybayes bot chat {out}")


@bot.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option("--verbose", is_flag=True, help="Show the topics of each message, their probability, and who is told.")
def chat(folder: Path | None, verbose: bool) -> None:
    """Chat with the bot in FOLDER, or with the example bot. /quit or Ctrl-D ends the chat; /new starts again.

    Messages can also be piped in, one per line.
    """
    with clear_errors():
        from ..bot import Dialog

        talking = _bot(folder)
    prompt = sys.stdin.isatty()
    if prompt:
        click.echo(f"{talking.config.title}. /quit or Ctrl-D ends, /new starts again.")
    dialog = Dialog()
    while (message := _next_message(prompt)) is not None:
        if message == "/new":
            dialog = Dialog()
        elif message:
            turn = talking.answer(dialog, message)
            dialog = turn.dialog
            _show_turn(turn, verbose)


@bot.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option(
    "--tests", multiple=True, type=click.Path(path_type=Path), metavar="FILE",
    help="Test messages and dialogs (YAML)  [default: those that the configuration names]",
)  # fmt: skip
@quiet_option
def evaluate(folder: Path | None, tests: tuple[Path, ...], quiet: bool) -> None:
    """Measure the bot in FOLDER, or the example bot, on test messages and dialogs.

    Shown are how many messages get an acceptable answer, how many dialogs reach their goal, and all misses.
    """
    with clear_errors():
        from ..bot import evaluate as tested
        from ..data.errors import InputError

        talking = _bot(folder)
        files = list(tests) or [talking.config.folder / name for name in talking.config.tests]
        if not files:
            raise InputError("there are no tests: name a file with --tests, or in the configuration (tests: [FILE])")
        for file in files:
            found = tested.evaluate(talking, tested.read_tests([file]))
            click.echo(
                f"{file.name}: {found.acceptable} of {found.messages} messages acceptable; in dialogs "
                f"{found.acceptable_turns} of {found.turns}, goal reached in {found.goals} of {found.dialogs}"
            )
            for miss in () if quiet else found.misses:
                click.echo(
                    f"  {miss.said}\n    expected {miss.expected}, got {miss.acts}: {miss.reply or '(no reply)'}"
                )


@bot.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--store", default="noisybayes.db", show_default=True, help="Where the server keeps its chats.")
@click.option("--name", default="bot", show_default=True, help="The bot's name on the server.")
@click.option("--back", is_flag=True, help="Restore the bot before the last retraining.")
def retrain(folder: Path, store: str, name: str, back: bool) -> None:
    """Retrain a bot with the labels that people gave to the chats of a server.

    A server learns each label at once; this is for a bot that was trained again from its file. The previous bot is kept
    as FOLDER.previous; a running server takes over the new one.
    """
    with clear_errors():
        from ..bot.evaluate import learn, replace_bot, restore_previous
        from ..data.errors import InputError

        if back:
            click.echo(f"restored the previous bot; the replaced one is kept in {restore_previous(folder)}")
            return
        from ..bot.store import Chats
        from .serve import open_store

        if "://" not in store and not Path(store).exists():
            raise InputError(f"there is no store {store}; give the server's store with --store")
        with open_store(store) as opened:
            learned = learn(_bot(folder), Chats.open(opened).labeled(name))
        if not learned.accepted:
            raise InputError(f"the old bot stays in use: {learned.why}")
        click.echo(f"{learned.why}; the previous bot is kept in {replace_bot(folder, learned.bot)}")


@bot.command()
def key() -> None:
    """Generate a key for NOISYBAYES_LEADS_KEY, with which a server encrypts contact details."""
    with clear_errors():
        from .._extras import require

        require("cryptography", extra="web", purpose="encryption of contact details")
        from ..bot.contacts import new_key

        click.echo(new_key())


def _bot(folder: Path | None) -> Bot:
    from ..bot import demo_bot, load_bot

    return demo_bot() if folder is None else load_bot(folder)


def _next_message(prompt: bool) -> str | None:
    """None at the end of input."""
    try:
        message = input("you: " if prompt else "").strip()
    except (EOFError, KeyboardInterrupt):
        if prompt:
            click.echo()  # leave the line of the prompt
        return None
    return None if message == "/quit" else message


def _show_turn(turn: Turn, verbose: bool) -> None:
    if turn.contacts:
        click.echo(f"     {turn.message}")
    click.echo(f"bot: {turn.reply or '(no reply)'}")
    if verbose:
        told = f"; people are told: {turn.reason}" if turn.reason else ""
        click.echo(f"     [{', '.join(turn.topics) or 'no topic'}, {turn.confidence:.0%}{told}]")
