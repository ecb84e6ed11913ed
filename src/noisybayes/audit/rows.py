"""The one frame of results, a line for each row. Table and files of an audit, report, desk and `predict` read it: a new
column is a line of `COLUMNS`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

Array = NDArray[Any]

#: A row is a suspect if its label is more probably wrong than right.
SUSPECT = 0.5
#: A label is corrected if another one has a higher probability than this: on 38 real sets, labels then became worse by
#: more than half a point on one of them, and on four with 0.8.
CORRECT = 0.9


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
    # if the label of a listed row is still the most probable one, suggest the next best
    suggested = np.where(suspect, other, best)
    changed = eligible & may_correct & (posterior[every, other] > CORRECT) & (other != observed)
    corrected = np.where(verified >= 0, verified, np.where(changed, other, np.where(is_labeled, observed, best)))
    p_suggested = posterior[every, suggested].astype(np.float64)
    return Results(classes, observed, suggested, p_wrong, p_suggested, corrected, suspect, verified >= 0)
