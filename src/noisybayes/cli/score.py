"""`noisybayes score`: how good predictions are, against the true labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from . import table_options
from .table_options import clear_errors, reading_options


@click.command()
@click.argument("predictions")
@click.argument("audit_folder", metavar="AUDIT", type=click.Path(exists=True, path_type=Path))
@click.option("--column", help="The column with the predictions; by default predicted_label, or the last one.")
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.9,
    show_default=True,
    help="Coverage of the interval.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON.")
@reading_options
def score(predictions: str, audit_folder: Path, **options: Any) -> None:
    """Estimate the accuracy of PREDICTIONS against the true labels of the rows of an AUDIT.

    PREDICTIONS is a table with one row for each row of the audited table, in the same order; AUDIT is the folder that
    `noisybayes audit --out` wrote. The classifier should not have been trained on these rows.
    """
    from ..data.errors import InputError
    from ..data.roles import label_texts
    from ..report.prediction_accuracy import score_predictions, score_text
    from ..report.saved import load_summary

    with clear_errors():
        frame = table_options.read(predictions, {**options, "quiet": True})
        default = "predicted_label" if "predicted_label" in frame.columns else frame.columns[-1]
        column = options["column"] or default
        if column not in frame.columns:
            raise InputError(f"--column: there is no column {column!r} in {predictions}")
        accuracy = score_predictions(label_texts(frame[column], None).to_list(), audit_folder, options["level"])
        classes = load_summary(audit_folder)["classes"]
    if options["as_json"]:
        recall = dict(
            zip(classes, [None if value != value else float(value) for value in accuracy.recall], strict=True)
        )
        click.echo(json.dumps({**accuracy._asdict(), "recall": recall}, ensure_ascii=False, indent=1))
    else:
        click.echo(score_text(accuracy, classes))
