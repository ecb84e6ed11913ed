"""docs/crowd.md, made from results/crowd.csv, results/labelers.csv and results/sources.csv."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..._shares import percent
from ..store import Row, read_rows, table
from . import drift
from .methods import METHODS, OURS
from .one_label import CASES, WAYS
from .runner import N_LABELERS

RESULTS, ONE_LABEL, OVER_TIME = "crowd.csv", "labelers.csv", "sources.csv"
HEAD = f"""# Several labels of a row

This page is made by `noisybayes bench crowd` from the rows in [results/crowd.csv](../results/crowd.csv); no number on
it was typed. {N_LABELERS} made labelers (good, careless, biased to one class, some who swap two classes, some who look
at nothing) label up to 2,000 texts with known labels, 1 to 5 of them each text. Every method makes one label of
them. [How to](howto-labelers.md#several-labels-of-a-row)

crowd-kit looks at labels only. cleanlab also looks at out-of-fold probabilities of logistic regression, trained on the
majority vote; with one label per row it keeps that label.

Of 20 Newsgroups, the rows of `noisybayes` of the second seed, and those of the sections on one label per row and on
time, are older than the last change of its model (who favours a class is rarely wrong about its rows).
"""


def write_page(root: Path) -> Path:
    path = root / "docs" / "crowd.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    stored = [root / "results" / name for name in (RESULTS, ONE_LABEL, OVER_TIME)]
    several, one, over_time = (read_rows(each) if each.exists() else [] for each in stored)
    parts = [
        render_several(several) if several else HEAD, render_one_label(one) if one else "",
        render_over_time(over_time) if over_time else "",
    ]  # fmt: skip
    path.write_text("\n\n".join(part.strip() for part in parts if part) + "\n", encoding="utf-8")
    return path


def render_several(rows: Sequence[Row]) -> str:
    parts = [
        HEAD,
        "## The label that is made\n\nShare of rows for which it is the true one. " + _where_ahead(rows),
        _by_method(rows, "consensus_accuracy"),
        "## A classifier trained on it\n\nAccuracy of logistic regression on other texts, trained on the labels of "
        "each method.",
        _by_method(rows, "test_accuracy"),
        "## Time\n\nSeconds, the mean over all of these; a dash: measured on a busy machine only.",
        _seconds(rows),
    ]
    return "\n\n".join(part.strip() for part in parts)


def render_one_label(rows: Sequence[Row]) -> str:
    seeds = len({row["seed"] for row in rows})
    lines = []
    for name in dict.fromkeys(row["dataset"] for row in rows):
        for case in CASES:
            here = [row for row in rows if (row["dataset"], row["case"]) == (name, case)]
            error = [_of_way(here, "matrix_error", way) for way in WAYS]
            precision = [_of_way(here, "average_precision", way) for way in WAYS[:2]]
            lines.append([name, case, *(f"{value:.3f}" for value in (*error, *precision))])
    header = [
        "texts", "case", *(f"error of the matrices: {way}" for way in WAYS),
        *(f"average precision: {way}" for way in WAYS[:2]),
    ]  # fmt: skip
    return f"""## One label per row, by many labelers

The same kinds of labelers, of whom the busiest has 20 times as many rows as the least busy; or all of one kind. Mean
absolute error of the entries of their mislabeling matrices, and average precision of P(wrong), over {seeds} seeds.

{table(header, lines)}"""


def render_over_time(rows: Sequence[Row]) -> str:
    seeds, shares = len({row["seed"] for row in rows}), drift.wrong_share(drift.CASES[0])
    lines = []
    for name in dict.fromkeys(row["dataset"] for row in rows):
        for case in drift.CASES:
            here = [row for row in rows if (row["dataset"], row["case"]) == (name, case)]
            values = [
                _of_way(here, measure, way) for measure in ("average_precision", "rate_error") for way in drift.WAYS
            ]
            ours = [row for row in here if row["way"] == drift.WAYS[0]]
            covered = np.mean([row["covered"] for row in ours])
            kept = f"{sum(int(row['kept']) for row in ours)} of {len(ours)}"
            lines.append([name, case, *(f"{value:.3f}" for value in values), f"{covered:.2f}", kept])
    header = [
        "texts", "case", *(f"average precision: {way}" for way in drift.WAYS),
        *(f"error of the weekly shares: {way}" for way in drift.WAYS), "intervals that cover", "source kept",
    ]  # fmt: skip
    return f"""## Mistakes that depend on time

One label per row. The share of wrong labels falls from {percent(shares[0])} in the first of {drift.N_WEEKS} weeks to
{percent(shares[-1])} in the last, or stays at its mean. Average precision of P(wrong), with the date as a
[source](howto-sources.md) and without it; mean absolute error of the share of wrong labels per week (without a source,
the mean of P(wrong)); share of the weeks whose 90 % interval covers the true share; and how often the source was kept,
over {seeds} seeds. Made from [results/sources.csv](../results/sources.csv).

{table(header, lines)}"""


def _of_way(rows: Sequence[Row], measure: str, way: str) -> float:
    return float(np.mean([row[measure] for row in rows if row["way"] == way]))


def _by_method(rows: Sequence[Row], measure: str) -> str:
    methods = [name for name in METHODS if any(row["method"] == name for row in rows)]
    lines = []
    for case in dict.fromkeys((row["dataset"], row["n_labels"]) for row in rows):
        means = {name: _mean(rows, measure, case, name) for name in methods}
        best = max(means.values())
        lines.append([*case, *(f"**{mean:.3f}**" if mean == best else f"{mean:.3f}" for mean in means.values())])
    return table(["texts", "labels per row", *methods], lines)


def _mean(rows: Sequence[Row], measure: str, case: tuple[str, int], method: str) -> float:
    values = [row[measure] for row in rows if (row["dataset"], row["n_labels"], row["method"]) == (*case, method)]
    return float(np.mean(values)) if values else float("nan")


def _where_ahead(rows: Sequence[Row]) -> str:
    """Ours against the best of the others, over cases."""
    cases = list(dict.fromkeys((row["dataset"], row["n_labels"]) for row in rows))
    others = [name for name in dict.fromkeys(row["method"] for row in rows) if name != OURS]
    if not others or not any(row["method"] == OURS for row in rows):
        return ""
    leads = [
        _mean(rows, "consensus_accuracy", case, OURS)
        - max(_mean(rows, "consensus_accuracy", case, name) for name in others)
        for case in cases
    ]
    seeds = len({row["seed"] for row in rows})
    return (
        f"{OURS} is ahead of the best of the others in {sum(lead > 0 for lead in leads)} of {len(cases)} cases, by "
        f"{100 * min(leads):+.1f} to {100 * max(leads):+.1f} points (seeds: {seeds})."
    )


def _seconds(rows: Sequence[Row]) -> str:
    methods = [name for name in METHODS if any(row["method"] == name for row in rows)]
    each = ([row["seconds"] for row in rows if row["method"] == name and row["seconds"] != ""] for name in methods)
    return table(methods, [[f"{np.mean(seconds):.1f}" if seconds else "–" for seconds in each]])
