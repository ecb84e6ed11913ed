"""Files that do not fit into memory: options of the verbs that take them, and the fit from disk."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import tables

if TYPE_CHECKING:
    from ..data.batches import Batches
    from ..data.roles import Roles
    from ..report.run import Fitted, Progress

# a table of text takes several times the size of its file in memory
_LARGE = 1 / 8
_OURS = 0.6
_UNITS = {"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}


class Size(click.ParamType):  # type: ignore[type-arg]
    """500MB, 2GB, 1.5g"""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        found = re.fullmatch(r"\s*([\d.]+)\s*([kmgt]?)i?b?\s*", value.lower())
        try:
            size = int(float(found[1]) * _UNITS[found[2]]) if found else 0
        except ValueError:
            size = 0
        if size <= 0:
            self.fail(f"{value!r} is no size; write 500MB or 2GB", param, ctx)
        return size


_OPTIONS = (
    click.option("--memory", type=Size(), metavar="SIZE",
                 help="Keep below so much memory (2GB): rows are kept on disk. Large files are read like that anyway."),
    click.option("--resume", is_flag=True, help="Go on with a run of a large file that was cut off."),
)  # fmt: skip


def memory_options(command: Any) -> Any:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def memory_limit(file: str, options: dict[str, Any]) -> int | None:
    """Bytes, if the rows are to be kept on disk."""
    if options["memory"] is not None or options["resume"]:
        return options["memory"] or int(_OURS * _installed())
    path = Path(file)
    is_large = file != "-" and path.is_file() and path.stat().st_size > _LARGE * _installed()
    return int(_OURS * _installed()) if is_large else None


def _installed() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


@contextmanager
def fitted_from_disk(
    file: str, limit: int, options: dict[str, Any], tell: Progress, **algorithm: Any
) -> Iterator[tuple[Batches, Roles, list[str], Fitted]]:
    """The file, its columns with sentences about them, and the fit; its rows are on disk for as long as this lasts."""
    from ..data.batches import Batches
    from ..report.large import Job, check_memory, fit_large, workplace

    batches = Batches(file, options["input_format"], options["encoding"])
    roles, notes = tables.roles(batches.head(), options)
    check_memory(batches, limit)
    job = Job(batches, roles, tables.text_settings(options), options["missing_label"], options["seed"], algorithm)
    quiet = options["quiet"] or options.get("as_json", False)

    def announce(n_bytes: int, folder: Path) -> None:
        if not quiet:
            click.echo(f"Rows are kept on disk: up to {n_bytes / 1e9:.1f} GB in {folder}, until the end.", err=True)

    with workplace(job, options["out"], options["resume"], announce) as folder:
        yield batches, roles, notes, fit_large(job, folder, tell)
