"""The audit: everything that a fitted model has to say of the labels of some rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dataset.tree import Array
from ..estimators.latent import LatentLabelClassifier
from ..estimators.threads import one_blas_thread
from .careful_fit import careful_fit, sums_of
from .contradictions import contradictions
from .corrections import SUSPECT, Corrections, corrections, warnings_of_corrections
from .evidence import Evidence, evidence
from .impact import Impact, impact
from .intervals import Intervals, intervals, without_least
from .judged import Judged, judge, with_checks
from .noise_rate import LEAST_TOLD, NoiseRate, noise_rate
from .rules import ReviewCurve, Rule, review_curve, suspects
from .warnings import warnings_of

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 0.9


@dataclass(frozen=True, eq=False)
class Findings:
    """What `examine` found. Tables are data frames; the mislabeling matrix is [observed, true]."""

    classes: Array
    table: pd.DataFrame  # one row per example: given, suggested, p_wrong, p_suggested, corrected, suspect, verified
    rule: Rule
    rate: NoiseRate  # of wrong labels: a range, or from rows checked at random
    mislabel_matrix: Array  # (K, K)
    intervals: Intervals
    impact: Impact | None
    review: ReviewCurve
    warnings: list[str]
    judged: Judged
    contradictions: pd.DataFrame  # checked rows to look at again: given, suggested, p_wrong
    n_corrected: int  # labels that `corrected` changes unseen, verified ones not counted
    impact_reason: str  # why `impact` is None

    @property
    def noise_rate(self) -> float:
        return self.rate.estimate

    @property
    def suspects(self) -> pd.DataFrame:
        """The suspect rows, most suspicious first."""
        chosen = self.table[self.table["suspect"]]
        return chosen.sort_values("p_wrong", ascending=False, kind="stable")

    @property
    def by_class(self) -> pd.DataFrame:
        """For each label: rows that carry it, rows that should, and the share of wrong ones among the first."""
        import pandas as pd

        counts = self.judged.counts
        wrong = self.intervals.wrong_by_label
        return pd.DataFrame(
            {
                "label": self.classes,
                "given": counts.sum(axis=1),
                "true": counts.sum(axis=0),
                "wrong": wrong.estimate,
                "low": wrong.low,
                "high": wrong.high,
                "suspects": self._suspects_by(np.arange(len(self.classes))).sum(axis=1),
            }
        )

    @property
    def confused_pairs(self) -> pd.DataFrame:
        """Pairs of labels by the expected number of rows that carry the one and should carry the other."""
        import pandas as pd

        counts = self.judged.counts.copy()
        np.fill_diagonal(counts, 0.0)
        given, true = np.unravel_index(np.argsort(-counts, axis=None, kind="stable"), counts.shape)
        listed = self._suspects_by(np.arange(len(self.classes)))
        pairs = pd.DataFrame(
            {
                "given": self.classes[given],
                "true": self.classes[true],
                "rows": counts[given, true],
                "suspects": listed[given, true],
            }
        )
        return pairs[(pairs["rows"] >= 0.5) | (pairs["suspects"] > 0)].reset_index(drop=True)

    def evidence(self, rows: Any, most: int = 10) -> list[Evidence]:
        """Why the suggested label of each of `rows` (positions), against the given one."""
        rows = np.asarray(rows, dtype=np.intp)
        given = self.judged.observed[rows]
        if (given == len(self.classes)).any():
            row = rows[np.argmax(given == len(self.classes))]
            raise ValueError(f"row {row} has no label that anything could speak against; leave it out")
        return evidence(self.judged, rows, self._codes("suggested", rows), given, most)

    def _codes(self, column: str, rows: Array) -> Array:
        return np.asarray(
            np.searchsorted(self.classes, self.table[column].iloc[rows].to_numpy().astype(self.classes.dtype))
        )

    def _suspects_by(self, codes: Array) -> Array:
        """(K, K) number of suspects by given and suggested label."""
        rows = np.flatnonzero(self.table["suspect"].to_numpy())
        counts = np.zeros((len(codes), len(codes)), dtype=int)
        if len(rows):
            np.add.at(counts, (self.judged.observed[rows], self._codes("suggested", rows)), 1)
        return counts


@one_blas_thread
def examine(
    model: LatentLabelClassifier,
    X: Any,
    y: Any,
    *,
    new_rows: bool = False,
    verified: Any = None,
    verified_random: Any = None,
    precision: float | None = None,
    budget: int | None = None,
    level: float = LEVEL,
    draws: int | None = None,
    random_state: int = 0,
    progress: Callable[[str], None] | None = None,
) -> Findings:
    """Audit the labels y of the rows X with a fitted model.

    Rows of the model's own (robust) fit are judged without their own fold, and with the verified labels of the fit.
    new_rows : the rows are others; `verified` gives their true labels where they are known. verified_random : true
    labels of rows that were drawn at random, None or nan elsewhere. precision and budget choose the suspects (see
    Rule); intervals cover with probability `level`, from `draws` of a bootstrap.
    """
    tell = progress or (lambda stage: None)
    rule = Rule(precision, budget)
    rule.check()
    tell("judging the rows")
    judged = judge(model, X, y, verified, new_rows)
    if verified_random is not None:
        judged = with_checks(model, judged, verified_random)
    return findings_of(model, judged, rule, level, draws, random_state, tell)


def findings_of(
    model: LatentLabelClassifier,
    judged: Judged,
    rule: Rule,
    level: float,
    draws: int | None,
    seed: int,
    tell: Callable[[str], None],
) -> Findings:
    rng = np.random.default_rng(seed)
    tell("finding intervals")
    found = intervals(judged, level, draws, int(rng.integers(2**31)))
    tell("estimating the cost")
    cost, reason = impact(judged, found.mislabel_matrix, level, int(rng.integers(2**31)))
    careful = careful_fit(judged)
    sums = sums_of(judged, careful)
    if sums.wrong < LEAST_TOLD:
        found = without_least(found)
    corrected = corrections(judged, careful, sums)
    table, eligible = _table(judged, rule, corrected)
    doubtful = contradictions(judged)
    rate = noise_rate(judged, float(found.noise_rate.estimate), sums, level)
    n_changed = int((eligible & (corrected.label != judged.observed)).sum())
    doubts = warnings_of_corrections(judged, careful, sums, float(found.noise_rate.estimate), n_changed)
    return Findings(
        model.classes_,
        table,
        rule,
        rate,
        np.asarray(found.mislabel_matrix.estimate),
        found,
        cost,
        review_curve(judged.p_wrong, eligible),
        [*warnings_of(model, judged, doubtful.index.tolist()), *doubts],
        judged.without_copies(),
        doubtful,
        n_changed,
        reason,
    )


def _table(judged: Judged, rule: Rule, corrected: Corrections) -> tuple[pd.DataFrame, Array]:
    """The table of all rows, and which of them may be suspects."""
    import pandas as pd

    n, K = judged.n_rows, len(judged.classes)
    observed, p_wrong, rows = judged.observed, judged.p_wrong, judged.rows
    verified = np.zeros(n, dtype=bool) if judged.verified is None else judged.verified >= 0
    labeled = observed < K
    eligible = labeled & ~verified
    chosen = suspects(rule, p_wrong, corrected.suspicion > SUSPECT, eligible)
    # a suspect whose given label is still the most probable one gets the next best
    table = pd.DataFrame(
        {
            "given": _named(judged.classes, np.where(labeled, observed, -1)),
            "suggested": _named(judged.classes, np.where(chosen, rows.other, rows.best)),
            "p_wrong": p_wrong,
            "p_suggested": np.where(chosen, rows.p_other, rows.p_best),
            "corrected": _named(judged.classes, corrected.label),
            "suspect": chosen,
            "verified": verified,
        }
    )
    return table, eligible


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
