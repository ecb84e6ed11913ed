"""The audit: everything that a fitted model finds out about the labels of some rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dataset.tree import Array
from ..estimators.latent import LatentLabelModel
from ..estimators.threads import one_blas_thread
from .array_checks import with_checks
from .columns import Columns
from .conservative_fit import conservative_fit, conservative_means, label_problem
from .contradictions import Contradictions, contradictions
from .corrections import correction_warnings, corrector
from .evidence import Evidence, evidence
from .hedging import hedged
from .intervals import Intervals, intervals, without_lower_ends
from .judged import Judged, judge
from .noise_rate import MIN_DETECTABLE_RATE, NoiseRate, noise_rate
from .pooled import PooledRows
from .row_table import RowTable
from .rules import ReviewCurve, Rule
from .warnings import audit_warnings

if TYPE_CHECKING:
    import pandas as pd

    from ..estimators.classifier import LatentLabelClassifier
    from .streamed import StreamedTable

# Coverage of the intervals.
LEVEL = 0.9
# Minimum expected rows of a reported pair of labels.
_MIN_ROWS = 0.5


@dataclass(frozen=True, eq=False)
class Findings:
    """The results of `examine`. Tables are pandas data frames; the mislabeling matrix is [observed, true]."""

    classes: Array
    rows: RowTable | StreamedTable  # results for single rows
    rule: Rule
    rate: NoiseRate  # of wrong labels: a range, or from rows checked at random
    mislabel_matrix: Array  # (K, K)
    intervals: Intervals
    warnings: list[str]
    judged: Judged | PooledRows
    contradicted: Contradictions  # checked rows to look at again
    n_corrected: int  # number of labels changed in `corrected`, without verified ones

    @property
    def noise_rate(self) -> float:
        return self.rate.estimate

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row per example: given, suggested, p_wrong, p_suggested, corrected, suspect, verified."""
        return self.rows.table.to_pandas()

    @property
    def suspects(self) -> pd.DataFrame:
        """The suspect rows, most suspicious first; of a large table, only those that are listed."""
        return self.rows.suspects.to_pandas()

    @property
    def review(self) -> ReviewCurve:
        return self.rows.review

    @property
    def contradictions(self) -> pd.DataFrame:
        """Checked rows to look at again: given, suggested, p_wrong."""
        return self.contradicted.columns.to_pandas()

    @property
    def by_class(self) -> pd.DataFrame:
        """For each label: rows that have it, rows that should have it, and the share of wrong ones among the former."""
        return self.class_columns.to_pandas()

    @property
    def class_columns(self) -> Columns:
        counts = self.judged.counts
        wrong = self.intervals.wrong_by_label
        return Columns(
            {
                "label": self.classes,
                "given": counts.sum(axis=1),
                "true": counts.sum(axis=0),
                "wrong": wrong.estimate,
                **({} if wrong.low is None else {"low": wrong.low, "high": wrong.high}),
                "suspects": self.rows.suspects_by.sum(axis=1),
            }
        )

    @property
    def confused_pairs(self) -> pd.DataFrame:
        """Pairs of labels by the expected number of rows that have one and should have the other."""
        return self.pair_columns.to_pandas()

    @property
    def pair_columns(self) -> Columns:
        counts = self.judged.counts.copy()
        np.fill_diagonal(counts, 0.0)
        given, true = np.unravel_index(np.argsort(-counts, axis=None, kind="stable"), counts.shape)
        n_suspects = self.rows.suspects_by
        is_shown = (counts[given, true] >= _MIN_ROWS) | (n_suspects[given, true] > 0)
        given, true = given[is_shown], true[is_shown]
        return Columns(
            {
                "given": self.classes[given],
                "true": self.classes[true],
                "rows": counts[given, true],
                "suspects": n_suspects[given, true],
            }
        )

    def evidence(self, rows: Any, most: int = 10) -> list[Evidence]:
        """The evidence for the suggested label against the given one, for each of `rows` (positions)."""
        rows = np.asarray(rows, dtype=np.intp)
        given, suggested = self.rows.labels_of(rows)
        if isinstance(self.judged, PooledRows):
            return self.judged.evidence(rows, suggested, given, most)
        return evidence(self.judged, rows, suggested, given, most)


def examine(
    model: LatentLabelClassifier,
    X: Any,
    y: Any,
    *,
    new_rows: bool = False,
    verified: Any = None,
    verified_random: Any = None,
    budget: int | None = None,
    draws: int | None = None,
    random_state: int = 0,
    progress: Callable[[str], None] | None = None,
) -> Findings:
    """Audit the labels y of the rows X with a fitted model.

    Rows of the model's (robust) fit are scored out of fold, with the verified labels of the fit. new_rows : the rows
    were not part of the fit; `verified` has their true labels where known. verified_random : true labels of rows
    drawn at random ("no_class" if none applies), None or nan elsewhere. budget : number of suspects (see Rule).
    draws : of the bootstrap of the intervals
    """
    report = progress or (lambda stage: None)
    rule = Rule(budget)
    rule.check()
    report("scoring the rows")
    judged = judge(model, X, y, verified, new_rows)
    if verified_random is not None:
        judged = with_checks(model, judged, verified_random)
    return findings_of(model, judged, rule, draws, random_state, report)


@one_blas_thread
def findings_of(
    model: LatentLabelModel,
    judged: Judged,
    rule: Rule,
    draws: int | None,
    seed: int,
    report: Callable[[str], None],
) -> Findings:
    rng = np.random.default_rng(seed)
    report("computing intervals")
    estimates = intervals(judged, LEVEL, draws, int(rng.integers(2**31)))
    problem = label_problem(judged)
    conservative = conservative_fit(judged, problem)
    means = conservative_means(judged, conservative)
    if means.wrong < MIN_DETECTABLE_RATE:
        estimates = without_lower_ends(estimates)
    hedged_rows = hedged(judged, problem)
    correct = corrector(hedged_rows, conservative, means)
    rows = RowTable.of(hedged_rows, rule, correct)
    contradicted = contradictions(judged)
    estimate = float(estimates.noise_rate.estimate)
    rate = noise_rate(judged, estimate, means, LEVEL)
    of_corrections = correction_warnings(judged, conservative, means, estimate, rows.n_changed)
    return Findings(
        model.classes_,
        rows,
        rule,
        rate,
        np.asarray(estimates.mislabel_matrix.estimate),
        estimates,
        [*audit_warnings(model, judged, contradicted.rows.tolist()), *of_corrections],
        judged.without_copies(),
        contradicted,
        rows.n_changed,
    )
