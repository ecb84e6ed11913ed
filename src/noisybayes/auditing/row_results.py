"""Results for single rows, as a function of a block of rows, which any process that holds the block can compute."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..dataset import Rows
from ..dataset.tree import Array, Pieces
from ..robust.label_weights import Reweighted
from ..robust.recalibration import Recalibration, adjust, pin_verified
from ..robust.training_posterior import row_posteriors

#: Maximum number of suspects listed with their evidence, most suspicious first.
MOST_LISTED = 10_000
#: The number of suspects is the number of rows with more suspicion than this.
SUSPECT = 0.4


class RowResults(NamedTuple):
    """Results for a block, in the order of its rows."""

    number: Array
    observed: Array  # codes; K where missing
    eligible: Array  # bool: labeled and not verified, so it may be a suspect
    verified: Array  # bool
    p_wrong: Array
    best: Array  # the most probable class
    p_best: Array
    other: Array  # the most probable class besides the given one
    p_other: Array
    suspicion: Array  # mean probability of the most probable other label, with and without the given one
    corrected: Array  # the given label or its correction


#: Maps rows to their suspicion and corrected labels (see `corrections`).
Correct = Callable[[Rows], tuple[Array, Array]]


@dataclass(frozen=True)
class RowJudge:
    fitted: Reweighted  # scores of the rows, and their calibration
    recalibration: Recalibration
    correct: Correct | None = None

    def true(self, rows: Rows) -> Array:
        """(m, K) P(true | x, label) of some rows; verified ones have their verified label."""
        return pin_verified(self.unverified(rows), rows.verified)

    def unverified(self, rows: Rows) -> Array:
        """The same, as if none of them were verified."""
        reported = self.fitted.reported(self.fitted.unverified(rows), rows.observed)
        return adjust(reported, rows.observed, self.recalibration)

    def __call__(self, rows: Rows) -> RowResults:
        assert self.correct is not None
        true = self.true(rows)
        posteriors = row_posteriors(true, rows.observed)
        verified = np.zeros(rows.n_rows, dtype=bool) if rows.verified is None else rows.verified >= 0
        results = RowResults(
            rows.number, rows.observed, (rows.observed < true.shape[1]) & ~verified, verified,
            np.clip(1.0 - posteriors.p_given, 0.0, 1.0).astype(np.float64), posteriors.best, posteriors.p_best,
            posteriors.other, posteriors.p_other, *self.correct(rows),
        )  # fmt: skip
        order = np.argsort(rows.number, kind="stable")
        return RowResults(*(values[order] for values in results))


class Chosen(NamedTuple):
    """Suspects are the rows of the ranking down to this one."""

    p_wrong: float  # P(wrong) of the last suspect in the ranking
    last: int = -1  # number of the last suspect among rows with the same P(wrong)

    def __call__(self, results: RowResults) -> Array:
        is_tied = (results.p_wrong == self.p_wrong) & (results.number <= self.last)
        return np.asarray(results.eligible & (results.p_wrong > 0) & ((results.p_wrong > self.p_wrong) | is_tied))


class MostSuspicious(Pieces):
    """The most suspicious rows. Adding two merges them and keeps as many as are listed."""

    def __init__(self, results: RowResults) -> None:
        order = np.lexsort((results.number, -results.p_wrong))[:MOST_LISTED]
        super().__init__([RowResults(*(values[order] for values in results))])

    def __add__(self, other: Pieces) -> MostSuspicious:
        pairs = zip(self.items[0], other.items[0], strict=True)
        return MostSuspicious(RowResults(*(np.concatenate(pair) for pair in pairs)))
