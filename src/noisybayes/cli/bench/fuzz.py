"""`noisybayes bench fuzz`: malformed tables, damaged models, broken configurations."""

from __future__ import annotations

from pathlib import Path

import click

from .options import root_option
from .quality import progress_bar


@click.command()
@click.option("--tables", type=click.IntRange(min=0), default=20_000, show_default=True, help="Malformed tables.")
@click.option(
    "--models", type=click.IntRange(min=0), default=5_000, show_default=True, help="Damaged or crafted model files."
)
@click.option(
    "--configs", type=click.IntRange(min=0), default=1_000, show_default=True, help="Broken configurations of the bot."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Number of the first file.")
@root_option
def fuzz(tables: int, models: int, configs: int, seed: int, root: Path) -> None:
    """Read files that are damaged or crafted, and count what is neither read nor refused with one sentence.

    Stores the rows in results/fuzz.csv and remakes the table in docs/security.md. Exit code 1 if a file raised a
    traceback, ended the process or took longer than 20 seconds.
    """
    from rich.console import Console
    from rich.markdown import Markdown

    from ...bench.fuzz.page import render, write_page
    from ...bench.fuzz.runner import run, summary
    from ...bench.store import write_rows

    console = Console()
    counts = {"tables": tables, "models": models, "configs": configs}
    outcomes = []
    with progress_bar(console) as bar:
        task = bar.add_task("reading", total=sum(counts.values()))
        for kind, count in counts.items():
            for outcome in run(kind, range(seed, seed + count)):
                outcomes.append(outcome)
                bar.update(task, advance=1, description=kind)
    if not outcomes:
        raise click.ClickException("nothing to read: give --tables, --models or --configs")
    rows = summary(outcomes, seed)
    write_rows(root / "results" / "fuzz.csv", rows)
    console.print(Markdown(render(rows)))
    if (root / "docs" / "security.md").exists():
        console.print(f"wrote {write_page(root)}")
    failed = [outcome for outcome in outcomes if outcome.result not in ("read", "refused")]
    for outcome in failed[:20]:
        console.print(f"{outcome.kind} {outcome.number} ({outcome.case}): {outcome.result} {outcome.detail}")
    if failed:
        raise SystemExit(1)
