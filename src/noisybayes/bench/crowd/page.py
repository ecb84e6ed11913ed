"""docs/crowd.md, made from results/crowd.csv."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..store import Row, read_rows, table
from .methods import METHODS, OURS
from .one_label import CASES, WAYS
from .runner import N_LABELERS

RESULTS, ONE_LABEL = "crowd.csv", "labelers.csv"
HEAD = f"""# Several labels of a row

This page is made by `noisybayes bench crowd` from the rows in [results/crowd.csv](../results/crowd.csv); no number on
it was typed. {N_LABELERS} made labelers (good, careless, biased to one class, some who swap two classes, some who look
at nothing) label up to 2,000 texts with known labels, 1 to 5 of them each text. Every method makes one label of
them. [How to](howto-labelers.md#several-labels-of-a-row)

crowd-kit looks at labels only. cleanlab also looks at out-of-fold probabilities of logistic regression, trained on the
majority vote; of one label per row it makes nothing else.
"""


def write_page(root: Path) -> Path:
    path = root / "docs" / "crowd.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    stored = [root / "results" / name for name in (RESULTS, ONE_LABEL)]
    several, one = (read_rows(each) if each.exists() else [] for each in stored)
    parts = [render_several(several) if several else HEAD, render_one_label(one) if one else ""]
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
        "## Time\n\nSeconds, the mean over all of these.",
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
    means = (np.mean([row["seconds"] for row in rows if row["method"] == name]) for name in methods)
    return table(methods, [[f"{mean:.1f}" for mean in means]])
