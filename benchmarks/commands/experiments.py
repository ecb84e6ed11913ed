"""The experiments of docs/benchmarks.md as commands, and `page`."""

from __future__ import annotations

from pathlib import Path

import click

from ..experiments import EXPERIMENTS, module
from .options import root_option
from .quality import write_pages

#: Modules with `write_page(root)`.
PAGES = (
    "pages", "quality.results_page", "quality.quality_page", "quality.readme", "crowd",
    "trust.page", "speed", "security_page",
)  # fmt: skip


def experiment(name: str) -> click.Command:
    @click.command(name, help=f"{EXPERIMENTS[name][1]} Stores results/{name}.csv and regenerates docs/benchmarks.md.")
    @click.option("--reps", type=click.IntRange(min=2), help="Repetitions; the default depends on the experiment.")
    @click.option("--seed", type=int, default=0, show_default=True)
    @root_option
    def command(reps: int | None, seed: int, root: Path) -> None:
        from ..result_files import write_rows

        found = module(name)
        rows = list(found.measure(**({} if reps is None else {"reps": reps}), seed=seed))
        write_rows(root / "results" / f"{name}.csv", rows)
        click.echo(found.page(rows))
        write_pages(root, ("pages",))

    return command


@click.command()
@root_option
def page(root: Path) -> None:
    """Regenerate every page, picture and table of docs/ that is made from stored rows."""
    write_pages(root, PAGES)


COMMANDS = (*map(experiment, EXPERIMENTS), page)
