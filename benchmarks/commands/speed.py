"""`python -m benchmarks speed`: how long tasks take, compared with the usual alternatives."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import click

from .options import root_option


@click.command()
@click.argument("works", nargs=-1)
@click.option("--reps", type=click.IntRange(min=1), default=3, show_default=True, help="Repetitions.")
@click.option("--seed", type=int, default=0, show_default=True)
@root_option
def speed(works: tuple[str, ...], reps: int, seed: int, root: Path) -> None:
    """Measure the speed of WORKS, by default all. Stores the rows and regenerates docs/speed.md.

    Run it on an otherwise idle machine: other load distorts the times.
    """
    from .. import speed
    from ..result_files import write_rows

    unknown = set(works) - set(speed.WORKS)
    if unknown:
        raise click.UsageError(f"there is no work {min(unknown)!r}; there are: {', '.join(speed.WORKS)}")
    for work in works or speed.WORKS:
        # closing: a run interrupted between two rows leaves no files behind either
        with closing(speed.measure(work, reps, seed)) as rows:
            write_rows(speed.results_path(root, work), list(rows))
        click.echo(speed.WORKS[work][1](list(speed.read_rows(speed.results_path(root, work)))))
        speed.write_page(root)  # kept even if the next measurement is interrupted
