"""`python -m benchmarks fuzz` and `crash`: what docs/security.md promises, measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from .options import root_option


def _store(root: Path, name: str, rows: list[dict[str, Any]]) -> None:
    from ..result_files import write_rows
    from ..security_page import TABLES, write_page

    write_rows(root / "results" / f"{name}.csv", rows)
    click.echo(TABLES[name](rows))
    write_page(root)


@click.command()
@click.option("--tables", type=click.IntRange(min=0), default=5_000, show_default=True, help="Malformed tables.")
@click.option(
    "--models", type=click.IntRange(min=0), default=1_500, show_default=True, help="Damaged or crafted model files."
)
@click.option(
    "--configs", type=click.IntRange(min=0), default=300, show_default=True, help="Broken configurations of the bot."
)
@click.option("--first", type=click.IntRange(min=0), default=0, show_default=True, help="Number of the first file.")
@root_option
def fuzz(tables: int, models: int, configs: int, first: int, root: Path) -> None:
    """Read damaged and malicious files, and count those that are neither read nor refused with a one-line error.

    Stores the rows in results/fuzz.csv and regenerates the table in docs/security.md. Exit code 1 if a file raised a
    traceback, gave a different number of rows, crashed the process or took longer than 20 seconds. Each file is
    determined by its number: `--first 4711 --tables 1 --models 0 --configs 0` reads one again.
    """
    from .. import fuzz

    outcomes = []
    for kind, count in {"tables": tables, "models": models, "configs": configs}.items():
        for outcome in fuzz.run(kind, range(first, first + count)):
            outcomes.append(outcome)
            if outcome.result not in ("read", "refused"):
                click.echo(f"{kind} {outcome.number}: {outcome.result} {outcome.detail}")
    _store(root, "fuzz", fuzz.summary(outcomes))
    if any(outcome.result not in ("read", "refused") for outcome in outcomes):
        raise SystemExit(1)


@click.command()
@root_option
def crash(root: Path) -> None:
    """Kill audits and saved models before every file operation, and check what is left.

    Stores the rows in results/crash.csv and regenerates the table in docs/security.md. Exit code 1 if anything was
    incomplete, lost, different when repeated, or left behind.
    """
    from .. import crash

    rows = list(crash.measure())
    _store(root, "crash", rows)
    if any(row[failure] for row in rows for failure in crash.FAILURES):
        raise SystemExit(1)
