"""The paper's two simulation tables: balanced (Table 1) and unbalanced classes (Table 2)."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from noisybayes import simulate

from .experiment import Draw, Experiment
from .methods import TITLES
from .rows import Mean, Row, cell, mean_of, methods_in, paired, repetitions, settings_in, table

#: Intervals of P(right label); the last one has no noise.
INTERVALS = ((0.55, 0.65), (0.65, 0.75), (0.75, 0.85), (0.85, 0.95), (1.0, 1.0))
HARDEST = INTERVALS[0]
#: Our method -> its name in the columns of the paper's figures.
PAPER_NAMES = {
    "nb": "nb", "inb-paper": "inb", "inb": "inb", "nbt": "nbt", "nlnn": "nlnn", "nal": "nal", "nlnn-authors": "nlnn",
    "nal-authors": "nal",
}  # fmt: skip


class Setting(NamedTuple):
    n: int
    diagonal: tuple[float, float]
    balanced: bool = True
    off_diagonal: str = "stick-breaking"


class Table(Experiment):
    METHODS = (
        "nb", "nb-correct", "inb-paper", "inb", "nbt", "nlnn", "nal", "nal-complex", "nlnn-authors", "nal-authors",
    )  # fmt: skip
    REPS = 100

    def __init__(self, title: str, sizes: tuple[int, ...], balanced: bool) -> None:
        self.TITLE, self.sizes, self.balanced = title, sizes, balanced

    def settings(self) -> dict[str, Setting]:
        return {
            setting_name(n, interval): Setting(n, interval, self.balanced) for interval in INTERVALS for n in self.sizes
        }

    def draw(self, setting: Setting, seed: int, /) -> Draw:
        """80 % of the rows are for training, as in the paper."""
        data = simulate(
            setting.n, diagonal=setting.diagonal, balanced=setting.balanced, off_diagonal=setting.off_diagonal,
            random_state=seed,
        )  # fmt: skip
        cut = setting.n * 4 // 5
        return Draw(
            data.X[:cut], data.y[:cut], data.true[:cut], data.X[cut:], data.true[cut:], len(data.class_prior),
            data.class_prior, data.feature_prob,
        )  # fmt: skip

    def page(self, rows: list[Row]) -> str:
        methods = methods_in(rows, self.METHODS)
        estimates = methods_in(rows, ("nb", "nb-correct", "inb-paper", "inb"))
        return f"""## {self.TITLE}

500 binary features, 5 classes; 80 % of n for training. Each cell shows our mean, and the paper's figure in parentheses.
Repetitions: {repetitions(rows)}. ΔACC is the accuracy of NB minus that of NB with right labels.

### Accuracy, %

{self._measure_table(rows, methods, "accuracy", "acc", 100)}

### MSE of the feature probabilities x 1000

{self._measure_table(rows, estimates, "mse", "mse", 1000)}

### Macro-AUC, %

{self._measure_table(rows, methods, "auc", "auc", 100)}

### Differences from the paper by n

{self._shared_draws()}

{self._gaps_by_n(rows)}

### Seconds per fit and number of parameters

{self._costs(rows, methods)}
"""

    def _measure_table(self, rows: list[Row], methods: list[str], measure: str, paper: str, scale: float) -> str:
        lines = []
        for setting in settings_in(rows, self.settings()):
            line = [setting]
            for method in methods:
                mean = mean_of(cell(rows, setting, method), measure, scale)
                line.append(_with_paper(mean, self.paper(setting, f"{paper}_{PAPER_NAMES.get(method)}")))
            if measure == "accuracy":
                line.append(_with_paper(paired(rows, setting, "nb", "nb-correct"), self.paper(setting, "delta_acc")))
            lines.append(line)
        header = ["n, interval", *(TITLES[method] for method in methods)]
        return table(header + (["ΔACC"] if measure == "accuracy" else []), lines)

    def _shared_draws(self) -> str:
        by_n = {n: self.paper(setting_name(n, HARDEST), "acc_nbt") for n in self.sizes}
        values = ", ".join(f"{value} at n = {n:,}" for n, value in by_n.items())
        return f"""The paper prints one NB-T value per n for all {len(INTERVALS)} intervals ({values}).
So the intervals of an n share their draws, as ours do, and count as one. The paper does not say whether the
{self.REPS} repetitions also share a draw of the parameters. If they do, its means differ from ours by more than
our standard errors. The differences are therefore shown without a verdict: the mean over the intervals with our
standard error, and the standard deviation of a single repetition; a difference of more than twice that would be
unlikely."""

    def _gaps(self, rows: list[Row]) -> dict[str, dict[int, Mean]]:
        """Method -> n -> how far our accuracy is from the paper's, in points, the mean over all intervals."""
        gaps: dict[str, dict[int, Mean]] = {}
        for method in methods_in(rows, tuple(PAPER_NAMES)):
            for n in self.sizes:
                by_rep: dict[int, list[float]] = {}
                for setting in (setting_name(n, interval) for interval in INTERVALS):
                    paper = self.paper(setting, f"acc_{PAPER_NAMES[method]}")
                    for row in cell(rows, setting, method):
                        by_rep.setdefault(row["rep"], []).append(100 * row["accuracy"] - (paper or np.nan))
                whole = [{"gap": np.mean(each)} for each in by_rep.values() if len(each) == len(INTERVALS)]
                gaps.setdefault(method, {})[n] = mean_of(whole, "gap")
        return gaps

    def _gaps_by_n(self, rows: list[Row]) -> str:
        lines = [
            [f"{n:,}", TITLES[method], gap.shown(sign=True), f"{gap.error * np.sqrt(gap.n):.1f}"]
            for method, by_n in self._gaps(rows).items()
            for n, gap in by_n.items()
        ]
        return table(["n", "method", "mean difference", "spread of one repetition"], lines)

    def findings(self, rows: list[Row]) -> list[str]:
        """Per method, how the means for each n differ from the paper's."""
        place = self.TITLE.split(":")[0]
        return [
            f"{place}, {TITLES[method]}, points above the paper, mean of the intervals: "
            f"{', '.join(f'{gap.shown(sign=True)} at n = {n:,}' for n, gap in by_n.items())}."
            for method, by_n in self._gaps(rows).items()
        ]

    def _costs(self, rows: list[Row], methods: list[str]) -> str:
        lines = []
        for method in methods:
            timed = [row for row in rows if row["method"] == method]
            seconds = mean_of(timed, "seconds")
            shown = f"{seconds.value:.2f}" if seconds.n else "–"
            lines.append([TITLES[method], shown, f"{max(row['parameters'] for row in timed):,}"])
        return table(["method", "seconds, mean over all rows of the table", "parameters"], lines)

    def paper(self, setting: str, column: str) -> float | None:
        """A figure of the paper, if it has one."""
        value = _paper_figures()["balanced" if self.balanced else "unbalanced", setting].get(column)
        return float(value) if value else None


TABLE1 = Table("Table 1: balanced classes", (500, 1_000, 5_000), balanced=True)
TABLE2 = Table("Table 2: the first class three times as large as the others", (1_000, 5_000, 10_000), balanced=False)


def setting_name(n: int, interval: tuple[float, float]) -> str:
    low, high = interval
    return f"{n}, [{low:g}, {high:g}{']' if low == high else ')'}"


@cache
def _paper_figures() -> dict[tuple[str, str], dict[str, str]]:
    """The figures of both tables as printed in the paper: (kind, setting) -> column -> value."""
    with Path(__file__).with_name("paper_tables.csv").open(newline="", encoding="utf-8") as file:
        return {
            (row["table"], setting_name(int(row["n"]), (float(row["rho_low"]), float(row["rho_high"])))): row
            for row in csv.DictReader(file)
        }


def _with_paper(mean: Mean, paper: float | None) -> str:
    if not mean.n:
        return "–"
    digits = 2 if abs(mean.value) < 10 else 1
    return f"{mean.value:.{digits}f}" + (f" ({paper:g})" if paper is not None else "")
