"""Options of the commands for files larger than memory and for clusters."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import table_options

if TYPE_CHECKING:
    from ..auditing.table import Table
    from ..auditing.table_fit import FitOptions


class Size(click.ParamType):  # type: ignore[type-arg]
    """500MB, 2GB, 1.5g"""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        from ..auditing.size import parse_size
        from ..data.errors import InputError

        try:
            return parse_size(value)
        except InputError as error:
            self.fail(str(error), param, ctx)


_OPTIONS = (
    click.option("--memory", type=Size(), metavar="SIZE",
                 help="Memory limit, such as 2GB; rows beyond it, and very large files, are kept on disk."),
    click.option("--resume", is_flag=True,
                 help="Resume a run that was killed or lost its cluster. Ctrl-C leaves nothing to resume."),
    click.option("--engine", type=table_options.Registered("engines", "ENGINES"), default="local", show_default=True,
                 help="Where the passes over the rows run: threads of this process, or workers of a Dask cluster."),
    click.option("--scheduler", metavar="ADDRESS",
                 help="Address of the Dask scheduler; without it workers are started on this machine."),
)  # fmt: skip


def large_options(command: Any) -> Any:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def open_table(file: str | list[str], options: dict[str, Any]) -> tuple[Table, FitOptions]:
    """The table, and how to fit it."""
    from ..auditing.size import file_size_limit
    from ..auditing.table import Table
    from ..auditing.table_fit import FitOptions

    on_cluster = options["engine"] == "dask"
    limit = file_size_limit(file, options["memory"], options["resume"], on_cluster=on_cluster)
    table = Table.open(
        file, table_options.columns(options), in_batches=on_cluster or limit is not None,
        format=options["input_format"], encoding=options["encoding"], sheet=options["sheet"],
        missing_label=options["missing_label"],
        keep_variants=options["keep_variants"], anonymous=options.get("anonymous", False),
    )  # fmt: skip
    quiet = options["quiet"] or options.get("as_json", False)

    def announce(n_bytes: int, folder: Path) -> None:
        if not quiet:
            click.echo(f"Rows are kept on disk until the end: up to {n_bytes / 1e9:.1f} GB in {folder}.", err=True)

    return table, FitOptions(
        table_options.text_settings(options), options["missing_label"], options["seed"],
        options.get("method", "crossfit"), options["engine"], options["scheduler"], limit, options["out"],
        options["resume"], announce,
        table_options.families(options), options["keep_variants"], options["mislabel"], *_given(options),
    )  # fmt: skip


def _given(options: dict[str, Any]) -> tuple[Any, str | None]:
    """What the user knows of the rows besides columns."""
    from ..auditing.given_inputs import GivenInputs

    return GivenInputs(options.get("pred_probs"), options.get("embeddings")), options.get("embed")
