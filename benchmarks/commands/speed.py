"""`noisybayes bench speed`: how long tasks take, compared with the usual alternatives."""

from __future__ import annotations

from pathlib import Path

import click

from .options import root_option

# the keys of benchmarks.speed.WORKS, whose import would take a second (a test keeps them equal)
WORKS = ("em", "small_fits", "texts", "binary", "audit", "files", "cluster", "cluster_audit", "growth")


@click.command()
@click.argument("works", nargs=-1, type=click.Choice(WORKS))
@click.option("--reps", type=click.IntRange(min=1), default=3, show_default=True, help="Repetitions.")
@click.option("--seed", type=int, default=0, show_default=True)
@root_option
def speed(works: tuple[str, ...], reps: int, seed: int, root: Path) -> None:
    """Measure the speed of WORKS, by default all. Stores the rows and regenerates docs/speed.md.

    Run it on an otherwise idle machine: other load distorts the times.
    """
    from contextlib import closing

    from rich.console import Console
    from rich.markdown import Markdown

    from noisybayes._extras import MissingExtraError
    from noisybayes._files import DiskError

    from ..data.datasets import DatasetUnavailableError
    from ..result_files import write_rows
    from ..speed import WORKS as MODULES
    from ..speed import measure
    from ..speed.page import results_path, write_page

    console = Console()
    skipped = []
    for work in works or WORKS:
        rows = []
        try:
            # closing: a run interrupted between two rows leaves no files behind either
            with console.status(f"measuring {work} ...") as status, closing(measure(work, reps, seed)) as measured:
                for row in measured:
                    rows.append(row)
                    status.update(f"measuring {work}: {len(rows)} rows")
        except (MissingExtraError, DatasetUnavailableError, DiskError) as error:
            skipped.append(f"{work}: {error}")
            continue
        write_rows(results_path(root, work), rows)
        console.print(Markdown(MODULES[work].page(rows)))
        write_page(root)  # kept even if the next measurement is interrupted
    console.print(f"wrote {write_page(root)}")
    if skipped:
        raise click.ClickException("not measured: " + "; ".join(skipped))
