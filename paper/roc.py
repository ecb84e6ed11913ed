"""The paper's ROC figure: n = 1000, P(right label) in [0.55, 0.65). The paper shows one draw, we show a mean."""

from __future__ import annotations

import numpy as np

from .experiment import Draw, Experiment, Result, average_roc
from .methods import TITLES
from .plots import Line, line_plot
from .rows import Row, difference, mean_of, methods_in, repetitions, table
from .simulation import HARDEST, PAPER_NAMES, TABLE1, Setting, setting_name

_SETTING = setting_name(1_000, HARDEST)
#: Denser on the left, where the curves differ.
FALSE_RATES = (np.arange(41) / 40) ** 2
_AT = FALSE_RATES[8]
_FIGURE = "reproduce-roc.svg"


class Roc(Experiment):
    TITLE = "ROC curves: n = 1000, [0.55, 0.65)"
    METHODS = tuple(name for name in TABLE1.METHODS if "authors" not in name)
    REPS = 100

    def settings(self) -> dict[str, Setting]:
        return {_SETTING: Setting(1_000, HARDEST)}

    def draw(self, setting: Setting, seed: int, /) -> Draw:
        """The data of Table 1."""
        return TABLE1.draw(setting, seed)

    def measure(self, data: Draw, result: Result) -> Row:
        curve = average_roc(data.true_test, result.proba, FALSE_RATES)
        points = {_column(at): round(float(right), 5) for at, right in zip(FALSE_RATES, curve, strict=True)}
        return {**super().measure(data, result), **points}

    def page(self, rows: list[Row]) -> str:
        lines = []
        for method in methods_in(rows, self.METHODS):
            mine = [row for row in rows if row["method"] == method]
            mean = mean_of(mine, "auc", 100)
            paper = TABLE1.paper(_SETTING, f"auc_{PAPER_NAMES.get(method)}")
            beside = ["–", "–"] if paper is None else [f"{paper}", difference(mean, paper)]
            lines.append([TITLES[method], mean.shown(), *beside, mean_of(mine, _column(_AT), 100).shown()])
        at = f"true positives at {100 * _AT:g} % false positives, %"
        return f"""## {self.TITLE}

The ROC curve of each class against the rest, averaged over the classes and over the repetitions ({repetitions(rows)}).
The paper shows one draw as a picture; here the AUC of its Table 1 stands in for it.

![Averaged ROC curves](img/{_FIGURE})

{table(["method", "macro-AUC, %", "paper", "difference", at], lines)}
"""

    def figures(self, rows: list[Row]) -> dict[str, str]:
        places = (FALSE_RATES**0.5).tolist()
        lines = []
        for method in methods_in(rows, self.METHODS):
            mine = [row for row in rows if row["method"] == method]
            heights = [mean_of(mine, _column(at)).value for at in FALSE_RATES]
            lines.append(Line(TITLES[method], list(zip(places, heights, strict=True))))
        lines.append(Line("chance", list(zip(places, FALSE_RATES.tolist(), strict=True)), True, "#7f7f7f"))
        across = "false positive rate, stretched on the left"
        ticks = {at**0.5: f"{at:g}" for at in (0.0, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)}
        return {_FIGURE: line_plot(lines, self.TITLE, across, "true positive rate", ticks)}


def _column(false_rate: float) -> str:
    return f"tpr_{false_rate:.4f}"


ROC = Roc()
