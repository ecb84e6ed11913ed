"""Commands that measure how well wrong labels are found and how far the numbers of an audit can be trusted.

Each stores its rows in results/ as they are finished and regenerates its page; an interrupted run continues.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path

import click

from .options import root_option


def chosen(names: str, offered: Iterable[str], groups: dict[str, Iterable[str]] | None = None) -> list[str]:
    """Names and groups separated by commas; "all" are all of them."""
    offered = list(offered)
    groups = {"all": offered, **(groups or {})}
    found: dict[str, None] = {}
    for name in (part.strip() for part in names.split(",")):
        if name not in groups and name not in offered:
            raise click.UsageError(f"there is no {name!r}; choose from {', '.join([*groups, *offered])}")
        found |= dict.fromkeys(groups.get(name, [name]))
    return list(found)


def _seeds_option(default: int) -> click.Option:
    return click.option("--seeds", type=click.IntRange(min=1), default=default, show_default=True, help="Repetitions.")


_datasets = click.option("--datasets", default="all", show_default=True, help="Names separated by commas.")
_methods = click.option("--methods", default="all", show_default=True, help="Names separated by commas.")
_first = click.option("--first-seed", type=click.IntRange(min=0), default=0, show_default=True)
_fresh = click.option("--fresh", is_flag=True, help="Measure again, even where rows are stored.")


@click.command()
@click.option("--datasets", default="all", show_default=True, help="Names and groups separated by commas.")
@_methods
@_seeds_option(5)
@_first
@click.option(
    "--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Processes, which slow each other."
)
@_fresh
@root_option
def quality(datasets: str, methods: str, seeds: int, first_seed: int, jobs: int, fresh: bool, root: Path) -> None:
    """Every method on every data set that it is for: docs/results.md, docs/quality.md, and a part of README.md."""
    from ..quality import DATASETS, GROUPS, METHODS
    from ..quality.runner import RESULTS, all_jobs, pending, run

    numbers = range(first_seed, first_seed + seeds)
    wanted = all_jobs(chosen(datasets, DATASETS, dict(GROUPS)), chosen(methods, METHODS), numbers)
    path = root / "results" / RESULTS
    left = pending(wanted, path, fresh)
    click.echo(f"{len(left)} of {len(wanted)} runs are left to do")
    for row in run(left, path, jobs):
        click.echo(
            f"{row['dataset']}, seed {row['seed']}, {row['method']}: average precision {row['average_precision']:.3f}, "
            f"test accuracy {row['test_accuracy']:.3f}, {row['seconds']:.1f} s"
        )
    write_pages(root, ("quality.results_page", "quality.quality_page", "quality.readme"))


@click.command()
@click.option("--sets", default="all", show_default=True, help="Names and groups separated by commas.")
@click.option("--method", default="default", show_default=True, help='Name of the rows; "cleanlab" measures this peer.')
@click.option("--embed", metavar="MODEL_OR_FOLDER", help="Audit with embeddings by this model.")
@click.option("--store", is_flag=True, help="Store the rows in results/panel.csv.")
@root_option
def panel(sets: str, method: str, embed: str | None, store: bool, root: Path) -> None:
    """The default audit on 28 public data sets with observed and true labels: results/panel.csv."""
    from .. import panel
    from ..panel_sets import GROUPS, SETS
    from ..result_files import store_rows

    if embed is not None and method in ("default", "cleanlab"):
        raise click.UsageError(f"{method!r} has no embeddings; name these rows: --embed {embed} --method NAME")
    options = {} if embed is None else {"embed": embed}
    measured = panel.cleanlab if method == "cleanlab" else partial(panel.audit, **options)
    rows = []
    for row in panel.measure(chosen(sets, SETS, dict(GROUPS)), method, measured):
        rows.append(row)
        click.echo(f"{row['set']}, {method}: average precision {row['ap']:.3f}, {row['seconds']:.1f} s")
        if store:
            store_rows(root / "results" / panel.RESULTS, [row], panel.KEY)
    click.echo(panel.page(rows))
    if method == "default" and len(rows) >= 10:  # fewer say nothing of nine in ten
        click.echo(f"What an audit may say without checks: {panel.grounds(rows)}")


@click.command()
@click.option("--sets", default="all", show_default=True, help="Names and groups separated by commas.")
@click.option("--orders", default="all", show_default=True, help="Names separated by commas.")
@click.option("--store", is_flag=True, help="Store the rows in results/review.csv.")
@root_option
def review(sets: str, orders: str, store: bool, root: Path) -> None:
    """How many wrong labels a reviewer finds who reads the first rows, as ranked and as the list learns from him."""
    from .. import review
    from ..panel_sets import GROUPS, SETS
    from ..result_files import store_rows

    rows = list(review.review(chosen(sets, SETS, dict(GROUPS)), chosen(orders, review.ORDERS)))
    if store:
        store_rows(root / "results" / review.RESULTS, rows, review.KEY)
    click.echo(review.page(rows))


@click.command()
@click.option("--parts", default="all", show_default=True, help="Names separated by commas.")
@_methods
@_seeds_option(3)
@_first
@root_option
def crowd(parts: str, methods: str, seeds: int, first_seed: int, root: Path) -> None:
    """Several labels per row; labelers, weeks and channels; a model's second opinion: docs/crowd.md."""
    from ..crowd import FILES, METHODS, run

    numbers = range(first_seed, first_seed + seeds)
    for done in run(chosen(parts, FILES), chosen(methods, METHODS), numbers, root / "results"):
        click.echo(done)
    write_pages(root, ("crowd",))


@click.command()
@click.option("--parts", default="all", show_default=True, help="Names separated by commas.")
@_seeds_option(5)
@_first
@root_option
def trust(parts: str, seeds: int, first_seed: int, root: Path) -> None:
    """Corrections and verdicts against known truth: results/trust.csv, docs/trust.md."""
    from ..result_files import store_rows
    from ..trust import PARTS, RESULTS, measure

    for seed in range(first_seed, first_seed + seeds):
        for part in chosen(parts, PARTS):
            rows = list(measure(part, seed))
            store_rows(root / "results" / RESULTS, rows, ("part", "seed"))
            click.echo(f"{part}, seed {seed}: {len(rows)} rows")
    write_pages(root, ("trust.page",))


def write_pages(root: Path, modules: Iterable[str]) -> None:
    from importlib import import_module

    (root / "docs" / "img").mkdir(parents=True, exist_ok=True)
    for name in modules:
        click.echo(f"wrote {import_module(f'benchmarks.{name}').write_page(root)}")


COMMANDS = (quality, panel, review, crowd, trust)
