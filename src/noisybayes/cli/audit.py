"""`noisybayes audit`: which labels in a file are wrong, why, and how much it matters."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._shares import percent
from . import table_options
from .large_file_options import large_options, open_table
from .option_groups import GroupedOptions
from .table_options import (
    clear_errors,
    column_options,
    quiet_option,
    reading_options,
    seed_option,
    stages,
    word_options,
)

if TYPE_CHECKING:
    from ..auditing.result import Audit

_STAGES = (
    "reading", "drawing a sample", "embedding texts", "building features", "fitting", "scoring the rows",
    "computing intervals", "writing",
)  # fmt: skip
_SHOWN = 5


_GROUPS = {
    "Input": ("input_format", "encoding", "sheet", "missing_label", "keep_variants"),
    "Columns": (
        "label",
        "text",
        "categorical",
        "numeric",
        "binary",
        "id_column",
        "verified",
        "verified_random",
        "second_opinion",
        "labeler",
        "source",
        "anonymous",
    ),
    "Suspects": ("budget", "fail_above"),
    "Output": ("out", "table_format", "excel", "exports", "raw_cells", "sample", "as_json", "quiet"),
    "Text": ("ngrams", "min_df", "max_df", "max_words"),
    "Cluster": ("engine", "scheduler"),
    "Model": ("pred_probs", "embeddings", "embed", "families", "mislabel", "seed"),
}


@click.command(cls=GroupedOptions, groups=_GROUPS)
@click.argument("file", nargs=-1, required=True)
@column_options
@click.option("--budget", type=click.IntRange(min=0), help="List this many rows, the most suspicious first.")
@click.option(
    "--sample",
    type=click.IntRange(min=1),
    help="Also draw this many random rows to check: to_check.csv in --out; 50 is a good start.",
)
@click.option(
    "--verified-random",
    metavar="COLUMN|FILE",
    help="True labels of rows drawn at random: a column, or to_check.csv filled in. They show how many are wrong.",
)
@click.option(
    "--second-opinion",
    metavar="COLUMN",
    help="Independent labels from an old model, rules or other people; cells may be empty.",
)
@click.option("--labeler", metavar="COLUMN", help="Who labeled each row; with --id, a row may occur once per labeler.")
@click.option(
    "--source",
    multiple=True,
    metavar="COLUMN",
    help="What mistakes may depend on, such as a channel or date; may be given several times.",
)
@click.option("--anonymous", is_flag=True, help="Show numbers instead of the names of labelers in all outputs.")
@click.option(
    "--pred-probs",
    metavar="FILE",
    help="Out-of-sample probabilities from your own model: .npy, CSV or Parquet, one column per class.",
)
@click.option(
    "--embeddings",
    metavar="FILE|COLUMN",
    help="Vectors of the rows, such as embeddings: .npy, Parquet, or a column of lists.",
)
@click.option(
    "--embed",
    metavar="MODEL|FOLDER",
    help="Embed the texts with this model2vec or sentence-transformers model: a folder, or a name in the local cache.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Folder for report, tables, JSON and model.")
@click.option(
    "--format",
    "table_format",
    type=click.Choice(["csv", "parquet", "xlsx"]),
    default="csv",
    show_default=True,
    help="Format of the tables in --out.",
)
@click.option("--excel", is_flag=True, help="Write the tables as Excel files: the same as --format xlsx.")
@click.option(
    "--export",
    "exports",
    multiple=True,
    type=click.Choice(["label-studio", "cleanlab"]),
    help="Also write files for another tool; may be given several times.",
)
@click.option(
    "--raw-cells", is_flag=True, help="Do not escape cells of CSV files that a spreadsheet would run as formulas."
)
@click.option(
    "--fail-above",
    type=click.FloatRange(0, 1),
    help="Exit code 1 if the estimated share of wrong labels is larger, or a column gives the label away.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the audit as JSON instead of the summary.")
@quiet_option
@seed_option
@large_options
@reading_options
@word_options
def audit(file: tuple[str, ...], **options: Any) -> None:
    """Find the wrong labels in FILE, or in several files that are parts of one table.

    A file is CSV, TSV, JSON, Parquet, Excel or an export of a labeling tool, and may be compressed; - is standard
    input.

    \b
    noisybayes audit messages.csv --label category --text message --out audit
    then open audit/report.html.
    """  # fmt: skip
    with clear_errors():
        result = _run(file[0] if len(file) == 1 else list(file), options)
    if options["as_json"]:
        click.echo(result.to_json())
    elif not options["quiet"]:
        _show(result, options["out"], options["sample"])
    limit, reasons = options["fail_above"], list(result.findings.judged.leaks)
    if limit is not None and result.noise_rate > limit:
        reasons.append(f"{percent(result.noise_rate)} of the labels look wrong, more than {percent(limit)}")
    if limit is not None and reasons:
        click.echo("\n".join(f"noisybayes: {reason}" for reason in reasons), err=True)
        raise click.exceptions.Exit(1)


def _run(file: str | list[str], options: dict[str, Any]) -> Audit:
    from ..auditing.pipeline import AuditOptions, audited
    from ..data.errors import InputError
    from ..data.spreadsheets import excel_writer
    from ..report.outputs import check_folder

    if options["out"] is not None:
        check_folder(options["out"], options["verified_random"])
    elif options["exports"] or options["sample"]:
        which = "--export" if options["exports"] else "--sample"
        raise InputError(f"{which} writes files, so it needs a folder: add --out FOLDER")
    if options["excel"] or options["table_format"] == "xlsx":
        excel_writer()  # before the fit
    audit_options = AuditOptions(options["budget"])
    with stages(_STAGES, options["quiet"] or options["as_json"]) as report_stage:
        report_stage("reading")
        table, how = open_table(file, options)
        command = None if options["anonymous"] else table_options.command_line()  # which may name labelers
        with audited(table, how, audit_options, command=command, progress=report_stage) as result:
            if options["out"] is not None:
                report_stage("writing")
                _write(result, options)
            result.summary()  # kept, since what was written for a large table is deleted after this
    return result


def _write(result: Audit, options: dict[str, Any]) -> None:
    from ..report.outputs import write_audit

    format = "xlsx" if options["excel"] else options["table_format"]
    exports, sample = tuple(options["exports"]), options["sample"]
    write_audit(result, options["out"], format, exports, sample, raw_cells=options["raw_cells"])


def _show(result: Audit, out: Path | None, sample: int | None) -> None:
    from rich.console import Console

    console = Console(highlight=False)
    for note in result.run.notes:
        console.print(note, style="dim", markup=False)
    summary = result.summary()
    _headline(console, summary)
    _labelers(console, summary)
    _suspects(console, summary)
    changed = summary["n_corrected"]
    if out is not None:
        number = "1 label" if changed == 1 else f"{changed:,} labels"
        console.print(f"\nThe column 'corrected' changes {number} without review and keeps the others.")
    for warning in result.warnings:
        console.print(f"\nWarning: {warning}", style="yellow", markup=False)
    if out is None:
        console.print("\nAdd [bold]--out FOLDER[/bold] for the report, the list of suspects and the corrected table.")
    else:
        console.print(f"\nReport: {(out / 'report.html').resolve()}", style="bold", markup=False, soft_wrap=True)
    if out is not None and sample is not None:
        file = out / "to_check.csv"
        console.print(
            f"To check: fill in the column true_label of {file} and run again with --verified-random {file}",
            markup=False, soft_wrap=True,
        )  # fmt: skip


def _headline(console: Any, summary: dict[str, Any]) -> None:
    from ..report.phrases import caveat, plural, wrong_labels

    suspects = plural(summary["n_suspects"], "suspect")
    console.print(f"\n{wrong_labels(summary)}; {suspects}.", style="bold", markup=False)
    pairs = [pair for pair in summary["confused_pairs"][:_SHOWN] if pair["rows"] >= 1]
    if pairs:
        named = "; ".join(f"{pair['given']!r} instead of {pair['true']!r} ({pair['rows']:,.0f})" for pair in pairs)
        console.print(f"Most confused: {named}", markup=False)
    for source in summary["sources"]:
        if source["kept"]:
            console.print(source["text"], markup=False)
    if caveat(summary):
        console.print(caveat(summary), style="dim", markup=False)


def _labelers(console: Any, summary: dict[str, Any]) -> None:
    from .labeler_lines import labeler_lines

    labelers = summary["labelers"] or []
    if not labelers:
        return
    shown = f" ({_SHOWN} of {len(labelers):,})" if len(labelers) > _SHOWN else ""
    console.print(f"\nThe labelers with most wrong labels{shown}")
    header, *lines = labeler_lines(labelers[:_SHOWN], console.width)
    for line in (header, *lines):
        console.print(line, style="dim" if line is header else "", markup=False, soft_wrap=True)


def _suspects(console: Any, summary: dict[str, Any]) -> None:
    from .suspect_lines import suspect_lines

    if not summary["suspects"]:
        return
    header, *lines = suspect_lines(summary["suspects"][:_SHOWN], console.width)
    console.print("\nThe most suspicious rows")
    for line in (header, *lines):
        console.print(line, style="dim" if line is header else "", markup=False, soft_wrap=True)
