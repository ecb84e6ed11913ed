"""Where EM starts: the paper's random start as printed, other readings of it, and ours."""

from __future__ import annotations

from typing import Any

from .experiment import Draw, Experiment
from .livestream import LIVESTREAM, MAIN
from .rows import Row, accuracy, methods_in, repetitions, settings_in, table
from .simulation import HARDEST, TABLE1, Setting, setting_name

_PRINTED, _NEAR_HALF = "probabilities uniform in (0, 1), as printed", "probabilities uniform in (0.4, 0.6)"
#: The start, number of starts, whether classes are matched to labels afterwards.
_STARTS = {
    "nb": ("no EM: naive Bayes", "–", "–"),
    "inb-start-paper": (_PRINTED, "1", "no"),
    "inb-start-paper-10": (_PRINTED, "10", "no"),
    "inb-start-half": (_NEAR_HALF, "1", "no"),
    "inb-start-half-10": (_NEAR_HALF, "10", "no"),
    "inb-paper": ("naive Bayes on the labels", "1", "yes"),
}
_LIVE = "Live Streaming"


class Starts(Experiment):
    TITLE = "Where EM starts"
    METHODS = tuple(_STARTS)
    REPS = 10

    def settings(self) -> dict[str, Any]:
        return {**{setting_name(n, HARDEST): Setting(n, HARDEST) for n in TABLE1.sizes}, _LIVE: MAIN}

    def draw(self, setting: Any, seed: int, /) -> Draw:
        """The data of Table 1, and of the Live Streaming experiment."""
        return LIVESTREAM.draw(setting, seed) if setting == MAIN else TABLE1.draw(setting, seed)

    def page(self, rows: list[Row]) -> str:
        settings = settings_in(rows, self.settings())
        lines = [
            [*_STARTS[method], *(accuracy(rows, name, method).shown() for name in settings)]
            for method in methods_in(rows, self.METHODS)
        ]
        paper = [TABLE1.paper(name, "acc_inb") if name != _LIVE else "–" for name in settings]
        return f"""## {self.TITLE}

The paper starts EM from classes of equal size, "random" feature probabilities and a random matrix with a diagonal above
one half. It does not say how the probabilities are drawn, nor how many starts it used. `BernoulliINB.paper()` starts
from naive Bayes on the observed labels. With several starts, the one with the highest likelihood wins. The paper has no
step that matches the classes to the labels after EM; *classes matched* marks where we add that step. Accuracy of the
paper's estimator in percent; repetitions: {repetitions(rows)}.

{table(["start", "starts", "classes matched", *settings], [*lines, ["paper", "?", "?", *paper]])}
"""

    def findings(self, rows: list[Row]) -> list[str]:
        name = setting_name(TABLE1.sizes[0], HARDEST)
        printed, half, ours = (
            accuracy(rows, name, method).value for method in ("inb-start-paper", "inb-start-half", "inb-paper")
        )
        return [
            f"The start, n = {TABLE1.sizes[0]}: as printed, with probabilities uniform in (0, 1), EM reaches "
            f"{printed:.1f} % accuracy, with probabilities in (0.4, 0.6) {half:.1f} %, from the labels {ours:.1f} %; "
            f"the paper has {TABLE1.paper(name, 'acc_inb')} %. So the paper's start is not the printed one taken "
            "literally."
        ]


STARTS = Starts()
