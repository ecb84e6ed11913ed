"""What an audit says of single rows, where all of them are at hand: one table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dataset.tree import Array
from .judged import Judged
from .row_results import SUSPECT, Correct
from .rules import ReviewCurve, Rule, review_curve, suspects

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class RowTable:
    table: pd.DataFrame  # one row per example: given, suggested, p_wrong, p_suggested, corrected, suspect, verified
    classes: Array
    observed: Array  # (n,) codes; K where there is no label
    review: ReviewCurve
    n_changed: int  # labels that are corrected

    @classmethod
    def of(cls, judged: Judged, rule: Rule, correct: Correct) -> RowTable:
        import pandas as pd

        n, K = judged.n_rows, len(judged.classes)
        observed, p_wrong, rows = judged.observed, judged.p_wrong, judged.rows
        assert observed is not None
        verified = np.zeros(n, dtype=bool) if judged.verified is None else judged.verified >= 0
        labeled = observed < K
        eligible = labeled & ~verified
        suspicion, corrected = judged.data.collect(correct)
        chosen = suspects(rule, p_wrong, suspicion > SUSPECT, eligible)
        # a suspect whose given label is still the most probable one gets the next best
        table = pd.DataFrame(
            {
                "given": _named(judged.classes, np.where(labeled, observed, -1)),
                "suggested": _named(judged.classes, np.where(chosen, rows.other, rows.best)),
                "p_wrong": np.where(labeled, p_wrong, np.nan),
                "p_suggested": np.where(chosen, rows.p_other, rows.p_best),
                "corrected": _named(judged.classes, corrected),
                "suspect": chosen,
                "verified": verified,
            }
        )
        n_changed = int((eligible & (corrected != observed)).sum())
        return cls(table, judged.classes, observed, review_curve(p_wrong, eligible), n_changed)

    @property
    def n_rows(self) -> int:
        return len(self.table)

    @property
    def n_labeled(self) -> int:
        return int(self.table["given"].notna().sum())

    @property
    def n_verified(self) -> int:
        return int(self.table["verified"].sum())

    @property
    def n_suspects(self) -> int:
        return int(self.table["suspect"].sum())

    @property
    def suspects(self) -> pd.DataFrame:
        chosen = self.table[self.table["suspect"]]
        return chosen.sort_values("p_wrong", ascending=False, kind="stable")

    @property
    def suspects_by(self) -> Array:
        """(K, K) number of suspects by given and suggested label."""
        rows = np.flatnonzero(self.table["suspect"].to_numpy())
        counts = np.zeros((len(self.classes), len(self.classes)), dtype=int)
        if len(rows):
            suggested, given = self.codes(rows)
            np.add.at(counts, (given, suggested), 1)
        return counts

    def codes(self, rows: Array) -> tuple[Array, Array]:
        """Suggested and given classes of rows with a label."""
        given = self.observed[rows]
        if (given == len(self.classes)).any():
            row = rows[np.argmax(given == len(self.classes))]
            raise ValueError(f"row {row} has no label that anything could speak against; leave it out")
        suggested = self.table["suggested"].iloc[rows].to_numpy().astype(self.classes.dtype)
        return np.asarray(np.searchsorted(self.classes, suggested)), given


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
