"""docs/quality.md and docs/quality/, made from the stored rows."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from ..store import Row, table
from . import embedded_page, ordinal_page, tables_page, unbalanced_page
from . import rows as stored
from .dataset_page import render_dataset
from .methods import TOLD_RATES
from .notes import METHOD_NOTES
from .shown import SHOWN, cells, folded
from .summary import DEFAULT, compare, in_order, mean, names

RESULTS = "quality.csv"
_FOLDER = "quality"  # of docs, with the pages of the data sets
COMMAND = "noisybayes bench quality"

HEAD = f"""# Quality against the peers

This page is made by `{COMMAND}` from the rows in `results/{RESULTS}`; no number on it was typed. Every method sees
the same rows and the same wrong labels; only `nb-clean` and `lr-clean` are shown the true ones. Logistic regression is
given the columns of a table centred, which is the same model, found sooner. [Results on one screen](results.md) has the
overview, [Methods](methods.md) tells what the methods are.
"""
NO_ROWS = f"""There are no stored rows yet. Install the peers with `pip install '.[bench]'` in a clone and run
`{COMMAND}`: it measures every method on every data set, stores each row as soon as it is known, and writes this page.
An interrupted run continues where it stopped. The data sets and methods are listed in [cli.md](cli.md).
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


OVERVIEW = ("average_precision", "f1_flagged", "test_accuracy")


def render_pages(results: Path) -> dict[str, str]:
    """The pages by their places in docs/."""
    rows = in_order(row for row in stored.load(results / RESULTS) if row["method"] not in TOLD_RATES)
    if not rows:
        return {"quality.md": f"{HEAD}\n{NO_ROWS}"}
    pages = (unbalanced_page, tables_page, ordinal_page, embedded_page)
    apart = [page.section([row for row in rows if row["dataset"] in page.DATASETS]) for page in pages]
    others = [row for row in rows if not any(row["dataset"] in page.DATASETS for page in pages)]
    by_dataset = {name: [row for row in others if row["dataset"] == name] for name in names(others, "dataset")}
    parts = [
        HEAD, _machine_text(rows, others), _datasets_text(by_dataset), *apart, *_overview(others), _methods_text(rows),
        _measures_text(rows),
    ]  # fmt: skip
    own = {_place(name): render_dataset(name, mine) for name, mine in by_dataset.items()}
    return {"quality.md": "\n".join(part for part in parts if part), **own}


def write_page(root: Path) -> Path:
    """The page, and one of each data set; those of data sets without rows are removed."""
    pages, docs = render_pages(root / "results"), root / "docs"
    (docs / _FOLDER).mkdir(parents=True, exist_ok=True)
    for old in (docs / _FOLDER).glob("*.md"):
        if f"{_FOLDER}/{old.name}" not in pages:
            old.unlink()
    for place, content in pages.items():
        (docs / place).write_text(content, encoding="utf-8")
    return docs / "quality.md"


def _place(dataset: str) -> str:
    return f"{_FOLDER}/{re.sub(r'[^A-Za-z0-9._-]', '-', dataset)}.md"


def _datasets_text(by_dataset: dict[str, list[Row]]) -> str:
    """A line for each data set that has a page of its own: our average precision beside that of the best peer."""
    lines = []
    for name, rows in by_dataset.items():
        noise, found = mean(rows, "noise_rate_true"), compare(rows, "average_precision", 1)
        show = SHOWN["average_precision"].show
        compared = ["–"] * 4 if found is None else [
            show(found.ours), show(found.theirs), f"`{found.peer}`", found.verdict,
        ]  # fmt: skip
        wrong = f"{100 * noise.value:.1f}" if noise.n else "–"
        lines.append([f"[{name}]({_place(name)})", f"{rows[0]['n_train']:,}", rows[0]["n_classes"], wrong, *compared])
    if not lines:
        return ""
    header = ["data set", "rows", "classes", "wrong labels, %", f"AP of `{DEFAULT}`", "of the best peer", "which is",
              f"`{DEFAULT}` is"]  # fmt: skip
    return f"## Data sets\n\nEach has a page with every method and measure.\n\n{table(header, lines)}\n"


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
