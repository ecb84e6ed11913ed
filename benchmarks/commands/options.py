"""Options shared by several commands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

root_option = click.option(
    "--root",
    type=click.Path(file_okay=False, path_type=Path),
    default=".",
    show_default=True,
    help="The folder that contains results/ and docs/.",
)


def progress_bar(console: Any) -> Any:
    """With the number done, and the elapsed and remaining time."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    return Progress(*columns, TimeRemainingColumn(), console=console)
