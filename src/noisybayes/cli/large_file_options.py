"""Options of the commands for clusters, and the table that they open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from . import table_options

if TYPE_CHECKING:
    from ..auditing.table import Table
    from ..auditing.table_fit import FitOptions


_OPTIONS = (
    click.option("--engine", type=table_options.Registered("auditing.pipeline", "ENGINES"), default="local",
                 show_default=True, help="Who reads and scores the rows: this process, or workers of a Dask cluster."),
    click.option("--scheduler", metavar="ADDRESS",
                 help="Address of the Dask scheduler; without it workers are started on this machine."),
)  # fmt: skip


def large_options(command: Any) -> Any:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def open_table(file: str | list[str], options: dict[str, Any]) -> tuple[Table, FitOptions]:
    """The table, and how to fit it."""
    from ..auditing.table import Table
    from ..auditing.table_fit import FitOptions, what_needs_all_rows

    how = FitOptions(
        table_options.text_settings(options), options["missing_label"], options["seed"],
        options["engine"], options["scheduler"], options["out"],
        None if options["out"] is None else options["out"].parent,
        options["keep_variants"], options["mislabel"], *_given(options),
    )  # fmt: skip
    columns, anonymous = table_options.columns(options), options.get("anonymous", False)
    table = Table.open(
        file, columns, needs_all=what_needs_all_rows(columns, how, anonymous), by_workers=options["engine"] == "dask",
        format=options["input_format"], encoding=options["encoding"], sheet=options["sheet"],
        missing_label=options["missing_label"], keep_variants=options["keep_variants"], anonymous=anonymous,
    )  # fmt: skip
    return table, how


def _given(options: dict[str, Any]) -> tuple[Any, str | None]:
    """What the user knows of the rows besides columns."""
    from ..auditing.given_inputs import GivenInputs

    return GivenInputs(options.get("pred_probs"), options.get("embeddings")), options.get("embed")
