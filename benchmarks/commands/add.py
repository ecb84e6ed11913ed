"""`noisybayes bench add`: make a CSV file a data set of `noisybayes bench quality`."""

from __future__ import annotations

import re
from pathlib import Path

import click


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--observed", required=True, help="The column with the given labels.")
@click.option("--true", required=True, help="The column with the true labels.")
@click.option("--text", multiple=True, help="A column of text; several are joined.")
@click.option("--feature", multiple=True, help="A feature column; may be given several times.")
@click.option("--name", help="Name of the data set; by default the name of the file.")
@click.option(
    "--test-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A CSV file of rows to test on, with the same columns; its observed labels are not needed.",
)
@click.option(
    "--test-share",
    type=float,
    default=0.2,
    show_default=True,
    help="Share of the rows to test on, without --test-file.",
)
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    default="bench-data",
    show_default=True,
    help="Folder for the TOML file.",
)
def add(
    file: Path,
    observed: str,
    true: str,
    text: tuple[str, ...],
    feature: tuple[str, ...],
    name: str | None,
    test_file: Path | None,
    test_share: float,
    folder: Path,
) -> None:
    """Register FILE, a CSV file with observed and true labels, as a data set of `bench quality`."""
    from ..quality.plugins import Plugin, path_within, write

    try:
        plugin = Plugin(
            name=name or re.sub(r"[^\w.-]+", "-", file.stem),
            file=path_within(folder, file),
            observed=observed,
            true=true,
            text=text,
            features=feature,
            test_file=path_within(folder, test_file) if test_file else "",
            test_share=test_share,
        )
        path = write(plugin, folder)
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"wrote {path}; measure it with: noisybayes bench quality --plugins {folder} --datasets {plugin.name}")
