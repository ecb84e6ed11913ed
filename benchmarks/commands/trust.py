"""`noisybayes bench trust`: whether the numbers of an audit can be trusted."""

from __future__ import annotations

from pathlib import Path

import click

from .options import root_option


@click.command()
@click.option("--part", "parts", multiple=True, help="Only this part; may be given several times.")
@click.option("--reps", type=click.IntRange(min=1), default=5, show_default=True, help="Seeds of every part.")
@click.option("--seed", type=int, default=0, show_default=True, help="The first seed.")
@root_option
def trust(parts: tuple[str, ...], reps: int, seed: int, root: Path) -> None:
    """Check intervals, corrections, verdicts and drift warnings against known truth.

    Stores the rows in results/trust.csv, replacing earlier ones of the same part and seed, and regenerates
    docs/trust.md.
    """
    from ..result_files import read_rows, write_rows
    from ..trust import PARTS, measure
    from ..trust.page import RESULTS, write_page

    unknown = [part for part in parts if part not in PARTS]
    if unknown:
        raise click.UsageError(f"there is no part {unknown[0]!r}; the parts are {', '.join(PARTS)}")
    path = root / "results" / RESULTS
    for each in range(seed, seed + reps):
        for part in parts or PARTS:
            fresh = list(measure(part, range(each, each + 1)))
            stored = [] if not path.exists() else read_rows(path)
            stored = [row for row in stored if (row["part"], row["seed"]) != (part, each)]
            write_rows(path, [*stored, *fresh])
            click.echo(f"{part}, seed {each}: {len(fresh)} rows", err=True)
    click.echo(f"wrote {write_page(root)}")
