"""`noisybayes fit`, `predict` and `report`: the parts of an audit, one by one."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._shares import percent
from . import table_options
from .large_file_options import large_options, open_table
from .table_options import (
    clear_errors,
    column_options,
    quiet_option,
    reading_options,
    row_progress,
    seed_option,
    stages,
    word_options,
)

if TYPE_CHECKING:
    import polars as pl

    from ..report.saved import TableModel


@click.command()
@click.argument("file")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder for the model.")
@column_options
@quiet_option
@seed_option
@large_options
@reading_options
@word_options
def fit(file: str, out: Path, **options: Any) -> None:
    """Fit a classifier to the labels in FILE, some of which may be wrong, and save it."""
    with clear_errors():
        from .._files import whole_folder
        from ..auditing.table_fit import fitted_table
        from ..data.errors import InputError
        from ..report.saved import save_model

        if out.exists() and not (out.is_dir() and {path.name for path in out.iterdir()} <= _MODEL_FILES):
            raise InputError(f"{out} contains something other than a model; choose a new folder with --out")
        table_options.check_writable(out)
        options["out"] = None  # only the model is kept
        with stages(("reading", "drawing a sample", "building features", "fitting"), options["quiet"]) as report_stage:
            report_stage("reading")
            table, how = open_table(file, options)
            with fitted_table(table, how, report_stage) as fitted, whole_folder(out) as staging:
                save_model(staging, fitted.model, fitted.recipe, table.roles)
    if not options["quiet"]:
        for note in (*fitted.table.notes, *fitted.notes):
            click.echo(note)
        click.echo(f"estimated share of wrong labels: {percent(fitted.model.noise_rate_)}")
        click.echo(f"wrote {out}; next: noisybayes predict {out} NEW_FILE")


_MODEL_FILES = {"recipe.json", "pool.npz"}
_FORMATS = {".parquet": "parquet", ".xlsx": "xlsx"}


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("file")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="CSV, Parquet or Excel (.xlsx) file to write; by default CSV is printed.",
)
@reading_options
def predict(model: Path, file: str, out: Path | None, **options: Any) -> None:
    """Predict labels for the rows of FILE with a saved MODEL (a folder that `fit` or `audit --out` wrote).

    The file is read in batches, so it may be larger than memory.
    """
    with clear_errors():
        from ..data.read import write_batches
        from ..data.spreadsheets import excel_writer
        from ..report.saved import load_model

        loaded = load_model(model)
        form = "csv" if out is None else _FORMATS.get(out.suffix.lower(), "csv")
        if out is not None:
            table_options.check_writable(out)
        if form == "xlsx":
            excel_writer()
        with tempfile.TemporaryDirectory(prefix="noisybayes-") as folder:
            target = Path(folder) / "scored.csv" if out is None else out
            batches = table_options.read_batches(file, options)
            with row_progress("scoring", batches) as counted:
                write_batches(_scored(loaded, counted), target, form)
            if out is None:  # printed only now, so that an error leaves no partial table
                with target.open(encoding="utf-8", newline="") as table:
                    while chunk := table.read(1 << 20):
                        click.echo(chunk, nl=False)


def _scored(model: TableModel, frames: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    from ..report.row_scorer import with_scores

    n_before = 0
    for frame in frames:
        yield with_scores(model, frame, n_before)
        n_before += frame.height


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "kind",
    type=click.Choice(["html", "markdown"]),
    default="html",
    show_default=True,
    help="Format of the report.",
)
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="File to write; by default it is printed.")
def report(folder: Path, kind: str, out: Path | None) -> None:
    """Render the report of an audit from the audit.json in FOLDER."""  # fmt: skip
    with clear_errors():
        from .._files import whole_file
        from ..report.saved import load_summary

        summary = load_summary(folder)
        if kind == "html":
            from ..report.html import render_html

            page = render_html(summary)
        else:
            from ..report.markdown import render_markdown

            page = render_markdown(summary)
        if out is None:
            click.echo(page)
        else:
            with whole_file(out) as target:
                target.write_text(page, encoding="utf-8")
            click.echo(f"wrote {out}")
