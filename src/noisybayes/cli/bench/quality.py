"""`noisybayes bench quality`: every method on every data set, against the peers."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .options import root_option

if TYPE_CHECKING:
    from rich.table import Table

    from ...bench.quality.runner import Step

# the same folder as in bench.quality.plugins, whose import would take a second (a test keeps them equal)
DEFAULT_FOLDER = "bench-data"


@click.command()
@click.option("--datasets", default="all", show_default=True, help="Names and groups, with commas between.")
@click.option("--methods", default="all", show_default=True, help="Names, with commas between.")
@click.option("--seeds", type=click.IntRange(min=1), default=5, show_default=True, help="Repetitions of each.")
@click.option("--fresh", is_flag=True, help="Measure the chosen ones anew, also where rows are stored.")
@click.option(
    "--plugins",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help=f"A folder with TOML files of further data sets; {DEFAULT_FOLDER}/ if there is one.",
)
@root_option
def quality(datasets: str, methods: str, seeds: int, fresh: bool, plugins: Path | None, root: Path) -> None:
    """Find wrong labels with every method on every data set, and compare.

    Rows go to results/quality.csv as each is finished; a run that was interrupted goes on from there. At the end
    docs/quality.md is made.
    """
    from rich.console import Console

    from ..._extras import MissingExtraError
    from ...bench.quality import rows as stored
    from ...bench.quality.methods import check_packages
    from ...bench.quality.page import RESULTS, write_page
    from ...bench.quality.runner import all_jobs, pending, run

    results = root / "results" / RESULTS
    try:
        chosen_data, chosen_methods = _chosen(datasets, methods, plugins)
        check_packages(chosen_methods)
        jobs = all_jobs(chosen_data, chosen_methods, seeds)
        left = pending(jobs, results, fresh)
    except (ValueError, MissingExtraError) as error:
        raise click.ClickException(str(error)) from None
    console = Console()
    console.print(f"{len(left)} of {len(jobs)} runs are left to do")
    problems: dict[str, None] = {}
    with progress_bar(console) as progress:
        bar = progress.add_task("starting", total=len(left))

        def report(step: Step) -> None:
            job = list(step.jobs)[-1]
            progress.update(bar, advance=len(step.jobs), description=f"{job.dataset}, seed {job.seed}: {job.method}")
            if step.unavailable:
                problems[step.unavailable] = None

        run(left, chosen_data, chosen_methods, results, report)
    chosen = set(jobs)
    console.print(_table([row for row in stored.load(results) if stored.job_of(row) in chosen]))
    console.print(f"wrote {write_page(root)}")
    if problems:
        raise click.ClickException("not measured: " + "; ".join(problems))


def _chosen(datasets: str, methods: str, plugins: Path | None) -> tuple[dict[str, Any], dict[str, Any]]:
    from ...bench.quality.datasets import DATASETS, GROUPS
    from ...bench.quality.methods import METHODS
    from ...bench.quality.plugins import datasets_in
    from ...bench.quality.selection import select

    folder = plugins or Path(DEFAULT_FOLDER)
    extra = datasets_in(folder) if folder.is_dir() else {}
    groups = {**GROUPS, "plugins": tuple(extra)} if extra else GROUPS
    return (
        select(datasets, {**DATASETS, **extra}, groups, "data set"),
        select(methods, METHODS, {}, "method"),
    )


def progress_bar(console: Any) -> Any:
    """With the number done, and the time gone and left."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
    )


def _table(rows: Collection[dict[str, Any]]) -> Table:
    from rich.table import Column, Table

    from ...bench.quality.page import SHOWN
    from ...bench.quality.summary import mean, names

    shown = ("average_precision", "f1_flagged", "f1_review", "corrected_accuracy", "test_accuracy", "flagged_share",
             "seconds")  # fmt: skip
    names_columns = (Column("data set", overflow="fold"), Column("method", overflow="fold"))
    table = Table(*names_columns, *(SHOWN[measure].title for measure in shown), title="means over seeds")
    for dataset in names(rows, "dataset"):
        mine = [row for row in rows if row["dataset"] == dataset]
        for method in names(mine, "method"):
            found = [mean([row for row in mine if row["method"] == method], measure) for measure in shown]
            cells = [SHOWN[key].show(m.value) if m.n else "–" for key, m in zip(shown, found, strict=True)]
            table.add_row(dataset, method, *cells)
        table.add_section()
    return table
