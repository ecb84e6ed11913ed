"""`noisybayes bench fuzz`: malformed tables, damaged models, broken configurations."""

from __future__ import annotations

from pathlib import Path

import click

from .hardening import measured
from .options import progress_bar, root_option

_STORED_AFTER = 500  # files


@click.command()
@click.option("--tables", type=click.IntRange(min=0), default=20_000, show_default=True, help="Malformed tables.")
@click.option(
    "--models", type=click.IntRange(min=0), default=5_000, show_default=True, help="Damaged or crafted model files."
)
@click.option(
    "--configs", type=click.IntRange(min=0), default=1_000, show_default=True, help="Broken configurations of the bot."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Number of the first file.")
@click.option(
    "--coverage",
    type=click.IntRange(min=1),
    metavar="SECONDS",
    help="Fuzz with atheris instead, guided by code coverage, for this long each for tables and models.",
)
@click.option(
    "--findings",
    type=click.Path(path_type=Path),
    default=Path("fuzz-findings"),
    show_default=True,
    help="Folder for the inputs and findings of --coverage.",
)
@root_option
def fuzz(tables: int, models: int, configs: int, seed: int, coverage: int | None, findings: Path, root: Path) -> None:
    """Read damaged and malicious files, and count those that are neither read nor refused with a one-line error.

    Stores the rows in results/fuzz.csv and regenerates the table in docs/security.md. Exit code 1 if a file raised a
    traceback, gave a different number of rows, crashed the process or took longer than 20 seconds.
    """
    if coverage is not None:
        _guided(coverage, findings, root)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    from ..fuzz.page import render
    from ..fuzz.runner import run, summary
    from ..result_files import write_rows
    from ..security_page import write_page

    console = Console()
    counts = {"tables": tables, "models": models, "configs": configs}
    outcomes = []
    with progress_bar(console) as bar:
        task = bar.add_task("reading", total=sum(counts.values()))
        for kind, count in counts.items():
            for outcome in run(kind, range(seed, seed + count)):
                outcomes.append(outcome)
                if outcome.result not in ("read", "refused"):
                    console.print(f"{kind} {outcome.number} ({outcome.case}): {outcome.result} {outcome.detail}")
                bar.update(task, advance=1, description=kind)
                if len(outcomes) % _STORED_AFTER == 0:  # an interrupted run keeps what was read
                    write_rows(root / "results" / "fuzz.csv", summary(outcomes, seed))
    if not outcomes:
        raise click.ClickException("nothing to read: give --tables, --models or --configs")
    rows = summary(outcomes, seed)
    write_rows(root / "results" / "fuzz.csv", rows)
    console.print(Markdown(render(rows)))
    if (root / "docs" / "security.md").exists():
        console.print(f"wrote {write_page(root)}")
    if any(outcome.result not in ("read", "refused") for outcome in outcomes):
        raise SystemExit(1)


def _guided(seconds: int, work: Path, root: Path) -> None:
    from ..fuzz import guided

    rows = measured("fuzz_guided", root, guided.measure(seconds, work.resolve()), guided.render)
    for kind in guided.KINDS:
        for name in guided.findings(work / kind):
            click.echo(f"{work / kind / 'findings' / name}\n{guided.error_text(work / kind, name)}")
    if any(row["traceback"] or row["crash_or_hang"] for row in rows):
        raise SystemExit(1)
