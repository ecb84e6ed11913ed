"""What an audit says of single rows, where all of them are at hand: one table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..dataset.tree import Array
from .judged import Judged
from .row_results import SUSPECT, Correct
from .rules import ReviewCurve, Rule, review_curve, suspects

if TYPE_CHECKING:
    import pandas as pd


class Said(NamedTuple):
    """What is said of some rows with a label."""

    given: Array  # codes
    suggested: Array  # codes
    p_wrong: Array
    p_suggested: Array


@dataclass(frozen=True, eq=False)
class RowTable:
    classes: Array
    observed: Array  # (n,) codes; K where there is no label
    suggested: Array  # (n,) codes
    p_wrong: Array  # (n,)
    p_suggested: Array  # (n,)
    corrected: Array  # (n,) codes
    suspect: Array  # (n,) bool
    verified: Array  # (n,) bool
    review: ReviewCurve
    n_changed: int  # labels that are corrected

    @classmethod
    def of(cls, judged: Judged, rule: Rule, correct: Correct) -> RowTable:
        n, K = judged.n_rows, len(judged.classes)
        observed, p_wrong, rows = judged.observed, judged.p_wrong, judged.rows
        assert observed is not None
        verified = np.zeros(n, dtype=bool) if judged.verified is None else judged.verified >= 0
        eligible = (observed < K) & ~verified
        suspicion, corrected = judged.data.collect(correct)
        disputed = int((eligible & (suspicion > SUSPECT)).sum())
        chosen = suspects(rule, p_wrong, disputed, eligible)
        n_changed = int((eligible & (corrected != observed)).sum())
        return cls(
            judged.classes,
            observed,
            # a suspect whose given label is still the most probable one gets the next best
            np.where(chosen, rows.other, rows.best),
            p_wrong,
            np.where(chosen, rows.p_other, rows.p_best),
            corrected,
            chosen,
            verified,
            review_curve(p_wrong, eligible),
            n_changed,
        )

    @property
    def labeled(self) -> Array:
        """(n,) bool"""
        return np.asarray(self.observed < len(self.classes))

    @property
    def n_rows(self) -> int:
        return len(self.observed)

    @property
    def n_labeled(self) -> int:
        return int(self.labeled.sum())

    @property
    def n_verified(self) -> int:
        return int(self.verified.sum())

    @property
    def n_suspects(self) -> int:
        return int(self.suspect.sum())

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row per example: given, suggested, p_wrong, p_suggested, corrected, suspect, verified."""
        import pandas as pd  # late: the command line does without

        return pd.DataFrame(
            {
                "given": _named(self.classes, np.where(self.labeled, self.observed, -1)),
                "suggested": _named(self.classes, self.suggested),
                "p_wrong": np.where(self.labeled, self.p_wrong, np.nan),
                "p_suggested": self.p_suggested,
                "corrected": _named(self.classes, self.corrected),
                "suspect": self.suspect,
                "verified": self.verified,
            }
        )

    @property
    def suspects(self) -> pd.DataFrame:
        return self.table.iloc[self.foremost(self.n_rows)]

    def foremost(self, most: int) -> Array:
        """Positions of the most suspicious suspects, in their order."""
        rows = np.flatnonzero(self.suspect)
        return np.asarray(rows[np.argsort(-self.p_wrong[rows], kind="stable")][:most])

    @property
    def suspects_by(self) -> Array:
        """(K, K) number of suspects by given and suggested label."""
        rows = np.flatnonzero(self.suspect)
        counts = np.zeros((len(self.classes), len(self.classes)), dtype=int)
        np.add.at(counts, (self.observed[rows], self.suggested[rows]), 1)
        return counts

    def said(self, rows: Array) -> Said:
        given = self.observed[rows]
        if (given == len(self.classes)).any():
            row = rows[np.argmax(given == len(self.classes))]
            raise ValueError(f"row {row} has no label that anything could speak against; leave it out")
        return Said(given, self.suggested[rows], self.p_wrong[rows], self.p_suggested[rows])


def _named(classes: Array, codes: Array) -> Any:
    """Classes by their codes, None where that is -1; names are kept once, not once a row."""
    import pandas as pd

    if classes.dtype.kind in "UO":
        return pd.Categorical.from_codes(codes, pd.Index(classes))
    if codes.min(initial=0) >= 0:
        return classes[codes]
    named = np.full(len(codes), None, dtype=object)
    named[codes >= 0] = classes[codes[codes >= 0]]
    return named
