"""`noisybayes bench`: measure, store the rows, remake the docs page."""

from __future__ import annotations

from pathlib import Path

import click

# the keys of noisybayes.bench.EXPERIMENTS, whose import would take a second (a test keeps them equal)
NAMES = ("speed", "recovery")


@click.command()
@click.argument("name", type=click.Choice([*NAMES, "page"]))
@click.option("--reps", type=click.IntRange(min=2), help="Repetitions; the experiment's own number if left out.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option(
    "--root",
    type=click.Path(file_okay=False, path_type=Path),
    default=".",
    show_default=True,
    help="The folder that has results/ and docs/.",
)
def bench(name: str, reps: int | None, seed: int, root: Path) -> None:
    """Measure NAME anew, store its rows in results/ and remake docs/benchmarks.md; `page` only remakes the page."""
    from rich.console import Console
    from rich.markdown import Markdown

    from ..bench import EXPERIMENTS
    from ..bench.pages import write_page
    from ..bench.store import write_rows

    console = Console()
    if name != "page":
        rows = []
        with console.status(f"measuring {name} ...") as status:
            for row in EXPERIMENTS[name].measure(**({} if reps is None else {"reps": reps}), seed=seed):
                rows.append(row)
                status.update(f"measuring {name}: {len(rows)} rows")
        write_rows(root / "results" / f"{name}.csv", rows)
        console.print(Markdown(EXPERIMENTS[name].page(rows)))
    console.print(f"wrote {write_page(root)}")
