"""The one frame of results, a line for each row. Table and files of an audit, report, desk and `predict` read it: a new
column is a line of `COLUMNS`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from .._shares import whole_percent

Array = NDArray[Any]

#: Maximum number of suspects listed with their evidence, most suspicious first.
MOST_LISTED = 10_000
#: A row is a suspect if its label is more probably wrong than right.
SUSPECT = 0.5
#: A label is corrected if another one has a higher probability than this: on 38 real sets, labels then became worse by
#: more than half a point on one of them, and on four with 0.8.
CORRECT = 0.9


class Rule(NamedTuple):
    """Suspects are the rows with P(wrong) above one half, or a budget of rows to review."""

    budget: int | None = None

    @property
    def name(self) -> str:
        return "budget" if self.budget is not None else "posterior"

    @property
    def text(self) -> str:
        if self.budget is None:
            return f"the rows with P(wrong) above {whole_percent(SUSPECT)}"
        rows = "row whose label is" if self.budget == 1 else f"{self.budget:,} rows whose labels are"
        return f"the {rows} most probably wrong"

    def check(self) -> None:
        if self.budget is not None and not (self.budget >= 0 and float(self.budget).is_integer()):
            raise ValueError(f"budget must be a whole number of at least 0, got {self.budget!r}")


class Results(NamedTuple):
    """What the columns are made of."""

    classes: Array  # (K,)
    observed: Array  # (n,) codes; K where missing
    suggested: Array  # (n,) codes
    p_wrong: Array  # (n,)
    p_suggested: Array  # (n,)
    corrected: Array  # (n,) codes
    suspect: Array  # (n,) bool
    verified: Array  # (n,) bool

    def named(self, codes: Array) -> pl.Series:
        """Names by code, null beyond the last."""
        missing = pl.Series((codes < 0) | (codes >= len(self.classes)))
        known = pl.Series(np.where(missing, 0, codes).astype(np.uint32)).set(missing, None)
        names = self.classes.tolist()
        is_text = all(isinstance(name, str) for name in names)
        return pl.Series(names, dtype=pl.Enum(names) if is_text else None).gather(known)


#: The columns by name.
COLUMNS: dict[str, Callable[[Results], pl.Series]] = {
    "given": lambda rows: rows.named(rows.observed),
    "suggested": lambda rows: rows.named(rows.suggested),
    "p_wrong": lambda rows: pl.Series(np.where(rows.observed < len(rows.classes), rows.p_wrong, np.nan)).fill_nan(None),
    "p_suggested": lambda rows: pl.Series(rows.p_suggested),
    "corrected": lambda rows: rows.named(rows.corrected),
    "suspect": lambda rows: pl.Series(rows.suspect),
    "verified": lambda rows: pl.Series(rows.verified),
}
#: Those that the user's own table has already.
OWN = ("given", "verified")


def rows_frame(rows: Results) -> pl.DataFrame:
    return pl.DataFrame([column(rows).alias(name) for name, column in COLUMNS.items()])


def read_off(
    posterior: Array, classes: Array, observed: Array, verified: Array, budget: int | None, may_correct: bool
) -> Results:
    """The results of rows with these posteriors (n, K).

    verified : (n,) codes, -1 where unknown; budget : this many suspects; None: those with P(wrong) above `SUSPECT`
    """
    every, is_labeled = np.arange(len(observed)), observed < len(classes)
    labeled = np.flatnonzero(is_labeled)
    p_wrong = np.zeros(len(observed))
    p_wrong[labeled] = np.clip(1.0 - posterior[labeled, observed[labeled]], 0.0, 1.0)
    best, others = posterior.argmax(axis=1), posterior.copy()
    others[labeled, observed[labeled]] = -1.0
    other = others.argmax(axis=1) if len(classes) > 1 else best
    eligible = is_labeled & (verified < 0)
    suspect = eligible & (p_wrong > SUSPECT)
    if budget is not None:
        ranked = np.flatnonzero(eligible & (p_wrong > 0))
        suspect = np.zeros(len(observed), dtype=bool)
        suspect[ranked[np.argsort(-p_wrong[ranked], kind="stable")[:budget]]] = True
    changed = eligible & may_correct & (posterior[every, other] > CORRECT) & (other != observed)
    corrected = np.where(verified >= 0, verified, np.where(changed, other, np.where(is_labeled, observed, best)))
    found = Results(classes, observed, best, p_wrong, posterior[every, best], corrected, suspect, verified >= 0)
    return with_suspects(found, posterior, suspect)


def with_suspects(rows: Results, posterior: Array, suspect: Array) -> Results:
    """The results with other suspects. If the label of one is still the most probable one, the next best is suggested.

    suspect : (n,) bool, of rows with a label
    """
    there = np.flatnonzero(suspect)
    others = posterior[there].copy()
    if others.shape[1] > 1:
        others[np.arange(len(there)), rows.observed[there]] = -1.0
    suggested = posterior.argmax(axis=1)
    suggested[there] = others.argmax(axis=1)
    p_suggested = posterior[np.arange(len(suggested)), suggested].astype(np.float64)
    return rows._replace(suggested=suggested, p_suggested=p_suggested, suspect=suspect)
