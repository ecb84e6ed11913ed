"""`noisybayes bench crowd`: what is made of several labels of a row."""

from __future__ import annotations

from pathlib import Path

import click

from .options import root_option


@click.command()
@click.option("--datasets", default="all", show_default=True, help="Names, with semicolons between.")
@click.option("--methods", default="all", show_default=True, help="Names, with semicolons between.")
@click.option("--seeds", type=click.IntRange(min=1), default=3, show_default=True, help="Repetitions of each.")
@click.option("--seed", type=int, default=0, show_default=True, help="The first seed.")
@root_option
def crowd(datasets: str, methods: str, seeds: int, seed: int, root: Path) -> None:
    """Labels of made labelers on texts with known labels: the consensus of each method against the truth.

    Stores the rows in results/crowd.csv, in the place of earlier ones of the same data set, method and seed, and
    remakes docs/crowd.md.
    """
    from ...bench.crowd.methods import METHODS
    from ...bench.crowd.page import RESULTS, write_page
    from ...bench.crowd.runner import measure
    from ...bench.crowd.texts import DATASETS
    from ...bench.store import read_rows, write_rows

    path = root / "results" / RESULTS
    chosen = _chosen(methods, list(METHODS), "method")
    for name in _chosen(datasets, list(DATASETS), "data set"):
        for each in range(seed, seed + seeds):
            fresh = list(measure([name], chosen, range(each, each + 1)))
            stored = [] if not path.exists() else read_rows(path)
            kept = [
                row for row in stored if (row["dataset"], row["seed"]) != (name, each) or row["method"] not in chosen
            ]
            write_rows(path, [*kept, *fresh])
            click.echo(f"{name}, seed {each}: {len(fresh)} rows", err=True)
    click.echo(f"wrote {write_page(root)}")


def _chosen(names: str, known: list[str], what: str) -> list[str]:
    if names == "all":
        return known
    chosen = [name.strip() for name in names.split(";")]
    for name in chosen:
        if name not in known:
            raise click.UsageError(f"there is no {what} {name!r}; there are {'; '.join(known)}")
    return chosen
