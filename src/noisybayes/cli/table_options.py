"""Shared by the commands that read tables: options, errors, progress."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from .stage_lines import stage_lines

if TYPE_CHECKING:
    import polars as pl
    from rich.progress import Progress, ProgressColumn

    from ..data.batches import Batches
    from ..text.vocabulary import TextSettings

Command = TypeVar("Command", bound=Callable[..., Any])


class BadInput(click.ClickException):
    """Print one sentence and exit with code 2."""

    exit_code = 2


@contextmanager
def clear_errors() -> Iterator[None]:
    """Report errors that users can fix without a traceback."""
    from .._extras import MissingExtraError
    from .._files import DiskError
    from ..data.errors import InputError

    try:
        yield
    except (InputError, MissingExtraError, DiskError) as error:
        raise BadInput(str(error)) from None
    except BrokenPipeError:  # whoever read the output has seen enough; click ends quietly
        raise
    except OSError as error:  # disk full, no permission
        reason = error.strerror or str(error)
        raise BadInput(f"{reason}: {error.filename}" if error.filename else reason) from None


class Registered(click.Choice[str]):
    """The names in a registry, looked up lazily: importing all of them would slow down every command."""

    def __init__(self, module: str, registry: str) -> None:
        self.case_sensitive = True
        self._module, self._registry = module, registry

    @property
    def choices(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(getattr(import_module(f"noisybayes.{self._module}"), self._registry))


_READING = (
    click.option("--input-format", type=Registered("data.formats", "FORMATS"),
                 help="Format of the input; by default it is detected."),
    click.option("--encoding", help="Encoding of text formats; by default it is detected."),
    click.option("--sheet", help="Sheet of an Excel file; by default the first one."),
)  # fmt: skip
_COLUMNS = (
    click.option(
        "--label", multiple=True, help="The column with the labels; give several if rows have several labels."
    ),
    click.option("--text", multiple=True, help="A column of text; may be given several times."),
    click.option("--categorical", multiple=True, help="A categorical column; may be given several times."),
    click.option("--numeric", multiple=True, help="A numeric column; may be given several times."),
    click.option("--binary", multiple=True, help="A column of 0/1 or yes/no; may be given several times."),
    click.option(
        "--mislabel",
        type=Registered("model.matrix", "STRUCTURES"),
        default="full",
        show_default=True,
        help="Structure of the mislabeling matrix.",
    ),
    click.option("--id", "id_column", help="The column with the row identifiers."),
    click.option("--verified", help="A column with the true labels where they are known; other cells are empty."),
    click.option("--missing-label", help="Value that marks a missing label, in addition to empty cells."),
    click.option(
        "--keep-variants",
        is_flag=True,
        help="Treat labels that differ only in case, spaces, punctuation or Unicode form as different classes.",
    ),
)
_WORDS = (
    click.option("--ngrams", type=click.IntRange(1, 2), default=1, show_default=True,
                 help="2: also pairs of adjacent words."),
    click.option("--min-df", type=click.IntRange(min=1), default=2, show_default=True,
                 help="Minimum number of texts that contain a word."),
    click.option("--max-df", type=click.FloatRange(0, 1, min_open=True), default=0.5, show_default=True,
                 help="Maximum share of texts that contain a word."),
    click.option("--max-words", type=click.IntRange(min=1), default=20_000, show_default=True,
                 help="Maximum vocabulary size; words with the largest summed TF-IDF are kept."),
)  # fmt: skip
seed_option = click.option("--seed", type=int, default=0, show_default=True, help="Random seed.")
quiet_option = click.option("--quiet", is_flag=True, help="Print nothing but errors.")


def _with(options: tuple[Any, ...]) -> Callable[[Command], Command]:
    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


reading_options = _with(_READING)
column_options = _with(_COLUMNS)
word_options = _with(_WORDS)


def read(source: str, options: dict[str, Any]) -> pl.DataFrame:
    from ..data.read import read_table

    report = None if options.get("quiet") else _say
    form, encoding, sheet = options["input_format"], options["encoding"], options["sheet"]
    return read_table(source, format=form, encoding=encoding, sheet=sheet, tell=report)


def read_batches(source: str, options: dict[str, Any]) -> Batches:
    from ..data.batches import Batches

    batches = Batches(source, options["input_format"], options["encoding"], sheet=options["sheet"])
    for note in batches.notes:
        _say(note)
    return batches


def _say(note: str) -> None:
    """On standard error, since a table may be written to standard output."""
    click.echo(note, err=True)


def check_writable(out: Path) -> None:
    """Before the work: finding out after it would be too late."""
    from .._files import why_not_writable
    from ..data.errors import InputError

    reason = why_not_writable(out)
    if reason is not None:
        raise InputError(f"{out} cannot be written ({reason}); choose another path with --out")


def columns(options: dict[str, Any]) -> dict[str, Any]:
    """Names of columns by role."""
    names = {name: options[name] for name in ("text", "categorical", "numeric", "binary", "verified")}
    more = {name: options.get(name) for name in ("verified_random", "second_opinion", "labeler", "fold_by")}
    more["source"] = options.get("source") or ()
    label = options["label"]
    return {**names, "label": list(label) if len(label) > 1 else (*label, None)[0], "id": options["id_column"], **more}


def text_settings(options: dict[str, Any]) -> TextSettings:
    from ..text.vocabulary import TextSettings

    return TextSettings(**{name: options[name] for name in ("min_df", "max_df", "max_words", "ngrams")})


def command_line() -> str:
    """The command that repeats this run."""
    return shlex.join(["noisybayes", *sys.argv[1:]])


@contextmanager
def stages(names: tuple[str, ...], quiet: bool) -> Iterator[Callable[[str], None]]:
    """A progress bar over the stages with elapsed time; on standard error, so that pipes stay clean.

    Without a terminal, as in CI, a line for each stage.
    """
    if quiet:
        yield lambda stage: None
        return
    with _shown(_bar()) as progress:
        if progress.disable:
            with stage_lines(_say) as print_stage:
                yield print_stage
            return
        bar = progress.add_task(names[0], total=len(names))

        def show_stage(stage: str) -> None:
            done = names.index(stage) if stage in names else progress.tasks[0].completed
            progress.update(bar, description=stage, completed=done)

        yield show_stage


@contextmanager
def row_progress(what: str, batches: Iterable[pl.DataFrame]) -> Iterator[Iterable[pl.DataFrame]]:
    """The same batches, with a progress bar."""
    from rich.progress import TextColumn

    with _shown(_bar(TextColumn("{task.fields[rows]:,} rows"))) as progress:
        bar = progress.add_task(what, total=getattr(batches, "n_bytes", None), rows=0)

        def counted() -> Iterator[pl.DataFrame]:
            n_rows = 0
            for frame in batches:
                yield frame
                n_rows += frame.height
                progress.update(bar, completed=getattr(batches, "bytes_read", 0), rows=n_rows)

        yield counted()


def _bar(*more: ProgressColumn) -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description:<28}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn(), *more)
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


def _shown(progress: Progress) -> AbstractContextManager[Progress]:
    """Without a terminal it is not started at all: older versions of rich would end it with an empty line."""
    return nullcontext(progress) if progress.disable else progress
