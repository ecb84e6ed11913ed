"""Options shared by several commands."""

from __future__ import annotations

from pathlib import Path

import click

root_option = click.option(
    "--root",
    type=click.Path(file_okay=False, path_type=Path),
    default=".",
    show_default=True,
    help="The folder that contains results/ and docs/.",
)
