"""Where EM starts: the paper's random start as printed, other readings of it, and ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.result_files import Row, table

from .compare import cell, mean_of, methods_in, repetitions, settings_in
from .experiment import Experiment, Search
from .livestream import LIVESTREAM, MAIN
from .livestream import Setting as Reading
from .methods import STARTS, Draw
from .simulation_tables import TABLE1, Setting, paper_figures, setting_name

_INTERVAL = (0.55, 0.65)
_LIVE = "Live Streaming"


class Starts(Experiment):
    TITLE = "Where EM starts"
    METHODS = ("nb", *STARTS)
    REPS = 100

    def settings(self, quick: bool = False) -> dict[str, Any]:
        if quick:
            return {**TABLE1.settings(quick), _LIVE: Reading(MAIN, quick)}
        sizes = {setting_name(n, _INTERVAL): Setting(n, _INTERVAL, balanced=True) for n in TABLE1.sizes}
        return {**sizes, _LIVE: Reading(MAIN)}

    def draw(self, setting: Any, seed: int, /) -> Draw:
        """The data of Table 1, and of the Live Streaming experiment."""
        return LIVESTREAM.draw(setting, seed) if isinstance(setting, Reading) else TABLE1.draw(setting, seed)

    def page(self, rows: list[Row]) -> str:
        return f"""## {self.TITLE}

The paper starts EM from classes of equal size, "random" feature probabilities and a random matrix with a diagonal above
one half. It does not say how the probabilities are drawn, nor how many starts it used. `BernoulliINB.paper()` starts
from naive Bayes on the observed labels; `start="random"` starts near the marginal frequencies. With several starts, the
one with the highest likelihood wins. The paper has no step that matches the classes to the labels after EM; *classes
matched* marks where we add that step. Accuracy of the paper's estimator in percent; repetitions: {repetitions(rows)}.

{_accuracies(rows, self.settings())}
"""

    def searched(self, rows: list[Row], facts: Mapping[str, Any]) -> list[Search]:
        paper = {
            name: float(figures["acc_inb"]) for (kind, name), figures in paper_figures().items() if kind == "balanced"
        }
        settings = [name for name in settings_in(rows, list(self.settings())) if name in paper]
        gaps = {}
        for method in methods_in(rows, list(STARTS)):
            means = [mean_of(cell(rows, name, method), "accuracy", 100).value - paper[name] for name in settings]
            gaps[method] = max(map(abs, means), default=0.0)
        if not settings or not gaps:
            return []
        met = sum(gap <= 1 for gap in gaps.values())
        return [Search("Simulation", "where EM starts", len(gaps), f"accuracy of INB in {len(settings)} rows", met)]

    def findings(self, rows: list[Row]) -> list[str]:
        name = setting_name(TABLE1.sizes[0], _INTERVAL)
        means = {method: mean_of(cell(rows, name, method), "accuracy", 100) for method in self.METHODS}
        measured = {method: mean for method, mean in means.items() if mean.n}
        if not {"inb-paper", "inb-start-paper", "inb-start-half"} <= set(measured):
            return []
        paper = paper_figures()["balanced", name]["acc_inb"]
        shown = {method: f"{mean.value:.1f} %" for method, mean in measured.items()}
        return [
            f"The start, n = {TABLE1.sizes[0]}: as printed, with probabilities uniform in (0, 1), EM reaches "
            f"{shown['inb-start-paper']} accuracy, with probabilities in (0.4, 0.6) {shown['inb-start-half']}, from "
            f"the labels {shown['inb-paper']}; the paper has {paper} %. So the paper's start is not the printed one "
            "taken literally."
        ]


def _accuracies(rows: list[Row], known: dict[str, Any]) -> str:
    settings = settings_in(rows, list(known))
    lines = []
    for method in methods_in(rows, ["nb", *STARTS]):
        means = [mean_of(cell(rows, name, method), "accuracy", 100).shown() for name in settings]
        words = map(str, STARTS[method]) if method in STARTS else ("no EM: naive Bayes", "–", "–")
        lines.append([*words, *means])
    figures = [paper_figures().get(("balanced", name), {}).get("acc_inb", "–") for name in settings]
    return table(["start", "starts", "classes matched", *settings], [*lines, ["paper", "?", "?", *figures]])


STARTS_EXPERIMENT = Starts()
