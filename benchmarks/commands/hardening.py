"""`noisybayes bench crash`, `servers` and `connections`: what docs/security.md promises, measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from .options import root_option


def measured(
    name: str, root: Path, rows: Iterator[dict[str, Any]], render: Callable[[list[dict[str, Any]]], str]
) -> list[dict[str, Any]]:
    """Measure, store the rows in results/, and regenerate the tables of docs/security.md."""
    from rich.console import Console
    from rich.markdown import Markdown

    from ..result_files import write_rows
    from ..security_page import write_page

    console, done = Console(), []
    with console.status(f"measuring {name} ...") as status:
        for row in rows:
            done.append(row)
            status.update(f"measuring {name}: {len(done)} rows")
    write_rows(root / "results" / f"{name}.csv", done)
    console.print(Markdown(render(done)))
    if (root / "docs" / "security.md").exists():
        console.print(f"wrote {write_page(root)}")
    return done


def _command(name: str, module: str, failures: tuple[str, ...], text: str) -> click.Command:
    @click.command(name, help=f"{text} Stores the rows in results/ and regenerates docs/security.md.")
    @root_option
    def command(root: Path) -> None:
        bench = import_module(f"benchmarks.{module}")
        rows = measured(name, root, bench.measure(), bench.render)
        if any(row.get(failure) for row in rows for failure in failures):
            raise SystemExit(1)

    return command


crash = _command(
    "crash", "crash.runner", ("not_whole", "not_repeated", "differs", "leftovers"),
    "Kill audits, saved models, exports, imports and refits before every file operation, and check what is left.",
)  # fmt: skip
servers = _command(
    "servers", "desk_load.servers", ("lost", "double", "other_answers", "fits_not_done"),
    "20 reviewers on two servers and one PostgreSQL: a server is killed every 10 seconds, then the store stops.",
)  # fmt: skip
connections = _command(
    "connections", "desk_load.connections", ("errors",),
    "Measure response times with 1,000 slow connections open, and memory after 50,000 requests.",
)  # fmt: skip
