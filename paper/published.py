"""Decoupling, Co-teaching and MentorNet with our changes, and as their authors describe them."""

from __future__ import annotations

from typing import Any

from benchmarks.result_files import Row, table

from .compare import cell, mean_of, methods_in, paired, repetitions, settings_in
from .experiment import Experiment
from .livestream import LIVESTREAM, MAIN
from .livestream import Setting as Reading
from .methods import PUBLISHED, TITLES, Draw
from .simulation_tables import TABLE1, Setting, setting_name

_INTERVAL = (0.55, 0.65)
_SIZES = (500, 1_000)
_LIVE = "Live Streaming"


class Published(Experiment):
    TITLE = "Baselines as published"
    METHODS = ("nb", "network", *(name for pair in PUBLISHED.items() for name in pair))
    REPS = 10

    def settings(self, quick: bool = False) -> dict[str, Any]:
        if quick:
            return {**TABLE1.settings(quick), _LIVE: Reading(MAIN, quick)}
        return {
            **{setting_name(n, _INTERVAL): Setting(n, _INTERVAL, balanced=True) for n in _SIZES},
            _LIVE: Reading(MAIN),
        }

    def draw(self, setting: Any, seed: int, /) -> Draw:
        """The data of Table 1, and of the Live Streaming experiment."""
        return LIVESTREAM.draw(setting, seed) if isinstance(setting, Reading) else TABLE1.draw(setting, seed)

    def page(self, rows: list[Row]) -> str:
        return f"""## {self.TITLE}

Our Decoupling, Co-teaching and MentorNet include changes, which their documentation lists. `as_published=True` runs
them without these changes: Decoupling has a warm-up and collects rows of disagreement until they fill a mini-batch;
Co-teaching and MentorNet run for all 200 epochs and select rows in each mini-batch; none centres its features. Here
Co-teaching and MentorNet are given the true share of wrong labels, which their authors assume to be known. Accuracy in
percent; repetitions: {repetitions(rows)}.

{_accuracies(rows, self)}
"""

    def findings(self, rows: list[Row]) -> list[str]:
        """The effect of our changes, and whether either version beats a network that takes the labels as they are."""
        sentences = []
        for ours, published in PUBLISHED.items():
            parts = []
            for setting in settings_in(rows, list(self.settings())):
                change, plain = paired(rows, setting, published, ours), paired(rows, setting, published, "network")
                if change.n and plain.n:
                    shown = f"{change.shown(sign=True)} vs. ours and {plain.shown(sign=True)} vs. a plain network"
                    parts.append(f"{shown} ({setting})")
            if parts:
                sentences.append(f"{TITLES[published]}, points of accuracy: {'; '.join(parts)}.")
        return sentences


def _accuracies(rows: list[Row], experiment: Published) -> str:
    settings = settings_in(rows, list(experiment.settings()))
    lines = [
        [TITLES[method], *(mean_of(cell(rows, setting, method), "accuracy", 100).shown() for setting in settings)]
        for method in methods_in(rows, experiment.METHODS)
    ]
    return table(["method", *settings], lines)


PUBLISHED_EXPERIMENT = Published()
