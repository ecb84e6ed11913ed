"""The audit: everything that a fitted model finds out about the labels of some rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..audit.columns import Array
from ..audit.evidence import Evidence
from ..audit.rates import Rate, counted, rate_of
from ..audit.rows import Rule
from .columns import Columns
from .pooled import Contradictions, PooledRows
from .row_table import RowTable

if TYPE_CHECKING:
    import pandas as pd

    from .streamed import StreamedTable

# Minimum expected rows of a reported pair of labels.
_MIN_ROWS = 0.5


@dataclass(frozen=True, eq=False)
class Findings:
    """Tables are pandas data frames; the mislabeling matrix is [observed, true]."""

    classes: Array
    rows: RowTable | StreamedTable  # results for single rows
    rule: Rule
    rate: Rate  # of wrong labels
    mislabel_matrix: Array  # (K, K) expected counts, as shares of the true classes
    warnings: list[str]
    judged: PooledRows
    contradicted: Contradictions  # checked rows to look at again
    n_corrected: int  # number of labels changed in `corrected`, without verified ones

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row per example: given, suggested, p_wrong, p_suggested, corrected, suspect, verified."""
        return self.rows.table.to_pandas()

    @property
    def suspects(self) -> pd.DataFrame:
        """The suspect rows, most suspicious first; of a large table, only those that are listed."""
        return self.rows.suspects.to_pandas()

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
        given = counts.sum(axis=1)
        return Columns(
            {
                "label": self.classes,
                "given": given,
                "true": counts.sum(axis=0),
                "wrong": 1.0 - np.diag(counts) / np.maximum(given, 1e-300),
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
        return self.judged.evidence(rows, suggested, given, most)


def matrix_of(counts: Array) -> Array:
    """(K, K) P(observed | true) of expected counts; the only class of a table gets its own label."""
    if len(counts) == 1:
        return np.ones((1, 1))
    return np.asarray(counts / np.where(counts.sum(axis=0) > 0, counts.sum(axis=0), 1.0))


def known_rate(judged: PooledRows) -> Rate:
    """What is known of the share of wrong labels. A row of no class has a wrong label."""
    counts = judged.counts
    estimate = float(1.0 - np.trace(counts) / max(counts.sum(), 1e-300)) if judged.n_labeled else 0.0
    assert judged.observed is not None
    n = len(judged.observed)
    is_wrong, is_random = np.full(n, -1), np.zeros(n, dtype=bool)
    if judged.verified is not None:
        known = np.flatnonzero((judged.verified >= 0) & (judged.observed < len(judged.classes)))
        is_wrong[known] = judged.verified[known] != judged.observed[known]
    strata = None if judged.checks is None else judged.checks.strata
    if judged.checks is not None:
        rows = judged.checks.rows
        is_wrong[rows], is_random[rows] = judged.checks.label != judged.observed[rows], True
    n_none = 0 if judged.no_class is None else len(judged.no_class.rows)
    if judged.no_class is not None:
        is_wrong[judged.no_class.rows], is_random[judged.no_class.rows] = 1, judged.no_class.drawn
    n_labels, drawn = judged.n_labeled + n_none, (is_wrong >= 0) & is_random
    of_strata = () if strata is None else (strata[drawn], np.bincount(strata))
    random = counted(is_wrong[drawn], n_labels, *of_strata)
    return rate_of(estimate, random, counted(is_wrong[(is_wrong >= 0) & ~is_random], n_labels))
