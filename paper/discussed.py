"""The methods that the paper discusses, beside naive Bayes, its own and a plain network; some also as published."""

from __future__ import annotations

from typing import Any

from .experiment import Draw, Experiment
from .livestream import LIVESTREAM, MAIN
from .methods import TITLES
from .rows import Row, accuracy, methods_in, paired, repetitions, settings_in, table
from .simulation import HARDEST, TABLE1, Setting, setting_name

#: With our changes -> without.
_PUBLISHED = {
    "decoupling": "decoupling-published",
    "co-teaching": "co-teaching-published",
    "mentornet": "mentornet-published",
}
_FILTERS = ("majority-filter", "consensus-filter", "svm-filter", "nb-filter", "cmtnn", "bayesanil")


class Discussed(Experiment):
    TITLE = "The other methods that the paper discusses"
    METHODS = ("nb", "inb-paper", *_FILTERS, "network", *(name for pair in _PUBLISHED.items() for name in pair))
    REPS = 5

    def settings(self) -> dict[str, Any]:
        return {**{setting_name(n, HARDEST): Setting(n, HARDEST) for n in (500, 1_000)}, "Live Streaming": MAIN}

    def draw(self, setting: Any, seed: int, /) -> Draw:
        """The data of Table 1, and of the Live Streaming experiment."""
        return LIVESTREAM.draw(setting, seed) if setting == MAIN else TABLE1.draw(setting, seed)

    def page(self, rows: list[Row]) -> str:
        settings = settings_in(rows, self.settings())
        lines = [
            [TITLES[method], *(accuracy(rows, setting, method).shown() for setting in settings)]
            for method in methods_in(rows, self.METHODS)
        ]
        return f"""## {self.TITLE}

The classes in [paper/baselines](../paper/baselines) say what each method does and how it differs from its source. Our
Decoupling, Co-teaching and MentorNet include changes; *as published*: Decoupling has a warm-up and collects rows of
disagreement until they fill a mini-batch; Co-teaching and MentorNet run for all 200 epochs and select rows in each
mini-batch; none centers its features. BayesANIL, Co-teaching and MentorNet are given the true share of wrong labels,
which their authors assume to be known. After a filter, naive Bayes learns from the remaining rows. Accuracy in percent;
repetitions: {repetitions(rows)}.

{table(["method", *settings], lines)}
"""

    def findings(self, rows: list[Row]) -> list[str]:
        """The effect of our changes, and whether either version beats a network that takes the labels as they are."""
        sentences = []
        for ours, published in _PUBLISHED.items():
            parts = []
            for setting in settings_in(rows, self.settings()):
                change, plain = paired(rows, setting, published, ours), paired(rows, setting, published, "network")
                shown = f"{change.shown(sign=True)} vs. ours and {plain.shown(sign=True)} vs. a plain network"
                parts.append(f"{shown} ({setting})")
            sentences.append(f"{TITLES[published]}, points of accuracy: {'; '.join(parts)}.")
        return sentences


DISCUSSED = Discussed()
