"""Options that several verbs have."""

from __future__ import annotations

from pathlib import Path

import click

root_option = click.option(
    "--root",
    type=click.Path(file_okay=False, path_type=Path),
    default=".",
    show_default=True,
    help="The folder that has results/ and docs/.",
)
