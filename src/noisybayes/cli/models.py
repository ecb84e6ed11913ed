"""`noisybayes fit`, `predict` and `report`: the parts of an audit, one by one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from . import tables
from .large import fitted_from_disk, memory_limit, memory_options
from .tables import clear_errors, column_options, quiet_option, reading_options, seed_option, stages, word_options


@click.command()
@click.argument("file")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder for the model.")
@click.option(
    "--method",
    type=click.Choice(["crossfit", "em"]),
    default="crossfit",
    show_default=True,
    help="The robust fit, or EM alone as in the paper.",
)
@click.option(
    "--engine",
    type=click.Choice(["local", "dask"]),
    default="local",
    show_default=True,
    help="Where EM runs: threads of this process, or the workers of a Dask cluster.",
)
@click.option("--scheduler", metavar="ADDRESS", help="Of the Dask cluster; else workers are started on this machine.")
@column_options
@quiet_option
@seed_option
@memory_options
@reading_options
@word_options
def fit(file: str, out: Path, **options: Any) -> None:
    """Fit a classifier to the labels of FILE, wrong ones among them, and save it."""
    with clear_errors():
        from .._files import whole_folder
        from ..data.errors import InputError
        from ..report.saved import save_model

        if out.exists() and not (out.is_dir() and {path.name for path in out.iterdir()} <= _MODEL_FILES):
            raise InputError(f"{out} holds other things than a model; choose a new folder with --out")
        options["out"] = out
        with (
            stages(("reading", "making features", "fitting"), options["quiet"]) as tell,
            _fitted(file, options, tell) as (roles, notes, fitted),
            whole_folder(out) as made,
        ):
            save_model(made, fitted.model, fitted.recipe, roles)
    if not options["quiet"]:
        for note in (*notes, *fitted.notes):
            click.echo(note)
        click.echo(f"estimated share of wrong labels: {fitted.model.noise_rate_:.1%}")
        click.echo(f"wrote {out}; next: noisybayes predict {out} NEW_FILE")


@contextmanager
def _fitted(file: str, options: dict[str, Any], tell: Any) -> Iterator[tuple[Any, list[str], Any]]:
    """The columns with sentences about them, and the fit."""
    from ..report.run import fit_frame

    limit = memory_limit(file, options)
    with _engine(options) as engine:
        algorithm = {"method": options["method"], "engine": engine}
        if limit is not None:
            with fitted_from_disk(file, limit, options, tell, **algorithm) as (_, roles, notes, fitted):
                yield roles, notes, fitted
            return
        frame = tables.read(file, options)
        roles, notes = tables.roles(frame, options)
        fitted = fit_frame(
            frame, roles, missing_label=options["missing_label"], settings=tables.text_settings(options),
            random_state=options["seed"], progress=tell, **algorithm,
        )  # fmt: skip
        yield roles, notes, fitted


@contextmanager
def _engine(options: dict[str, Any]) -> Iterator[Any]:
    """What the classifier takes as its engine, for as long as the cluster is ours."""
    from ..data.errors import InputError

    if options["scheduler"] is not None and options["engine"] != "dask":
        raise InputError("--scheduler names a Dask cluster; add --engine dask")
    if options["engine"] == "local":
        yield "local"
        return
    if options["method"] != "em":
        raise InputError("a cluster runs the passes of EM; add --method em")
    from .._extras import require
    from ..engines.dask import ClusterLostError, connect, on_cluster

    require("distributed", extra="dask", purpose="--engine dask")
    try:
        client = connect(options["scheduler"])
    except (OSError, ValueError) as error:
        raise InputError(f"no Dask cluster answers at {options['scheduler']}: {error}") from None
    try:
        yield on_cluster(client)
    except ClusterLostError as error:
        raise InputError(str(error)) from None
    finally:
        client.close()


_MODEL_FILES = {"recipe.json", "classifier.inb"}


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("file")
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), help="A CSV or Parquet file; else CSV is printed."
)
@reading_options
def predict(model: Path, file: str, out: Path | None, **options: Any) -> None:
    """Labels for the rows of FILE by a saved MODEL (a folder that `fit` or `audit --out` wrote)."""
    with clear_errors():
        from ..data.read import write_table
        from ..report.outputs import with_columns
        from ..report.saved import load_model

        loaded = load_model(model)
        frame = tables.read(file, options)
        predicted = loaded.predict(frame)
        found = with_columns(frame, {f"predicted_{name}": predicted[name] for name in predicted.columns})
        if out is None:
            click.echo(found.write_csv(), nl=False)
        else:
            write_table(found, out, "parquet" if out.suffix == ".parquet" else "csv")


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "kind",
    type=click.Choice(["html", "markdown"]),
    default="html",
    show_default=True,
    help="Of the report.",
)
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="File to write; else it is printed.")
def report(folder: Path, kind: str, out: Path | None) -> None:
    """Draw the report of an audit again, from the audit.json in FOLDER."""  # fmt: skip
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
            with whole_file(out) as made:
                made.write_text(page, encoding="utf-8")
            click.echo(f"wrote {out}")
