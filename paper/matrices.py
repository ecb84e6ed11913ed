"""How wrong labels are distributed over the other classes: three readings of the paper's simulation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from benchmarks.result_files import Row, table

from noisybayes.data.simulate import OFF_DIAGONAL

from .compare import Mean, cell, mean_of, paired, repetitions, settings_in
from .experiment import Experiment, Search
from .methods import Draw
from .simulation_tables import INTERVALS, TABLE1, TABLE2, Setting, Table, paper_figures, setting_name

WORDS = {"stick-breaking": "stick-breaking", "dirichlet": "Dirichlet", "uniform": "normalised uniforms"}
_TABLES: dict[str, Table] = {"balanced": TABLE1, "unbalanced": TABLE2}
#: What is compared: column of the paper's figures -> title.
_FIGURES = {"acc_nb": "NB", "acc_inb": "INB (paper's)", "delta_acc": "ΔACC"}


class Matrices(Experiment):
    TITLE = "How wrong labels are distributed"
    METHODS = ("nb", "nb-correct", "inb-paper")
    REPS = 100

    def settings(self, quick: bool = False) -> dict[str, Setting]:
        if quick:
            small = TABLE1.settings(quick)["200, [0.55, 0.65)"]
            return {f"balanced, 200, [0.55, 0.65), {rule}": small._replace(off_diagonal=rule) for rule in OFF_DIAGONAL}
        return {
            f"{kind}, {setting_name(n, interval)}, {rule}": Setting(n, interval, kind == "balanced", off_diagonal=rule)
            for kind, each in _TABLES.items()
            for interval in INTERVALS[:-1]  # without wrong labels there is nothing to distribute
            for n in each.sizes
            for rule in OFF_DIAGONAL
        }

    def draw(self, setting: Setting, seed: int, /) -> Draw:
        return TABLE1.draw(setting, seed)

    def page(self, rows: list[Row]) -> str:
        return f"""## {self.TITLE}

The paper: "the off-diagonal elements are then randomly sampled from [0, 1) such that" columns sum to 1. Tables 1 and 2
read this as stick-breaking: in random order, each other class gets a uniform part of what is left. The alternatives are
Dirichlet, where all divisions are equally likely, and normalised uniforms, where the parts are proportional to uniform
random numbers. Repetitions: {repetitions(rows)}.

### Mean absolute difference from the paper over the rows below, in points

{_distances(rows)}

{_nearest(rows)}

### ΔACC, points

{_rows_of(rows, "delta_acc")}

### Accuracy of NB, %

{_rows_of(rows, "acc_nb")}
"""

    def findings(self, rows: list[Row]) -> list[str]:
        sentence = _nearest(rows)
        return [f"Off-diagonal entries of the simulation: {sentence[0].lower()}{sentence[1:]}"] if sentence else []

    def searched(self, rows: list[Row], facts: Mapping[str, Any]) -> list[Search]:
        measured = _gaps(rows, "delta_acc")
        if not measured:
            return []
        full = [rule for rule, gaps in measured.items() if max(map(abs, gaps.values())) <= 1]
        n_rows = max(map(len, measured.values()))
        return [
            Search(
                "Simulation",
                "off-diagonal entries of the matrix",
                len(measured),
                f"ΔACC of all {n_rows} rows",
                len(full),
            )
        ]


def _place(setting: str) -> tuple[str, str]:
    """The key of a setting in the paper's figures."""
    kind, _, rest = setting.partition(", ")
    return kind, rest.rpartition(", ")[0]


def _figure(rows: list[Row], setting: str, column: str) -> Mean:
    if column == "delta_acc":
        return paired(rows, setting, "nb", "nb-correct")
    return mean_of(cell(rows, setting, "nb" if column == "acc_nb" else "inb-paper"), "accuracy", 100)


def _by_rule(rows: list[Row], column: str) -> dict[str, dict[tuple[str, str], Mean]]:
    """Rule -> row of the paper's tables -> our figure, where the paper has one."""
    by_rule: dict[str, dict[tuple[str, str], Mean]] = {}
    for setting in settings_in(rows, list(MATRICES.settings())):
        mean, place = _figure(rows, setting, column), _place(setting)
        if mean.n and place in paper_figures():
            by_rule.setdefault(setting.rpartition(", ")[2], {})[place] = mean
    return {rule: by_rule[rule] for rule in OFF_DIAGONAL if rule in by_rule}


def _gaps(rows: list[Row], column: str) -> dict[str, dict[tuple[str, str], float]]:
    """The same minus the paper's figures."""
    return {
        rule: {place: mean.value - float(paper_figures()[place][column]) for place, mean in mine.items()}
        for rule, mine in _by_rule(rows, column).items()
    }


def _distances(rows: list[Row]) -> str:
    gaps = {column: _gaps(rows, column) for column in _FIGURES}
    lines = []
    for rule in gaps["delta_acc"]:
        mine = [list(gaps[column][rule].values()) if rule in gaps[column] else [] for column in _FIGURES]
        shown = [f"{np.mean(np.abs(values)):.2f}" if values else "–" for values in mine]
        within = sum(abs(gap) <= 1 for gap in mine[-1])
        lines.append([WORDS[rule], *shown, f"{within} of {len(mine[-1])}"])
    return table(["rule", *_FIGURES.values(), "ΔACC within a point"], lines)


def _nearest(rows: list[Row]) -> str:
    """Whether a rule fits every row, which one is closest overall, and the hardest rows of Table 1 as an example."""
    measured = _gaps(rows, "delta_acc")
    if not measured:
        return ""
    full = [WORDS[rule] for rule, gaps in measured.items() if max(map(abs, gaps.values())) <= 1]
    distance = {rule: float(np.mean(np.abs(list(gaps.values())))) for rule, gaps in measured.items()}
    best = min(distance, key=lambda rule: distance[rule])
    examples = []
    for n in (5_000, 1_000):
        place = ("balanced", setting_name(n, INTERVALS[0]))
        mine = [by_place[place] for by_place in _by_rule(rows, "delta_acc").values() if place in by_place]
        if mine:
            shown = " / ".join(f"{mean.value:.1f}" for mean in mine)
            examples.append(f"{shown} at n = {n} (paper {paper_figures()[place]['delta_acc']})")
    return (
        f"{'Every row within a point: ' + ', '.join(full) if full else 'No rule has every row within a point'}. "
        f"The closest overall, by mean absolute difference of ΔACC, is {WORDS[best]} ({distance[best]:.2f} points). "
        f"ΔACC at [0.55, 0.65), {' / '.join(WORDS[rule] for rule in measured)}: {'; '.join(examples)}."
    )


def _rows_of(rows: list[Row], column: str) -> str:
    by_rule = _by_rule(rows, column)
    places = dict.fromkeys(place for mine in by_rule.values() for place in mine)
    lines = []
    for place in places:
        shown = [mine[place].shown() if place in mine else "–" for mine in by_rule.values()]
        lines.append([*place, *shown, paper_figures()[place][column]])
    return table(["classes", "n, interval", *(WORDS[rule] for rule in by_rule), "paper"], lines)


MATRICES = Matrices()
