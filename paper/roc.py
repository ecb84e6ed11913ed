"""The paper's ROC figure: n = 1000, P(right label) in [0.55, 0.65). The paper shows one draw, we show a mean."""

from __future__ import annotations

import numpy as np
from benchmarks.result_files import Row, table

from .compare import difference, mean_of, methods_in, repetitions, settings_in
from .experiment import Experiment
from .measures import average_roc, measure
from .methods import TITLES, Draw, Result
from .plots import Line, line_plot
from .simulation_tables import PAPER_NAMES, TABLE1, Setting, paper_figures, setting_name

_INTERVAL = (0.55, 0.65)
_SETTING = setting_name(1_000, _INTERVAL)
#: Denser on the left, where the curves differ.
FALSE_RATES = (np.arange(41) / 40) ** 2
_PLACES = (FALSE_RATES**0.5).tolist()
FIGURE = "reproduce-roc.svg"


class Roc(Experiment):
    TITLE = "ROC curves: n = 1000, [0.55, 0.65)"
    METHODS = TABLE1.METHODS
    REPS = 100

    def settings(self, quick: bool = False) -> dict[str, Setting]:
        if quick:
            return TABLE1.settings(quick)
        return {_SETTING: Setting(1_000, _INTERVAL, balanced=True)}

    def draw(self, setting: Setting, seed: int, /) -> Draw:
        """The data of Table 1."""
        return TABLE1.draw(setting, seed)

    def measure(self, data: Draw, result: Result) -> Row:
        curve = average_roc(data.true_test, result.proba, FALSE_RATES)
        points = {_column(at): round(float(right), 5) for at, right in zip(FALSE_RATES, curve, strict=True)}
        return {**measure(data, result), **points}

    def page(self, rows: list[Row]) -> str:
        setting = settings_in(rows, [_SETTING])[0]
        lines = []
        for method in methods_in(rows, self.METHODS):
            mine = [row for row in rows if row["method"] == method]
            mean = mean_of(mine, "auc", 100)
            figure = paper_figures().get(("balanced", setting), {}).get(f"auc_{PAPER_NAMES.get(method)}")
            beside = ["–", "–"]
            if figure:
                beside = [figure, difference(mean, float(figure))]
            at = mean_of(mine, _column(FALSE_RATES[8]), 100)
            lines.append([TITLES[method], mean.shown(), *beside, at.shown()])
        header = [
            "method",
            "macro-AUC, %",
            "paper",
            "difference",
            f"true positives at {_percent(8)} false positives, %",
        ]
        return f"""## {self.TITLE}

The ROC curve of each class against the rest, averaged over the classes and over the repetitions ({repetitions(rows)}).
The paper shows one draw as a picture; here the AUC of its Table 1 stands in for it.

![Averaged ROC curves](img/{FIGURE})

{table(header, lines)}
"""

    def figures(self, rows: list[Row]) -> dict[str, str]:
        lines = []
        for method in methods_in(rows, self.METHODS):
            mine = [row for row in rows if row["method"] == method]
            heights = [mean_of(mine, _column(at)).value for at in FALSE_RATES]
            lines.append(Line(TITLES[method], list(zip(_PLACES, heights, strict=True))))
        lines.append(
            Line("chance", list(zip(_PLACES, FALSE_RATES.tolist(), strict=True)), dashed=True, colour="#7f7f7f")
        )
        across = "false positive rate, stretched on the left"
        ticks = {at**0.5: f"{at:g}" for at in (0.0, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)}
        return {FIGURE: line_plot(lines, self.TITLE, across, "true positive rate", ticks)}


def _column(false_rate: float) -> str:
    return f"tpr_{false_rate:.4f}"


def _percent(index: int) -> str:
    return f"{100 * FALSE_RATES[index]:g} %"


ROC = Roc()
