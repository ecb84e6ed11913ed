"""`noisybayes bot`: an auto-responder, from its configuration to a chat in the terminal."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._shares import percent
from . import table_options
from .bot_evaluation import show_evaluation
from .table_options import clear_errors, quiet_option, reading_options

if TYPE_CHECKING:
    from ..bot import Bot, Config, Turn

config_option = click.option(
    "--config", "source", default="cars_en", show_default=True, metavar="FILE",
    help="The configuration: a file, or a shipped one (cars_en, cars_zh).",
)  # fmt: skip
_COLUMNS = ("dialog", "position", "message", "label", "true_label")


def _column_options(command: Any) -> Any:
    for name in reversed(_COLUMNS):
        option, what = f"--{name.replace('_', '-')}", name.replace("_", " ")
        command = click.option(
            option, metavar="COLUMN", help=f"The column with the {what}, if not the one in --config."
        )(command)
    return command


@click.group()
def bot() -> None:
    """Classify a customer's messages and reply to them.

    \b
        noisybayes bot init shop.yaml --dialogs dialogs.csv
        noisybayes bot train dialogs.csv --config shop.yaml --out shop
        noisybayes bot chat shop
    """


@bot.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--language", type=click.Choice(["en", "zh"]), default="en", show_default=True, help="Language of the example."
)
@click.option(
    "--dialogs",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Also write example dialogs (English) to train on.",
)
def init(file: Path, language: str, dialogs: Path | None) -> None:
    """Write a commented configuration to FILE and its catalogue beside it, for you to adapt."""
    with clear_errors():
        from .._files import whole_file
        from ..bot.config import SHIPPED, load_config
        from ..bot.demo import DEMO_DIALOGS
        from ..data.errors import InputError

        copies = {file: SHIPPED / f"cars_{language}.yaml"} | ({dialogs: DEMO_DIALOGS} if dialogs else {})
        config = load_config(f"cars_{language}")
        names = [source.name for source in config.catalogue] + ([config.meanings.file] if config.meanings else [])
        copies |= {file.parent / name: SHIPPED / name for name in names}
        for path in copies:
            if path.exists():
                raise InputError(f"{path} already exists; choose another name or remove it first")
        for path, shipped in copies.items():
            with whole_file(path) as target:
                target.write_bytes(shipped.read_bytes())
            click.echo(f"wrote {path}")
    click.echo(f"next: noisybayes bot train {dialogs or 'DIALOGS'} --config {file} --out FOLDER")


@bot.command()
@click.argument("dialogs")
@config_option
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder for the bot.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the folds.")
@_column_options
@quiet_option
@reading_options
def train(dialogs: str, source: str, out: Path, seed: int, **options: Any) -> None:
    """Train a bot on the labeled messages in DIALOGS (CSV, TSV, JSON lines or Parquet)."""
    with clear_errors():
        from ..bot import train as learn

        config = _config(source, options)
        trained = learn(config, table_options.read(dialogs, options), random_state=seed)
        trained.save(out)
    if not options["quiet"]:
        unseen = [category.title for key, category in config.categories.items() if key not in trained.model.classes_]
        if unseen:
            click.echo(f"no message has these categories, so they are never predicted: {', '.join(unseen)}")
        click.echo(f"estimated share of wrong labels: {percent(trained.model.noise_rate_)}")
        click.echo(f"wrote {out}; next: noisybayes bot chat {out}")


@bot.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option("--verbose", is_flag=True, help="Show category, probability and features of each message.")
def chat(folder: Path | None, verbose: bool) -> None:
    """Chat with the bot in FOLDER, or with the example bot. /quit or Ctrl-D ends the chat; /new starts again.

    Messages can also be piped in, one per line.
    """
    with clear_errors():
        from ..bot import demo_bot, load_bot

        talking = demo_bot() if folder is None else load_bot(folder)
    prompt = sys.stdin.isatty()
    if prompt:
        click.echo(f"{talking.config.title}. /quit or Ctrl-D ends, /new starts again.")
    dialog = talking.start()
    while (message := _next_message(prompt)) is not None:
        if message == "/new":
            dialog = talking.start()
        elif message:
            turn = talking.answer(dialog, message)
            dialog = turn.dialog
            _show_turn(talking, turn, verbose)


@bot.command()
@click.argument("dialogs")
@config_option
@click.option("--reps", type=click.IntRange(min=1), default=20, show_default=True, help="Random splits by dialog.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Random seed of the splits.")
@click.option(
    "--json", "json_file", type=click.Path(path_type=Path, dir_okay=False), help="Also write all figures to this file."
)
@_column_options
@quiet_option
@reading_options
def evaluate(dialogs: str, source: str, reps: int, seed: int, json_file: Path | None, **options: Any) -> None:
    """Measure the accuracy of a bot: train on 80 % of DIALOGS and answer the rest, --reps times.

    No dialog is ever in both parts. With a column of true labels, methods are compared against these; with columns of
    given features, those are compared with the features that the configuration finds in the text.
    """
    with clear_errors():
        import json

        from .._files import whole_file
        from ..bot.evaluate import evaluate as run

        config = _config(source, options)
        names = tuple(f"split {rep}" for rep in range(1, reps + 1))
        with table_options.stages(names, options["quiet"]) as report_stage:
            evaluation = run(
                config,
                table_options.read(dialogs, options),
                reps=reps,
                seed=seed,
                progress=lambda rep: report_stage(f"split {rep}"),
            )
        if json_file is not None:
            with whole_file(json_file) as target:
                target.write_text(
                    json.dumps(evaluation.as_dict(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
                )
    if not options["quiet"]:
        show_evaluation(config, evaluation)


@bot.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--dialogs", help="The table that the bot was trained on.")
@click.option("--store", default="noisybayes.db", show_default=True, help="Where the server keeps its chats.")
@click.option("--name", default="bot", show_default=True, help="The bot's name on the server.")
@click.option("--back", is_flag=True, help="Restore the bot before the last retraining.")
@click.option("--force", is_flag=True, help="Use the new model even if it is worse on held-out dialogs.")
def retrain(folder: Path, dialogs: str | None, store: str, name: str, back: bool, force: bool) -> None:
    """Retrain a bot with the labels that people gave to the chats of a server.

    The new bot is compared with the old one on dialogs that neither has seen. If it is worse, the old one stays in use.
    The previous bot is kept as FOLDER.previous.
    """
    with clear_errors():
        from ..bot.retraining import restore_previous

        if back:
            click.echo(f"restored the previous bot; the replaced one is kept in {restore_previous(folder)}")
        else:
            _retrain(folder, dialogs, store, name, force)


def _retrain(folder: Path, dialogs: str | None, store: str, name: str, force: bool) -> None:
    from ..bot import load_bot
    from ..bot.retraining import compare, retrain_and_replace
    from ..data.errors import InputError
    from ..web.store import Store

    if dialogs is None:
        raise InputError("give the table that the bot was trained on: --dialogs DIALOGS")
    url = store if "://" in store else f"sqlite:///{Path(store).resolve()}"
    if "://" not in store and not Path(store).exists():
        raise InputError(f"there is no store {store}; give the server's store with --store")
    with Store.open(url) as opened:
        rows = opened.labeled_dialogs(name)
    comparison, both = compare(load_bot(folder), dialogs, rows)
    click.echo(
        f"{comparison.messages} new messages; correct answers among {comparison.tested} held-out ones: "
        f"{comparison.old:.1%} before, {comparison.new:.1%} after"
    )
    if not comparison.is_better and not force:
        raise InputError("the new model is worse on held-out dialogs, so the old one stays in use; check the labels")
    previous = retrain_and_replace(folder, both)
    click.echo(
        f"the new bot is in use; the previous one is kept in {previous}; restart the server, or use --back to undo"
    )


@bot.command()
def key() -> None:
    """Generate a key for NOISYBAYES_LEADS_KEY, with which a server encrypts contact details."""
    with clear_errors():
        from .._extras import require

        require("cryptography", extra="web", purpose="encryption of contact details")
        from ..web.contact_key import new_key

        click.echo(new_key())


def _config(source: str, options: dict[str, Any]) -> Config:
    from dataclasses import replace

    from ..bot import load_config

    config = load_config(source)
    given = {name: options[name] for name in _COLUMNS if options[name] is not None}
    return replace(config, columns=replace(config.columns, **given))


def _next_message(prompt: bool) -> str | None:
    """None at the end of input."""
    try:
        message = input("you: " if prompt else "").strip()
    except (EOFError, KeyboardInterrupt):
        if prompt:
            click.echo()  # leave the line of the prompt
        return None
    return None if message == "/quit" else message


def _show_turn(answered: Bot, turn: Turn, verbose: bool) -> None:
    if turn.left_contact:
        click.echo(f"     {turn.message}")
    click.echo(f"bot: {turn.reply or '(no reply)'}")
    if verbose:
        titles = ", ".join(answered.config.features[key].title for key in turn.fired)
        person = f", handed over to a person: {turn.reason}" if turn.handover else ""
        click.echo(f"     [{turn.title}, {turn.confidence:.0%}{person}; {titles or 'no feature'}]")
