"""`noisybayes bench review`: how soon a reviewer sees the wrong labels, in our order and in others."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from .options import root_option
from .quality import progress_bar

if TYPE_CHECKING:
    from ..review.runner import Step


@click.command()
@click.option("--datasets", default="all", show_default=True, help="Names separated by commas.")
@click.option("--methods", default="all", show_default=True, help="Names separated by commas.")
@click.option("--seeds", type=click.IntRange(min=1), default=10, show_default=True, help="Repetitions of each.")
@click.option("--fresh", is_flag=True, help="Measure again, even where rows are stored.")
@root_option
def review(datasets: str, methods: str, seeds: int, fresh: bool, root: Path) -> None:
    """Simulate reviews of tables with known true labels, and count the wrong labels that are found.

    Rows are stored in results/review.csv as soon as each review is finished; an interrupted run continues from there.
    At the end docs/review.md and its figures are regenerated.
    """
    from rich.console import Console
    from rich.markdown import Markdown

    from noisybayes._extras import MissingExtraError

    from ..quality.chosen_names import select
    from ..review.orders import ORDERS, check_packages
    from ..review.page import render_page, write_page
    from ..review.review_tables import DATASETS
    from ..review.runner import all_jobs, pending, run

    try:
        chosen_data = select(datasets, DATASETS, {}, "data set")
        chosen_orders = select(methods, ORDERS, {}, "method")
        check_packages(chosen_orders)
    except (ValueError, MissingExtraError) as error:
        raise click.ClickException(str(error)) from None
    jobs = all_jobs(chosen_data, chosen_orders, seeds)
    left = pending(jobs, root, fresh)
    console = Console()
    console.print(f"{len(left)} of {len(jobs)} reviews are left to do")
    problems: dict[str, None] = {}
    with progress_bar(console) as progress:
        bar = progress.add_task("starting", total=len(left))

        def report(step: Step) -> None:
            dataset, method, seed = step.job
            progress.update(bar, advance=1, description=f"{dataset}, seed {seed}: {method}")
            if step.unavailable:
                problems[step.unavailable] = None

        run(left, chosen_data, chosen_orders, root, report)
    console.print(Markdown(render_page(root)))
    console.print(f"wrote {write_page(root)}")
    if problems:
        raise click.ClickException("not measured: " + "; ".join(problems))
