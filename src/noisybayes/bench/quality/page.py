"""docs/quality.md, made from the stored rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..store import Row, table
from . import embedded_page, ordinal_page, tables_page, unbalanced_page
from . import rows as stored
from .methods import NEEDS_TRUTH, TOLD_RATES
from .notes import METHOD_NOTES, dataset_note
from .summary import DEFAULT, Comparison, Mean, compare, in_order, mean, names

RESULTS = "quality.csv"
COMMAND = "noisybayes bench quality"

HEAD = f"""# Quality against the peers

This page is made by `{COMMAND}` from the rows in `results/{RESULTS}`; no number on it was typed. Every method sees
the same rows and the same wrong labels; only `nb-clean` and `lr-clean` are shown the true ones. Logistic regression is
given the columns of a table centred, which is the same model, found sooner. [Results on one screen](results.md) has the
overview, [Methods](methods.md) tells what the methods are.
"""
NO_ROWS = f"""There are no stored rows yet. Install the peers with `pip install '.[bench]'` in a clone and run
`{COMMAND}`: it measures every method on every data set, stores each row as soon as it is known, and writes this page.
An interrupted run goes on where it stopped. The data sets and methods are listed in [cli.md](cli.md).
"""
MEASURES_TEXT = """## Measures

| measure | meaning |
| --- | --- |
| AP, AUROC | average precision and area under the ROC curve of the ranking by suspicion |
| F1 flagged, F1 review | of the rows taken for wrong, and of the work list where a method offers another one |
| P@errors | share of wrong labels among as many top rows as there are wrong labels |
| corrected | right labels after every flagged row got its suggested label; compare with the given labels |
| test | accuracy on test rows, against true labels |
| ECE | expected calibration error of P(wrong), ten bins; only where the score is meant as a probability |
| noise | estimated share of wrong labels |
| flagged | share of rows flagged; on clean labels these are false alarms |
{parameters}| seconds | wall time of fitting, finding and predicting, features included |
| MiB | peak resident memory beyond what the process held before, as the kernel counts it; without child processes |

Means over seeds ± standard error. **Bold**: best mean, `nb-clean` and `lr-clean` apart. "Level": the difference to the
best peer, seed by seed, is within two standard errors. The best peer is picked on the result, measure by measure.
"""
PARAMETERS_TEXT = "| parameters | fitted numbers, also those of a filter or of a second network |\n"


class Shown(NamedTuple):
    title: str
    words: str
    show: Callable[[float], str]
    sign: int  # 1: higher is better, -1: lower, 0: neither


def _plain(value: float) -> str:
    return f"{value:.3f}"


def _percent(value: float) -> str:
    return f"{100 * value:.1f}"


SHOWN = {
    "average_precision": Shown("AP", "average precision", _plain, 1),
    "auroc": Shown("AUROC", "AUROC", _plain, 1),
    "f1_flagged": Shown("F1 flagged", "F1 of the flagged rows", _plain, 1),
    "f1_review": Shown("F1 review", "F1 of the work list", _plain, 1),
    "precision_at_errors": Shown("P@errors", "precision at the number of errors", _plain, 1),
    "corrected_accuracy": Shown("corrected, %", "corrected labels", _percent, 1),
    "test_accuracy": Shown("test, %", "test accuracy", _percent, 1),
    "calibration_error": Shown("ECE", "calibration", _plain, -1),
    "noise_rate_estimated": Shown("noise, %", "estimated noise", _percent, 0),
    "flagged_share": Shown("flagged, %", "false alarms", _percent, 0),
    "n_parameters": Shown("parameters", "number of parameters", lambda value: f"{value:,.0f}", 0),
    "seconds": Shown("seconds", "time", lambda value: f"{value:.2f}", -1),
    "peak_mb": Shown("MiB", "memory", lambda value: f"{value:.0f}", -1),
}
COMPARED = (
    "average_precision", "auroc", "f1_flagged", "f1_review", "precision_at_errors", "corrected_accuracy",
    "test_accuracy", "flagged_share",
)  # fmt: skip
OVERVIEW = ("average_precision", "f1_flagged", "test_accuracy")


def render_page(results: Path) -> str:
    rows = in_order(row for row in stored.load(results / RESULTS) if row["method"] not in TOLD_RATES)
    if not rows:
        return f"{HEAD}\n{NO_ROWS}"
    pages = (unbalanced_page, tables_page, ordinal_page, embedded_page)
    apart = [page.section([row for row in rows if row["dataset"] in page.DATASETS]) for page in pages]
    others = [row for row in rows if not any(row["dataset"] in page.DATASETS for page in pages)]
    sections = [
        _dataset_section(name, [row for row in others if row["dataset"] == name]) for name in names(others, "dataset")
    ]
    parts = [
        HEAD, _machine_text(rows, others), _methods_text(rows), _measures_text(rows), *_overview(others),
        *apart, *sections,
    ]  # fmt: skip
    return "\n".join(part for part in parts if part)


def write_page(root: Path) -> Path:
    path = root / "docs" / "quality.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(render_page(root / "results"), encoding="utf-8")
    return path


def _machine_text(rows: list[Row], others: list[Row]) -> str:
    """`others` are those without the unbalanced texts, whose section has its own command."""
    if not others:
        return f"{measured_on(rows)}\n"
    seeds = _commonest_seeds(others)
    repeat = f"Repeat with `{COMMAND} --seeds {seeds} --fresh`{_more_seeds(others, seeds)}."
    return f"{measured_on(rows)} {repeat}\n"


def measured_on(rows: list[Row]) -> str:
    """The machines, and how many runs were side by side, which makes seconds longer."""
    text = f"Measured on: {'; '.join(names(rows, 'machine'))}."
    beside = [row for row in rows if row["at_once"] > 1]
    if not beside:
        return text
    most = max(row["at_once"] for row in beside)
    which = "All" if len(beside) == len(rows) else f"{len(beside):,} of {len(rows):,}"
    return f"{text} {which} runs were made {most} at once, with one thread each: alone they take less time."


def _seeds(rows: list[Row]) -> dict[str, int]:
    """How many seeds each data set was run with."""
    return {name: len({row["seed"] for row in rows if row["dataset"] == name}) for name in names(rows, "dataset")}


def _commonest_seeds(rows: list[Row]) -> int:
    return Counter(_seeds(rows).values()).most_common(1)[0][0]


def _more_seeds(rows: list[Row], usual: int) -> str:
    others = [f"{name} with {seeds}" for name, seeds in _seeds(rows).items() if seeds != usual]
    return f" ({', '.join(others)})" if others else ""


def _methods_text(rows: list[Row]) -> str:
    lines = [[f"`{name}`", METHOD_NOTES.get(name, "")] for name in names(rows, "method")]
    return f"## Methods\n\n{table(['method', 'what it is'], lines)}\n"


def _measures_text(rows: list[Row]) -> str:
    return MEASURES_TEXT.format(parameters=PARAMETERS_TEXT if mean(rows, "n_parameters").n else "")


def _overview(rows: list[Row]) -> list[str]:
    """One table per measure: data sets down, methods across."""
    methods = names(rows, "method")
    header = ["data set", *(f"`{method}`" for method in methods)]
    sections = []
    for measure in OVERVIEW:
        lines = []
        for dataset in names(rows, "dataset"):
            mine = [row for row in rows if row["dataset"] == dataset]
            if mean(mine, measure).n:
                lines.append([dataset, *cells(mine, methods, measure, with_error=False)])
        if lines:
            sections.append(f"## Overview: {SHOWN[measure].title}\n\n{folded('All methods', table(header, lines))}\n")
    return sections


def _dataset_section(name: str, rows: list[Row]) -> str:
    methods = names(rows, "method")
    columns = [
        [SHOWN[measure].title, *cells(rows, methods, measure, with_error=True)]
        for measure in SHOWN
        if mean(rows, measure).n
    ]
    header, *lines = zip(["method", *(f"`{method}`" for method in methods)], *columns, strict=True)
    figures = folded("All methods and measures", table(list(header), lines))
    parts = [f"## {name}", _facts(name, rows), _verdicts(rows), figures, _failures(rows)]
    return "\n\n".join(part for part in parts if part) + "\n"


def folded(title: str, content: str) -> str:
    """What opens on a click, on the site and on GitHub."""
    return f'<details markdown="1"><summary>{title}</summary>\n\n{content}\n\n</details>'


def _facts(name: str, rows: list[Row]) -> str:
    first = rows[0]
    facts = (
        f"{first['n_train']:,} training rows, {first['n_test']:,} test rows, {first['n_features']:,} features, "
        f"{first['n_classes']} classes, {_seeds_of_methods(rows)}"
    )
    noise = mean(rows, "noise_rate_true")
    given = f"; {_percent(noise.value)} % of the given labels are wrong" if noise.n else ""
    return f"{dataset_note(name)} {facts}{given}."


def _seeds_of_methods(rows: list[Row]) -> str:
    """One number, or from the least to the greatest: means of more seeds are nearer to the truth."""
    counts = Counter(row["method"] for row in rows).values()
    least, most = min(counts), max(counts)
    return f"{least} to {most} seeds, by method" if least < most else f"{most} seed{'s' if most > 1 else ''}"


def cells(rows: list[Row], methods: list[str], measure: str, with_error: bool) -> list[str]:
    """One cell per method: mean ± standard error, the best in bold."""
    means = {method: mean([row for row in rows if row["method"] == method], measure) for method in methods}
    shown = {method: _cell(found, measure, with_error) for method, found in means.items()}
    sign = _sign(rows, measure)
    competing = [method for method in methods if method not in NEEDS_TRUTH and means[method].n]
    if sign and competing:
        best = max(sign * float(SHOWN[measure].show(means[method].value)) for method in competing)
        for method in competing:
            if sign * float(SHOWN[measure].show(means[method].value)) == best:
                shown[method] = f"**{shown[method]}**"
    return [shown[method] for method in methods]


def _cell(found: Mean, measure: str, with_error: bool) -> str:
    if not found.n:
        return "–"
    show = SHOWN[measure].show
    return (
        show(found.value) if np.isnan(found.error) or not with_error else f"{show(found.value)} ± {show(found.error)}"
    )


def _sign(rows: list[Row], measure: str) -> int:
    if measure == "flagged_share" and mean(rows, "noise_rate_true").value == 0:
        return -1  # every flag is a false alarm
    return SHOWN[measure].sign


def _verdicts(rows: list[Row]) -> str:
    """Which peer is better than our default, and where."""
    found = {measure: compare(rows, measure, sign) for measure in COMPARED if (sign := _sign(rows, measure))}
    comparisons = {measure: comparison for measure, comparison in found.items() if comparison is not None}
    if not comparisons:
        return f"`{DEFAULT}` or the peers have no rows here: nothing to compare."
    sentences = []
    for verdict, text in (
        ("worse", f"A peer is better than `{DEFAULT}` in"),
        ("level", f"`{DEFAULT}` and the best peer are level in"),
        ("better", f"`{DEFAULT}` is better than every peer in"),
    ):
        parts = [_versus(measure, c) for measure, c in comparisons.items() if c.verdict == verdict]
        if parts:
            sentences.append(f"{text} {', '.join(parts)}.")
    if not any(comparison.verdict == "worse" for comparison in comparisons.values()):
        sentences.insert(0, f"No peer is better than `{DEFAULT}` here.")
    return " ".join(sentences)


def _versus(measure: str, comparison: Comparison) -> str:
    shown = SHOWN[measure]
    ours, theirs = shown.show(comparison.ours), shown.show(comparison.theirs)
    return f"{shown.words} ({ours}; `{comparison.peer}` {theirs})"


def _failures(rows: list[Row]) -> str:
    failed = {row["method"]: str(row["error"]).replace("`", "'") for row in rows if row["error"]}
    return "\n".join(f"- `{method}` failed: `{error}`" for method, error in failed.items())
