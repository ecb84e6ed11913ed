"""`noisybayes compare`: what changed between two audits, for humans and for CI."""

from __future__ import annotations

import json
from pathlib import Path

import click

from .table_options import clear_errors


@click.command()
@click.argument("before", type=click.Path(path_type=Path))
@click.argument("after", type=click.Path(path_type=Path))
@click.option("--fail-on", type=click.Choice(["rise"]), help="Exit code 1 if the share of wrong labels has risen.")
@click.option(
    "--tolerance",
    type=click.FloatRange(0, 1),
    default=0.005,
    show_default=True,
    help="Ignore a rise of no more than this share.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
def compare(before: Path, after: Path, fail_on: str | None, tolerance: float, as_json: bool) -> None:
    """Show what changed between two audits: share of wrong labels, confused pairs, labels, suspects.

    BEFORE and AFTER are folders that `noisybayes audit --out` wrote, or the audit.json in them.
    """
    from .._shares import percent
    from ..report.comparison import compare as compare_summaries
    from ..report.comparison import comparison_text
    from ..report.saved import load_summary

    with clear_errors():
        comparison = compare_summaries(load_summary(before), load_summary(after))
    click.echo(
        json.dumps(comparison.to_dict(), ensure_ascii=False, indent=1) if as_json else comparison_text(comparison)
    )
    if fail_on == "rise" and comparison.rise > tolerance:
        click.echo(
            f"noisybayes: the share of wrong labels has risen from at least {percent(comparison.at_least.before)} to "
            f"at least {percent(comparison.at_least.after)}",
            err=True,
        )
        raise click.exceptions.Exit(1)
