"""Shared by the two experiments with real data: the methods in a table and a box plot, and readings of ΔACC."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from .methods import TITLES
from .plots import box_plot
from .rows import Mean, Row, accuracy, cell, difference, mean_of, methods_in, paired, table, verdict

#: The same naive Bayes as the previous reading: ΔACC is the same, but the gain of INB is not.
EQUAL_INB = "unsmoothed, equal classes, also of INB"
#: Naive Bayes on observed labels and on right ones, and the paper's INB to compare with, in four variants.
TRIPLES = {
    "add one": ("nb", "nb-correct", "inb-paper"),
    "unsmoothed": ("nb-ml", "nb-ml-correct", "inb-paper"),
    "unsmoothed, equal classes": ("nb-equal", "nb-equal-correct", "inb-paper"),
    EQUAL_INB: ("nb-equal", "nb-equal-correct", "inb-paper-equal"),
}
#: As in the paper's figures, with both kinds of INB, and the neural methods if they were run.
_SHOWN = ("nb", "inb-paper", "inb", "nlnn", "nal", "nlnn-authors", "nal-authors", "nb-correct")


class Reading(NamedTuple):
    """One reading of what the paper did, and the resulting effect of wrong labels."""

    setting: str
    smoothing: str
    right: Mean  # accuracy with right labels, %
    delta: Mean  # points
    relative: Mean  # percent of the accuracy with right labels
    gain: Mean  # paper's INB minus NB, points
    relative_gain: Mean

    @property
    def name(self) -> str:
        return f"{self.setting}; {self.smoothing}"


def readings(rows: list[Row], settings: Sequence[str]) -> Iterator[Reading]:
    for setting in settings:
        for smoothing, (wrong, right, inb) in TRIPLES.items():
            delta = paired(rows, setting, wrong, right)
            if delta.n:
                yield Reading(
                    setting, smoothing, accuracy(rows, setting, right), delta,
                    paired(rows, setting, wrong, right, relative=True), paired(rows, setting, inb, wrong),
                    paired(rows, setting, inb, wrong, relative=True),
                )  # fmt: skip


def met(tried: Sequence[Reading], paper: float) -> str:
    """A sentence on whether any reading gives the paper's ΔACC, in points."""
    best = min(tried, key=lambda reading: abs(reading.delta.value - paper), default=None)
    if best is None:
        return ""
    how = "met by the reading" if verdict(best.delta, paper) == "reproduced" else "met by no reading; the closest is"
    return (
        f"ΔACC of {paper}: {how} {best.name} ({best.delta.value:+.2f} points, {best.relative.value:+.2f} % relative; "
        f"NB with right labels has {best.right.value:.1f} % there)."
    )


def methods_table(rows: list[Row], setting: str) -> str:
    """Accuracy of each, and how it differs from NB on the same splits."""
    lines = []
    for method in methods_in([row for row in rows if row["setting"] == setting], _SHOWN):
        mine = cell(rows, setting, method)
        beside = [paired(rows, setting, method, other).shown(sign=True) for other in ("nb", "nb-correct")]
        quartiles = np.quantile([row["accuracy"] for row in mine], [0.25, 0.75])
        half = " to ".join(f"{100 * value:.1f}" for value in quartiles)
        seconds = mean_of(mine, "seconds")
        shown = f"{seconds.value:.1f}" if seconds.n else "–"
        lines.append([TITLES[method], len(mine), accuracy(rows, setting, method).shown(), half, *beside, shown])
    header = ["method", "repetitions", "accuracy, %", "middle half", "minus NB", "minus NB, right labels", "seconds"]
    return table(header, lines)


def boxes(rows: list[Row], setting: str, title: str, file: str) -> dict[str, str]:
    groups = {
        TITLES[method]: [100 * row["accuracy"] for row in cell(rows, setting, method)]
        for method in methods_in([row for row in rows if row["setting"] == setting], _SHOWN)
    }
    return {file: box_plot(groups, title, "accuracy on test rows, %")} if groups else {}


def verdicts(rows: list[Row], setting: str, wanted: Sequence[tuple[str, str, str, float]]) -> str:
    """Differences of two methods beside the paper's: (title, method, the other, the paper's figure in points)."""
    lines = []
    for words, method, against, paper in wanted:
        gap = paired(rows, setting, method, against)
        if gap.n:
            lines.append([words, gap.shown(2, sign=True), paper, difference(gap, paper), verdict(gap, paper)])
    return table(["points", "ours", "paper", "difference", "verdict"], lines)
