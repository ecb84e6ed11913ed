"""`noisybayes reproduce`: the paper's tables and figures, with our numbers beside the paper's."""

from __future__ import annotations

import json
from pathlib import Path

import click
from benchmarks.commands.options import root_option

from noisybayes.cli.table_options import BadInput

# the keys of paper.EXPERIMENTS, whose import would take a second (a test keeps them equal)
NAMES = ("table1", "table2", "matrices", "starts", "roc", "impact", "newsgroups", "by-date", "livestream", "published")


@click.command()
@click.argument("name", type=click.Choice(NAMES))
@click.option("--reps", type=click.IntRange(min=1), help="Repetitions; the default depends on the experiment.")
@click.option(
    "--methods",
    help="Names separated by commas, or the groups bayes and neural; by default all methods of the experiment.",
)
@click.option(
    "--setting", "beginnings", multiple=True, help="Only settings whose names begin with this; may be repeated."
)
@click.option("--jobs", type=int, default=-1, show_default=True, help="Number of processes; -1: one per core.")
@click.option("--seed", type=int, default=0, show_default=True, help="Random seed of the first repetition.")
@click.option("--quick", is_flag=True, help="A small version that takes seconds; its rows are not stored.")
@click.option("--untimed", is_flag=True, help="Do not store seconds: for a busy machine.")
@click.option(
    "--json", "json_file", type=click.Path(path_type=Path, dir_okay=False), help="Also write all rows to this file."
)
@root_option
def reproduce(
    name: str,
    reps: int | None,
    methods: str | None,
    beginnings: tuple[str, ...],
    jobs: int,
    seed: int,
    quick: bool,
    untimed: bool,
    json_file: Path | None,
    root: Path,
) -> None:
    """Run an experiment of the paper and show our figures beside the paper's.

    Rows are stored in results/paper/NAME.csv after each repetition; an interrupted run continues from there.
    """
    import tempfile

    from benchmarks.commands.quality import progress_bar
    from benchmarks.data.datasets import DatasetUnavailableError
    from rich.console import Console
    from rich.markdown import Markdown

    from noisybayes._extras import MissingExtraError

    from . import EXPERIMENTS
    from .facts import store_facts
    from .page import write_page
    from .runner import Job, load, pending, results_path, run, select_methods
    from .runs import load_runs, remember

    experiment, console = EXPERIMENTS[name], Console()
    try:
        chosen = select_methods(methods, experiment)
    except (ValueError, MissingExtraError) as error:
        raise BadInput(str(error)) from None
    settings = experiment.settings(quick)
    for beginning in beginnings:
        if not any(setting.startswith(beginning) for setting in settings):
            raise BadInput(f"no setting begins with {beginning!r}; choose from {'; '.join(settings)}")
    if not jobs:
        raise BadInput("--jobs must be a number of processes, or -1 for one per core, got 0")
    with tempfile.TemporaryDirectory() as scratch:
        path = results_path(Path(scratch) if quick else root, name)
        wanted = (2 if quick else experiment.REPS) if reps is None else reps
        left = [
            job
            for job in pending(experiment, load(path), chosen, wanted, seed, quick)
            if not beginnings or job.setting.startswith(beginnings)
        ]
        console.print(f"{len(left)} jobs are left to do")
        # rows computed on another machine keep its name until this one computes some
        if not quick and (left or not any(row["experiment"] == name for row in load_runs(root))):
            remember(root, name, chosen)
        with progress_bar(console) as progress:
            bar = progress.add_task(name, total=len(left))

            def report(job: Job) -> None:
                progress.update(bar, advance=1, description=f"{job.setting}, repetition {job.rep}")

            try:
                rows = run(experiment, left, quick, jobs, path, report, timed=not untimed)
            except DatasetUnavailableError as error:
                raise click.ClickException(str(error)) from None
    shown = [row for row in rows if row["method"] in chosen and seed <= row["rep"] < seed + wanted]
    console.print(Markdown(experiment.page(shown)))
    if json_file is not None:
        json_file.write_text(json.dumps(shown, indent=1), encoding="utf-8")
    if not quick:
        store_facts(root, name, experiment.facts())
        console.print(f"wrote {write_page(root)}")


if __name__ == "__main__":
    reproduce()
