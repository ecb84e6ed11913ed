"""The paper's two simulation tables: balanced (Table 1) and unbalanced classes (Table 2)."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np
from benchmarks.result_files import Row, table

from noisybayes.data.simulate import simulate

from .compare import Mean, cell, difference, mean_of, methods_in, paired, repetitions, settings_in
from .experiment import Experiment
from .methods import NEURAL, TITLES, Draw

#: Intervals of P(right label); the last one has no noise.
INTERVALS = ((0.55, 0.65), (0.65, 0.75), (0.75, 0.85), (0.85, 0.95), (1.0, 1.0))
#: Repetitions of a network, which takes longer than all other methods together.
NEURAL_REPS = 10
#: Our method -> its name in the columns of the paper's figures.
PAPER_NAMES = {
    "nb": "nb",
    "inb-paper": "inb",
    "inb": "inb",
    "nbt": "nbt",
    "nlnn": "nlnn",
    "nal": "nal",
    "nlnn-authors": "nlnn",
    "nal-authors": "nal",
}


class Setting(NamedTuple):
    n: int
    diagonal: tuple[float, float]
    balanced: bool
    n_features: int = 500
    n_classes: int = 5
    off_diagonal: str = "stick-breaking"


class Gap(NamedTuple):
    """For one n of a table and one method, over all intervals: how far our accuracy is from the paper's, in points."""

    n: int
    method: str
    intervals: int
    mean: Mean
    spread: float  # standard deviation between repetitions


class Table(Experiment):
    METHODS = (
        "nb",
        "nb-correct",
        "inb-paper",
        "inb",
        "nbt",
        "nlnn",
        "nal",
        "nal-complex",
        "nlnn-authors",
        "nal-authors",
    )
    REPS = 100

    def __init__(self, title: str, sizes: tuple[int, ...], balanced: bool) -> None:
        self.TITLE, self.sizes, self.balanced = title, sizes, balanced

    def settings(self, quick: bool = False) -> dict[str, Setting]:
        if quick:
            return {"200, [0.55, 0.65)": Setting(200, (0.55, 0.65), self.balanced, 40, 3)}
        return {
            setting_name(n, interval): Setting(n, interval, self.balanced) for interval in INTERVALS for n in self.sizes
        }

    def draw(self, setting: Setting, seed: int, /) -> Draw:
        """80 % of the rows are for training, as in the paper."""
        data = simulate(
            setting.n, n_features=setting.n_features, n_classes=setting.n_classes, diagonal=setting.diagonal,
            balanced=setting.balanced, off_diagonal=setting.off_diagonal, random_state=seed,
        )  # fmt: skip
        cut = setting.n * 4 // 5
        return Draw(
            data.X[:cut], data.y[:cut], data.true[:cut], data.X[cut:], data.true[cut:], setting.n_classes,
            data.class_prior, data.feature_prob,
        )  # fmt: skip

    def page(self, rows: list[Row]) -> str:
        methods, settings = methods_in(rows, self.METHODS), settings_in(rows, list(self.settings()))
        return f"""## {self.TITLE}

500 binary features, 5 classes; 80 % of n for training. Each cell shows our mean, and the paper's figure in parentheses.
Repetitions: {repetitions(rows)}. ΔACC is the accuracy of NB minus that of NB with right labels.{self._unfinished(rows)}

### Accuracy, %

{self._measure_table(rows, settings, methods, "accuracy", "acc", 100)}

### MSE of the feature probabilities x 1000

{self._measure_table(rows, settings, [m for m in methods if m in _ESTIMATES], "mse", "mse", 1000)}

### Macro-AUC, %

{self._measure_table(rows, settings, methods, "auc", "auc", 100)}

### Differences from the paper

{self._differences(rows)}

### Differences by n

{_shared_draws(self)}

{self._gaps_by_n(rows)}

### Seconds per fit and number of parameters

{self._costs(rows, settings, methods)}
"""

    def _unfinished(self, rows: list[Row]) -> str:
        """Where networks that were run have fewer repetitions than planned."""
        lines = []
        for method in methods_in(rows, NEURAL):
            counts: dict[int, list[int]] = {}
            for setting in self.settings():
                counts.setdefault(_n(setting), []).append(len(cell(rows, setting, method)))
            few = [f"{_range(mine)} at n = {n:,}" for n, mine in counts.items() if min(mine) < NEURAL_REPS]
            lines += [f"{TITLES[method]}, {', '.join(few)}"] if few else []
        if not lines:
            return ""
        return f"""

Networks have {NEURAL_REPS} repetitions in every row, except these (by interval), for lack of computing time:
{"; ".join(lines)}. The command below continues where it stopped."""

    def _measure_table(
        self,
        rows: list[Row],
        settings: list[str],
        methods: list[str],
        measure: str,
        paper: str,
        scale: float,
    ) -> str:
        lines = []
        for setting in settings:
            line = [setting]
            for method in methods:
                mean = mean_of(cell(rows, setting, method), measure, scale)
                line.append(_with_paper(mean, self._paper(setting, f"{paper}_{PAPER_NAMES.get(method)}")))
            if measure == "accuracy":
                line.append(_with_paper(paired(rows, setting, "nb", "nb-correct"), self._paper(setting, "delta_acc")))
            lines.append(line)
        header = ["n, interval", *(TITLES[method] for method in methods)]
        return table(header + (["ΔACC"] if measure == "accuracy" else []), lines)

    def compared(self, rows: list[Row]) -> list[tuple[str, str, Mean, float]]:
        """Setting, method, our mean accuracy and the paper's, wherever there are both."""
        lines = []
        for setting in settings_in(rows, list(self.settings())):
            for method in PAPER_NAMES:
                paper = self._paper(setting, f"acc_{PAPER_NAMES[method]}")
                mean = mean_of(cell(rows, setting, method), "accuracy", 100)
                if mean.n and paper is not None:
                    lines.append((setting, method, mean, paper))
        return lines

    def gaps(self, rows: list[Row]) -> list[Gap]:
        """By n and method."""
        settings = settings_in(rows, list(self.settings()))
        gaps = []
        for n in self.sizes:
            for method in PAPER_NAMES:
                papers = {name: self._paper(name, f"acc_{PAPER_NAMES[method]}") for name in settings if _n(name) == n}
                gap = _gap(rows, n, method, {name: value for name, value in papers.items() if value is not None})
                gaps += [gap] if gap else []
        return gaps

    def _differences(self, rows: list[Row]) -> str:
        lines = [
            [setting, TITLES[method], f"{mean.value:.1f}", paper, difference(mean, paper)]
            for setting, method, mean, paper in self.compared(rows)
        ]
        return table(["n, interval", "method", "ours, % accuracy", "paper", "difference"], lines)

    def _gaps_by_n(self, rows: list[Row]) -> str:
        lines = [
            [f"{gap.n:,}", TITLES[gap.method], gap.intervals, gap.mean.shown(sign=True), _spread(gap)]
            for gap in self.gaps(rows)
        ]
        return table(["n", "method", "intervals", "mean difference", "spread of one repetition"], lines)

    def findings(self, rows: list[Row]) -> list[str]:
        """Per method, how the means for each n differ from the paper's."""
        gaps = self.gaps(rows)
        sentences = []
        for method in dict.fromkeys(gap.method for gap in gaps):
            mine = [gap for gap in gaps if gap.method == method]
            shown = ", ".join(f"{gap.mean.shown(sign=True)} at n = {gap.n:,}" for gap in mine)
            place = self.TITLE.split(":")[0]
            sentences.append(f"{place}, {TITLES[method]}, points above the paper, mean of the intervals: {shown}.")
        return sentences

    def _costs(self, rows: list[Row], settings: list[str], methods: list[str]) -> str:
        lines = []
        for method in methods:
            timed = [row for setting in settings for row in cell(rows, setting, method)]
            if timed:
                seconds = mean_of(timed, "seconds")
                shown = f"{seconds.value:.2f}" if seconds.n else "–"
                lines.append([TITLES[method], shown, f"{max(row['parameters'] for row in timed):,}"])
        return table(["method", "seconds, mean over all rows of the table", "parameters"], lines)

    def _paper(self, setting: str, column: str) -> float | None:
        kind = "balanced" if self.balanced else "unbalanced"
        value = paper_figures().get((kind, setting), {}).get(column)
        return float(value) if value else None


_ESTIMATES = ("nb", "nb-correct", "inb-paper", "inb")
TABLE1 = Table("Table 1: balanced classes", (500, 1_000, 5_000), balanced=True)
TABLE2 = Table("Table 2: the first class three times as large as the others", (1_000, 5_000, 10_000), balanced=False)


def _gap(rows: list[Row], n: int, method: str, papers: dict[str, float]) -> Gap | None:
    """papers : the paper's accuracy in each setting of this n"""
    by_rep: dict[int, dict[str, float]] = {}
    for setting, paper in papers.items():
        for row in cell(rows, setting, method):
            by_rep.setdefault(row["rep"], {})[setting] = 100 * row["accuracy"] - paper
    used = {setting for by_setting in by_rep.values() for setting in by_setting}
    gaps = [{"gap": np.mean(list(by_setting.values()))} for by_setting in by_rep.values() if set(by_setting) == used]
    mean = mean_of(gaps, "gap")
    return Gap(n, method, len(used), mean, float(mean.error * np.sqrt(mean.n))) if mean.n else None


def _range(counts: list[int]) -> str:
    low, high = min(counts), max(counts)
    return f"{low}" if low == high else f"{low} to {high}"


def _spread(gap: Gap) -> str:
    return f"{gap.spread:.1f}" if np.isfinite(gap.spread) else "–"


def _n(setting: str) -> int:
    return int(setting.partition(",")[0])


def _shared_draws(experiment: Table) -> str:
    by_n: dict[int, set[float | None]] = {}
    for name in experiment.settings():
        by_n.setdefault(_n(name), set()).add(experiment._paper(name, "acc_nbt"))
    if any(len(values) > 1 for values in by_n.values()):
        return ""
    values = ", ".join(f"{next(iter(draws))} at n = {n:,}" for n, draws in by_n.items())
    return f"""The paper prints one NB-T value per n for all {len(INTERVALS)} intervals ({values}).
So the intervals of an n share their draws, as ours do, and count as one. The paper does not say whether the
{experiment.REPS} repetitions also share a draw of the parameters. If they do, its means differ from ours by more than
our standard errors. The differences are therefore shown without a verdict: the mean over the intervals with our
standard error, and the standard deviation of a single repetition; a difference of more than twice that would be
unlikely."""


def setting_name(n: int, interval: tuple[float, float]) -> str:
    low, high = interval
    return f"{n}, [{low:g}, {high:g}{']' if low == high else ')'}"


@cache
def paper_figures() -> dict[tuple[str, str], dict[str, str]]:
    """The figures of both tables as printed in the paper: (kind, setting) -> column -> value."""
    text = files(__package__).joinpath("simulation_tables.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines())
    return {
        (row["table"], setting_name(int(row["n"]), (float(row["rho_low"]), float(row["rho_high"])))): row
        for row in rows
    }


def _with_paper(mean: Mean, paper: float | None) -> str:
    if not mean.n:
        return "–"
    digits = 2 if abs(mean.value) < 10 else 1
    return f"{mean.value:.{digits}f}" + (f" ({paper:g})" if paper is not None else "")
