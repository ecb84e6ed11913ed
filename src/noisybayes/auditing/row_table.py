"""Results for single rows as one table, if all rows are in this process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..dataset.tree import Array
from .columns import Coded, Columns
from .judged import Judged
from .row_results import SUSPECT, Correct
from .rules import ReviewCurve, Rule, review_curve, suspects


class Suggestions(NamedTuple):
    """Results for some rows with a label."""

    given: Array  # codes
    suggested: Array  # codes
    p_wrong: Array
    p_suggested: Array


@dataclass(frozen=True, eq=False)
class RowTable:
    classes: Array
    observed: Array  # (n,) codes; K where missing
    suggested: Array  # (n,) codes
    p_wrong: Array  # (n,)
    p_suggested: Array  # (n,)
    corrected: Array  # (n,) codes
    suspect: Array  # (n,) bool
    verified: Array  # (n,) bool
    review: ReviewCurve
    n_changed: int  # number of corrected labels

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
            # if the given label of a suspect is still the most probable one, suggest the next best
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

    @property
    def table(self) -> Columns:
        """One row per example: given, suggested, p_wrong, p_suggested, corrected, suspect, verified."""
        return Columns(
            {
                "given": Coded(self.classes, np.where(self.labeled, self.observed, -1)),
                "suggested": Coded(self.classes, self.suggested),
                "p_wrong": np.where(self.labeled, self.p_wrong, np.nan),
                "p_suggested": self.p_suggested,
                "corrected": Coded(self.classes, self.corrected),
                "suspect": self.suspect,
                "verified": self.verified,
            }
        )

    @property
    def suspects(self) -> Columns:
        return self.table.take(self.most_suspicious(self.n_rows))

    def most_suspicious(self, most: int) -> Array:
        """Positions of the most suspicious rows, in order."""
        rows = np.flatnonzero(self.suspect)
        return np.asarray(rows[np.argsort(-self.p_wrong[rows], kind="stable")][:most])

    @property
    def suspects_by(self) -> Array:
        """(K, K) number of suspects by given and suggested label."""
        rows = np.flatnonzero(self.suspect)
        counts = np.zeros((len(self.classes), len(self.classes)), dtype=int)
        np.add.at(counts, (self.observed[rows], self.suggested[rows]), 1)
        return counts

    def suggestions(self, rows: Array) -> Suggestions:
        given = self.observed[rows]
        if (given == len(self.classes)).any():
            row = rows[np.argmax(given == len(self.classes))]
            raise ValueError(f"row {row} has no label, so there is nothing to explain; leave it out")
        return Suggestions(given, self.suggested[rows], self.p_wrong[rows], self.p_suggested[rows])
