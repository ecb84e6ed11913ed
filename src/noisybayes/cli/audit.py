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
        "fold_by",
        "anonymous",
    ),
    "Suspects": ("budget", "fail_above"),
    "Output": ("out", "table_format", "excel", "exports", "raw_cells", "sample", "sample_by", "as_json", "quiet"),
    "Text": ("ngrams", "min_df", "max_df", "max_words"),
    "Cluster": ("engine", "scheduler"),
    "Model": ("pred_probs", "embeddings", "embed", "mislabel", "seed"),
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
    "--sample-by",
    metavar="COLUMN",
    help="Draw --sample in equal parts from each value of this column, such as the labeler.",
)
@click.option(
    "--verified-random",
    metavar="COLUMN|FILE",
    help="True labels of rows drawn at random: a column, or to_check.csv filled in. They show how many are wrong.",
)
@click.option(
    "--second-opinion",
    metavar="COLUMN",
    help="Independent labels from an LLM, an old model, rules or other people; cells may be empty.",
)
@click.option("--labeler", metavar="COLUMN", help="Who labeled each row; with --id, a row may occur once per labeler.")
@click.option(
    "--source",
    multiple=True,
    metavar="COLUMN",
    help="What mistakes may depend on, such as a channel or date; may be given several times.",
)
@click.option("--fold-by", metavar="COLUMN", help="Keep rows of one thread, author or document in one fold.")
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
    help='Exit code 1 if more labels are wrong, by the lower end of the random check or else "at least", or if a '
    "column gives the label away.",
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
    if limit is not None and result.rate.lower > limit:
        reasons.append(f"at least {percent(result.rate.lower)} of the labels are wrong, more than {percent(limit)}")
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
    if options["sample_by"] is not None and not options["sample"]:
        raise InputError("--sample-by says how --sample is drawn: add --sample 50")
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
    exports, sample, by = tuple(options["exports"]), options["sample"], options["sample_by"]
    write_audit(result, options["out"], format, exports, sample, by, raw_cells=options["raw_cells"])


def _show(result: Audit, out: Path | None, sample: int | None) -> None:
    from rich.console import Console

    from .terminal import terminal_lines

    console = Console(highlight=False)
    for line, style in terminal_lines(result.summary(), console.width, out, sample):
        console.print(line, style=style, markup=False, soft_wrap=True)
