"""The experiments of docs/benchmarks.md as commands, and `noisybayes bench page`."""

from __future__ import annotations

from pathlib import Path

import click

from .options import root_option

# the keys of benchmarks.experiments.EXPERIMENTS, whose import would take a second (a test keeps them equal)
NAMES = {
    "recovery": "Run the paper's simulation: error of the feature probabilities, accuracy on new rows.",
    "coverage": "Measure the coverage of intervals and the calibration of P(wrong).",
    "stream": "Compare partial_fit on a stream, after one pass and after three, with the batch fit.",
    "bot": "Evaluate the auto-responder on the paper's dialogs, split by dialog: features, answers, and peers.",
    "load": "Measure how fast the bot answers 200 requests per second, and whether an answer is lost.",
    "audience": "Simulate a live stream of 2,000 viewers: waits, and lost or duplicated messages, leads and handovers.",
    "verified": "Measure how much verified labels improve the estimated number of errors under human mistakes.",
}


def experiment(name: str, text: str) -> click.Command:
    """The command of an experiment: measure it again, store its rows, regenerate docs/benchmarks.md."""

    @click.command(name, help=f"{text} Stores the rows in results/ and regenerates docs/benchmarks.md.")
    @click.option("--reps", type=click.IntRange(min=2), help="Repetitions; the default depends on the experiment.")
    @click.option("--seed", type=int, default=0, show_default=True)
    @root_option
    def command(reps: int | None, seed: int, root: Path) -> None:
        from rich.console import Console
        from rich.markdown import Markdown

        from ..experiments import EXPERIMENTS
        from ..pages import write_page
        from ..result_files import write_rows

        console = Console()
        rows = []
        with console.status(f"measuring {name} ...") as status:
            for row in EXPERIMENTS[name].measure(**({} if reps is None else {"reps": reps}), seed=seed):
                rows.append(row)
                status.update(f"measuring {name}: {len(rows)} rows")
        write_rows(root / "results" / f"{name}.csv", rows)
        console.print(Markdown(EXPERIMENTS[name].page(rows)))
        console.print(f"wrote {write_page(root)}")

    return command


@click.command()
@root_option
def page(root: Path) -> None:
    """Regenerate the pages of docs/ that are generated from stored rows.

    They are: benchmarks, methods, quality, reproduce, results, review, speed, trust; and the tables of security.
    """
    from paper.page import write_page as write_paper_page

    from ..pages import write_page
    from ..quality.methods_page import write_page as write_methods_page
    from ..quality.page import write_page as write_quality_page
    from ..quality.results_page import write_page as write_results_page
    from ..review.page import write_page as write_review_page
    from ..security_page import write_page as write_security_page
    from ..speed import write_page as write_speed_page
    from ..trust.page import write_page as write_trust_page

    pages = (
        write_page, write_quality_page, write_results_page, write_methods_page, write_paper_page, write_review_page,
        write_speed_page, write_trust_page,
    )  # fmt: skip
    for write in pages:
        click.echo(f"wrote {write(root)}")
    if (root / "docs" / "security.md").exists():  # written by hand, except for its tables
        click.echo(f"wrote {write_security_page(root)}")
