"""How wrong labels are distributed over the other classes: three readings of the paper's simulation."""

from __future__ import annotations

import numpy as np

from .experiment import Draw, Experiment
from .rows import Mean, Row, accuracy, paired, repetitions, settings_in, table
from .simulation import HARDEST, INTERVALS, TABLE1, TABLE2, Setting, setting_name

#: Rule of `simulate` -> its name on the page.
RULES = {"stick-breaking": "stick-breaking", "dirichlet": "Dirichlet", "uniform": "normalized uniforms"}
_TABLES = {"balanced": TABLE1, "unbalanced": TABLE2}
#: What is compared: column of the paper's figures -> title.
_FIGURES = {"acc_nb": "NB", "acc_inb": "INB (paper's)", "delta_acc": "ΔACC"}
_Place = tuple[str, str]  # table and setting


class Matrices(Experiment):
    TITLE = "How wrong labels are distributed"
    METHODS = ("nb", "nb-correct", "inb-paper")
    REPS = 10

    def settings(self) -> dict[str, Setting]:
        return {
            f"{kind}, {setting_name(n, interval)}, {rule}": Setting(n, interval, kind == "balanced", rule)
            for kind, each in _TABLES.items()
            for interval in INTERVALS[:-1]  # without wrong labels there is nothing to distribute
            for n in each.sizes
            for rule in RULES
        }

    def draw(self, setting: Setting, seed: int, /) -> Draw:
        return TABLE1.draw(setting, seed)

    def page(self, rows: list[Row]) -> str:
        return f"""## {self.TITLE}

The paper: "the off-diagonal elements are then randomly sampled from [0, 1) such that" columns sum to 1. Tables 1 and 2
read this as stick-breaking: in random order, each other class gets a uniform part of what is left. The alternatives are
Dirichlet, where all divisions are equally likely, and normalized uniforms, where the parts are proportional to uniform
random numbers. Repetitions: {repetitions(rows)}.

### Mean absolute difference from the paper over the rows below, in points

{_distances(rows)}

{_closest(rows)}

### ΔACC, points

{_rows_of(rows, "delta_acc")}

### Accuracy of NB, %

{_rows_of(rows, "acc_nb")}
"""

    def findings(self, rows: list[Row]) -> list[str]:
        sentence = _closest(rows)
        return [f"Off-diagonal entries of the simulation: {sentence[0].lower()}{sentence[1:]}"] if sentence else []


def _paper(place: _Place, column: str) -> float:
    return _TABLES[place[0]].paper(place[1], column) or 0.0


def _by_rule(rows: list[Row], column: str) -> dict[str, dict[_Place, Mean]]:
    """Rule -> row of the paper's tables -> our figure."""
    by_rule: dict[str, dict[_Place, Mean]] = {rule: {} for rule in RULES}
    for setting in settings_in(rows, MATRICES.settings()):
        name, _, rule = setting.rpartition(", ")
        kind, _, name = name.partition(", ")
        if column == "delta_acc":
            mean = paired(rows, setting, "nb", "nb-correct")
        else:
            mean = accuracy(rows, setting, "nb" if column == "acc_nb" else "inb-paper")
        if mean.n:
            by_rule[rule][kind, name] = mean
    return {rule: mine for rule, mine in by_rule.items() if mine}


def _gaps(rows: list[Row], column: str) -> dict[str, list[float]]:
    """Rule -> absolute differences from the paper's figures."""
    return {
        rule: [abs(mean.value - _paper(place, column)) for place, mean in mine.items()]
        for rule, mine in _by_rule(rows, column).items()
    }


def _distances(rows: list[Row]) -> str:
    gaps = {column: _gaps(rows, column) for column in _FIGURES}
    lines = []
    for rule, of_delta in gaps["delta_acc"].items():
        shown = [f"{np.mean(gaps[column].get(rule, np.nan)):.2f}" for column in _FIGURES]
        lines.append([RULES[rule], *shown, f"{sum(gap <= 1 for gap in of_delta)} of {len(of_delta)}"])
    return table(["rule", *_FIGURES.values(), "ΔACC within a point"], lines)


def _closest(rows: list[Row]) -> str:
    """Whether a rule fits every row, which one is closest overall, and the hardest rows of Table 1 as an example."""
    gaps, by_rule = _gaps(rows, "delta_acc"), _by_rule(rows, "delta_acc")
    if not gaps:
        return ""
    full = [RULES[rule] for rule, mine in gaps.items() if max(mine) <= 1]
    best = min(gaps, key=lambda rule: np.mean(gaps[rule]))
    examples = []
    for n in (5_000, 1_000):
        place = ("balanced", setting_name(n, HARDEST))
        shown = " / ".join(f"{mine[place].value:.1f}" for mine in by_rule.values() if place in mine)
        examples.append(f"{shown} at n = {n} (paper {_paper(place, 'delta_acc')})")
    return (
        f"{'Every row within a point: ' + ', '.join(full) if full else 'No rule has every row within a point'}. "
        f"The closest overall, by mean absolute difference of ΔACC, is {RULES[best]} ({np.mean(gaps[best]):.2f} "
        f"points). ΔACC at [0.55, 0.65), {' / '.join(RULES.values())}: {'; '.join(examples)}."
    )


def _rows_of(rows: list[Row], column: str) -> str:
    by_rule = _by_rule(rows, column)
    lines = [
        [*place, *(mine[place].shown() if place in mine else "–" for mine in by_rule.values()), _paper(place, column)]
        for place in dict.fromkeys(place for mine in by_rule.values() for place in mine)
    ]
    return table(["classes", "n, interval", *(RULES[rule] for rule in by_rule), "paper"], lines)


MATRICES = Matrices()
