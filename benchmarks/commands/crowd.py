"""`noisybayes bench crowd`: how well several labels per row are combined."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from .options import root_option

if TYPE_CHECKING:
    from ..result_files import Row


@click.command()
@click.option("--datasets", default="all", show_default=True, help="Names separated by semicolons.")
@click.option("--methods", default="all", show_default=True, help="Names separated by semicolons.")
@click.option("--seeds", type=click.IntRange(min=1), default=3, show_default=True, help="Repetitions of each.")
@click.option("--seed", type=int, default=0, show_default=True, help="The first seed.")
@root_option
def crowd(datasets: str, methods: str, seeds: int, seed: int, root: Path) -> None:
    """Compare the consensus of each method with the truth, on texts labeled by simulated labelers.

    Stores the rows in results/crowd.csv, results/labelers.csv and results/sources.csv, replacing earlier ones
    of the same data set, method and seed, and regenerates docs/crowd.md.
    """
    from ..crowd import drift, one_label
    from ..crowd.labeled_texts import DATASETS
    from ..crowd.methods import METHODS, OURS
    from ..crowd.page import ONE_LABEL, OVER_TIME, RESULTS, write_page
    from ..crowd.runner import measure

    chosen = _chosen(methods, list(METHODS), "method")
    for name in _chosen(datasets, list(DATASETS), "data set"):
        for each in range(seed, seed + seeds):
            fresh = list(measure([name], chosen, range(each, each + 1)))
            _replace(root / "results" / RESULTS, fresh, name, each)
            if OURS in chosen:
                _replace(root / "results" / ONE_LABEL, list(one_label.measure(name, each)), name, each)
                _replace(root / "results" / OVER_TIME, list(drift.measure(name, each)), name, each)
            click.echo(f"{name}, seed {each}: {len(fresh)} rows", err=True)
    click.echo(f"wrote {write_page(root)}")


def _replace(path: Path, fresh: list[Row], name: str, seed: int) -> None:
    """Rows of the same data set, seed and method are replaced."""
    from ..result_files import read_rows, write_rows

    methods = {row.get("method") for row in fresh}
    stored = read_rows(path) if path.exists() else []
    others = [
        row for row in stored if (row["dataset"], row["seed"]) != (name, seed) or row.get("method") not in methods
    ]
    write_rows(path, [*others, *fresh])


def _chosen(names: str, known: list[str], what: str) -> list[str]:
    if names == "all":
        return known
    chosen = [name.strip() for name in names.split(";")]
    for name in chosen:
        if name not in known:
            raise click.UsageError(f"there is no {what} {name!r}; choose from {'; '.join(known)}")
    return chosen
