"""Rules that decide which rows are suspects."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._shares import whole_percent
from ..dataset.tree import Array


class Rule(NamedTuple):
    """Suspects are the rows with the highest P(wrong). Their number is that of rows above a threshold, or a budget of
    rows to review."""

    budget: int | None = None
    threshold: float | None = None  # of P(wrong); None: of another label, on average over two posteriors

    @property
    def name(self) -> str:
        return "budget" if self.budget is not None else "posterior"

    @property
    def text(self) -> str:
        if self.budget is not None:
            rows = "row whose label is" if self.budget == 1 else f"{self.budget:,} rows whose labels are"
            return f"the {rows} most probably wrong"
        if self.threshold is not None:
            return f"the rows with P(wrong) above {whole_percent(self.threshold)}"
        return (
            "the rows with the highest P(wrong), as many as have another label with a probability above 40 %, "
            "averaged over the posteriors with and without the given label"
        )

    def check(self) -> None:
        if self.budget is not None and not (self.budget >= 0 and float(self.budget).is_integer()):
            raise ValueError(f"budget must be a whole number of at least 0, got {self.budget!r}")


def ranking(p_wrong: Array, eligible: Array) -> Array:
    """Rows that may be suspects, most suspicious first; ties in the order of the rows."""
    rows = np.flatnonzero(eligible)
    return np.asarray(rows[np.argsort(-p_wrong[rows], kind="stable")])


def suspects(rule: Rule, p_wrong: Array, disputed: int, eligible: Array) -> Array:
    """(n,) bool. disputed : eligible rows where another label is probable enough; eligible : labeled, not verified"""
    rule.check()
    order = ranking(p_wrong, eligible)
    order = order[p_wrong[order] > 0]
    order = order[: disputed if rule.budget is None else int(rule.budget)]
    chosen = np.zeros(len(p_wrong), dtype=bool)
    chosen[order] = True
    return chosen


class ReviewCurve(NamedTuple):
    """What to expect from reviewing the most suspicious rows."""

    rows: Array  # how many are reviewed
    precision: Array  # expected share of wrong labels among them
    found: Array  # expected share of all wrong labels found among them


def review_points(n: int, points: int = 60) -> Array:
    """Lengths of the list, dense at the top, where it is read."""
    return np.unique(np.round(np.geomspace(1, n, points)).astype(int)) if n else np.zeros(0, dtype=int)


def review_curve(p_wrong: Array, eligible: Array, points: int = 60) -> ReviewCurve:
    order = ranking(p_wrong, eligible)
    wrong = np.cumsum(p_wrong[order])
    n = len(order)
    if n == 0:
        return ReviewCurve(*(np.zeros(0) for _ in range(3)))
    rows = review_points(n, points)
    return ReviewCurve(rows, wrong[rows - 1] / rows, wrong[rows - 1] / max(wrong[-1], 1e-300))
