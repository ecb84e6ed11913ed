"""`noisybayes bench quality`: every method on every data set, against the peers."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .options import root_option

if TYPE_CHECKING:
    from rich.table import Table

    from ..quality.runner import Step

# the same folder as in bench.quality.plugins, whose import would take a second (a test keeps them equal)
DEFAULT_FOLDER = "bench-data"


@click.command()
@click.option("--datasets", default="all", show_default=True, help="Names and groups separated by commas.")
@click.option("--methods", default="all", show_default=True, help="Names and groups separated by commas.")
@click.option("--seeds", type=click.IntRange(min=1), default=5, show_default=True, help="Repetitions of each.")
@click.option(
    "--first-seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the first repetition."
)
@click.option("--jobs", type=click.IntRange(min=1), help="Parallel runs; by default one per core.")
@click.option("--fresh", is_flag=True, help="Measure again, even where rows are stored.")
@click.option(
    "--plugins",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help=f"Folder with TOML files of further data sets; by default {DEFAULT_FOLDER}/ if it exists.",
)
@root_option
def quality(
    datasets: str,
    methods: str,
    seeds: int,
    first_seed: int,
    jobs: int | None,
    fresh: bool,
    plugins: Path | None,
    root: Path,
) -> None:
    """Compare how well every method finds wrong labels on every data set.

    Each row is stored in results/quality.csv as soon as it is finished; an interrupted run continues from there. At
    the end the pages quality, results, methods and reproduce of docs/ are regenerated. Parallel runs have one thread
    each and take longer; to compare times, use --jobs 1.
    """
    from joblib import cpu_count
    from paper.page import write_page as write_paper_page
    from rich.console import Console

    from noisybayes._extras import MissingExtraError

    from ..quality import result_rows as stored
    from ..quality.methods import check_packages
    from ..quality.methods_page import write_page as write_methods_page
    from ..quality.page import RESULTS, write_page
    from ..quality.results_page import write_page as write_results_page
    from ..quality.runner import all_jobs, pending, run
    from ..quality.summary import in_order

    results = root / "results" / RESULTS
    try:
        chosen_data, chosen_methods = _chosen(datasets, methods, plugins)
        check_packages(chosen_methods)
        wanted = all_jobs(chosen_data, chosen_methods, seeds, first_seed)
        left = pending(wanted, results, fresh)
    except (ValueError, MissingExtraError) as error:
        raise click.ClickException(str(error)) from None
    console = Console()
    console.print(f"{len(left)} of {len(wanted)} runs are left to do")
    problems: dict[str, None] = {}
    with progress_bar(console) as progress:
        bar = progress.add_task("starting", total=len(left))

        def report(step: Step) -> None:
            job = step.job
            progress.update(bar, advance=1, description=f"{job.dataset}, seed {job.seed}: {job.method}")
            if step.unavailable:
                problems[step.unavailable] = None

        at_once = max(1, min(jobs or cpu_count(), len(left)))
        run(left, chosen_data, chosen_methods, results, report, at_once)
    chosen = set(wanted)
    for table in _tables(in_order(row for row in stored.load(results) if stored.job_of(row) in chosen)):
        console.print(table)
    for write in (write_page, write_results_page, write_methods_page, write_paper_page):
        console.print(f"wrote {write(root)}")
    if problems:
        raise click.ClickException("not measured: " + "; ".join(problems))


def _chosen(datasets: str, methods: str, plugins: Path | None) -> tuple[dict[str, Any], dict[str, Any]]:
    from ..quality.chosen_names import select
    from ..quality.datasets import DATASETS, GROUPS, NOT_IN_ALL
    from ..quality.methods import FOR_NUMBERS, FOR_SCALES, FOR_VECTORS, GIVEN_RATES, METHODS, SECTION_METHODS
    from ..quality.plugins import datasets_in

    folder = plugins or Path(DEFAULT_FOLDER)
    extra = datasets_in(folder) if folder.is_dir() else {}
    offered = {**DATASETS, **extra}
    groups = {"all": tuple(name for name in offered if name not in NOT_IN_ALL), **GROUPS}
    if extra:
        groups["plugins"] = tuple(extra)
    of_methods = {
        "all": tuple(METHODS), "rates": tuple(GIVEN_RATES), "numbers": tuple(FOR_NUMBERS), "scales": tuple(FOR_SCALES),
        "vectors": tuple(FOR_VECTORS),
    }  # fmt: skip
    return (
        select(datasets, offered, groups, "data set"),
        select(methods, {**METHODS, **GIVEN_RATES, **SECTION_METHODS}, of_methods, "method"),
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

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
    )


def _tables(rows: Collection[dict[str, Any]]) -> Iterator[Table]:
    """One per data set, or one per large group."""
    from rich.box import SIMPLE_HEAVY
    from rich.table import Column, Table

    from ..quality.measure_display import SHOWN
    from ..quality.summary import blocks, mean, names

    titles = {
        "average_precision": "AP",
        "f1_flagged": "F1",
        "corrected_accuracy": "corrected",
        "test_accuracy": "test",
        "n_parameters": "parameters",
        "seconds": "seconds",
    }
    for title, datasets in blocks(names(rows, "dataset")).items():
        mine = [row for row in rows if row["dataset"] in datasets]
        columns = [Column(name, justify="right", no_wrap=True) for name in titles.values()]
        table = Table("method", *columns, title=f"{title}, means over seeds", box=SIMPLE_HEAVY, padding=(0, 1, 0, 0))
        for method in names(mine, "method"):
            means = {measure: mean([row for row in mine if row["method"] == method], measure) for measure in titles}
            table.add_row(method, *(SHOWN[measure].show(m.value) if m.n else "–" for measure, m in means.items()))
        yield table
