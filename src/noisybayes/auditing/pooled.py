"""The audit of an ordinary table: the pool of `audit/`, and everything that is read off it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from .._shares import whole_percent
from ..audit.classifier import TableClassifier
from ..audit.columns import LEAST_PROBABILITY, Block, ColumnKinds, content_hash, log_probabilities, unit_vectors
from ..audit.evidence import terms_of
from ..audit.pool import FOLDS, Given, Pool, fit_pool, folds_of
from ..audit.rows import CORRECT, LEAST_RATE, Results, read_off
from ..dataset.tree import Array
from ..estimators.threads import one_blas_thread
from ..model.mislabel import unidentified
from ..model.structures import STRUCTURES
from .contradictions import Contradictions
from .evidence import Evidence, largest
from .intervals import Interval, Intervals
from .judged import NoClass, RandomChecks
from .noise_rate import NoiseRate, counted_rate
from .row_table import RowTable
from .rules import ReviewCurve, Rule
from .table_features import Features
from .warnings import general_warnings

if TYPE_CHECKING:
    from .findings import Findings
    from .given_inputs import GivenColumns
    from .streamed import StreamedTable

# Given probabilities that agree with more labels than this are doubted: right labels are rare.
_TOO_GOOD = 0.98

RULE = "a label is changed only if another one has a probability above 90 %, and none if fewer than 5 % look wrong"


@dataclass(frozen=True, eq=False)
class PooledRows:
    """The rows of an audit, with their posterior."""

    classes: Array
    pool: Pool
    observed: Array  # (n,) codes; K where missing
    verified: Array  # (n,) codes; -1 where unknown
    columns: tuple[Block, ...]
    n_features: int
    checks: RandomChecks | None = None
    no_class: NoClass | None = None
    leaks: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    # what an audit of an ordinary table has none of
    opinion = labelers = groups = agreement = None
    sources = ()
    out_of_fold = True

    @property
    def n_rows(self) -> int:
        return len(self.observed)

    @cached_property
    def labeled(self) -> Array:
        """(n,) bool"""
        return np.asarray(self.observed < len(self.classes))

    @property
    def n_labeled(self) -> int:
        return int(self.labeled.sum())

    @property
    def experts(self) -> tuple[str, ...]:
        return self.pool.experts

    @cached_property
    def p_wrong(self) -> Array:
        """(n,); 0 where the label is missing"""
        found, there = np.zeros(self.n_rows), np.flatnonzero(self.labeled)
        found[there] = 1.0 - self.pool.posterior[there, self.observed[there]]
        return np.clip(found, 0.0, 1.0)

    @property
    def share(self) -> float:
        """Mean P(wrong) of the labels."""
        return float(self.p_wrong[self.labeled].mean()) if self.n_labeled else 0.0

    def row_numbers(self, rows: Array) -> Array:
        """Positions in the table."""
        return rows

    @cached_property
    def counts(self) -> Array:
        """(K, K) expected rows by observed and true label."""
        K = len(self.classes)
        return np.stack([np.bincount(self.observed, of_class, K + 1)[:K] for of_class in self.pool.posterior.T], axis=1)

    @property
    def unidentified_classes(self) -> Array:
        return unidentified(self.pool.mislabel) if len(self.classes) > 1 else np.empty(0, dtype=np.intp)

    def unverified(self, rows: Array) -> Array:
        """(m, K) the posterior of some rows, as if none were verified."""
        return self.pool.unverified(rows, self.observed[rows])

    def evidence(self, numbers: Array, suggested: Array, given: Array, most: int) -> list[Evidence]:
        """Why rows should have one class rather than another: what each column adds to the log-odds."""
        terms, together, by_features = terms_of(self.pool, self.columns, self.n_features, numbers, suggested, given)
        every, true = np.arange(len(numbers)), np.maximum(self.pool.posterior[numbers], LEAST_PROBABILITY)
        log_odds = np.log(true[every, suggested]) - np.log(true[every, given])
        found = []
        for i, number in enumerate(numbers.tolist()):
            columns, weights = largest(terms, i, most)
            others = tuple((name, float(values[i])) for name, values in together.items())
            rest = float(by_features[i] - weights.sum()) - sum(weight for _, weight in others)
            label = float(log_odds[i] - by_features[i])
            found.append(Evidence(number, columns, weights, rest, label, float(log_odds[i]), others))
        return found


@one_blas_thread
def pooled_rows(
    features: Features, given: GivenColumns, mislabel: str, seed: int, weight: Array | None = None
) -> tuple[PooledRows, TableClassifier]:
    """The pool of a table, and what it learned for new rows. weight : (n,) of the rows"""
    labels = features.labels
    K, n = len(labels.classes), len(labels.observed)
    verified = np.full(n, -1) if labels.verified is None else labels.verified.astype(np.intp)
    of_labels = Given(labels.observed.astype(np.intp), verified, K, weight)
    structure = STRUCTURES[mislabel].for_classes(0.0, labels.classes)
    blocks = features.recipe.blocks
    kinds = ColumnKinds.fit(blocks, features.X)
    own = kinds(features.X) if blocks else []
    others: list[Block] = []
    if given.embeddings is not None:
        others.append(unit_vectors(given.embeddings))
    if given.pred_probs is not None:
        others.append(log_probabilities(given.pred_probs))
    if given.estimator is not None:
        fold = folds_of(content_hash(own or others, seed), of_labels, FOLDS)
        others.append(log_probabilities(given.estimator(of_labels, fold)))
    pool = fit_pool([*own, *others], of_labels, structure, seed)
    rows = PooledRows(
        labels.classes, pool, of_labels.observed, verified, (*own, *others), features.X.shape[1],
        warnings=_doubts(given.pred_probs, of_labels),
    )  # fmt: skip
    of_new_rows = fit_pool(own, of_labels, structure, seed) if own and others else pool
    rate = float(rows.p_wrong[rows.labeled].mean()) if rows.n_labeled else 0.0
    model = TableClassifier.of(of_new_rows, kinds, labels.classes, features.X.shape[1], rate)
    return rows, model if own else replace(model, experts=())


def _doubts(pred_probs: Array | None, labels: Given) -> tuple[str, ...]:
    """In-sample probabilities agree with the labels they were trained on, right or wrong."""
    there = np.flatnonzero(labels.observed < labels.n_classes)
    if pred_probs is None or not len(there) or labels.n_classes == 1:
        return ()
    agree = float((pred_probs[there].argmax(axis=1) == labels.observed[there]).mean())
    if agree < _TOO_GOOD:
        return ()
    return (
        f"The given probabilities agree with {agree:.1%} of the labels: either hardly any label is wrong, or they come "
        "from a model trained on the same labels. Use out-of-sample probabilities, such as those of "
        "sklearn.model_selection.cross_val_predict.",
    )


@one_blas_thread
def findings_of_pool(rows: PooledRows, rule: Rule) -> Findings:
    """Everything is read off the posterior; what labels and features cannot say is left out."""
    may_correct = rows.share >= LEAST_RATE and not len(rows.unidentified_classes)
    results = read_off(rows.pool.posterior, rows.classes, rows.observed, rows.verified, rule.budget, may_correct)
    return findings_from(rows, RowTable(results, NO_CURVE, _changed(results)), rule)


#: What to expect of reviewing the first rows is not known without checks.
NO_CURVE = ReviewCurve(*(np.zeros(0) for _ in range(3)))


def findings_from(rows: PooledRows, table: RowTable | StreamedTable, rule: Rule) -> Findings:
    from .findings import Findings

    K, counts, share = len(rows.classes), rows.counts, rows.share
    n_labels = rows.n_labeled + (0 if rows.no_class is None else len(rows.no_class.rows))
    rate = counted_rate(rows.checks, rows.no_class, rows.observed, n_labels)
    by_label = 1.0 - np.diag(counts) / np.maximum(counts.sum(axis=1), 1e-300)
    if rate is None:
        none = 0.0 if rows.no_class is None else len(rows.no_class.rows)
        estimate = (share * rows.n_labeled + none) / max(n_labels, 1)
        rate = NoiseRate(estimate, None, None, None, 0, "mean P(wrong)")
    matrix = counts / np.where(counts.sum(axis=0) > 0, counts.sum(axis=0), 1.0) if K > 1 else np.ones((1, 1))
    contradicted = _contradictions(rows)
    messages = [*rows.leaks, *rows.warnings]
    messages += general_warnings(rows, rows.pool.explained, contradicted.rows.tolist())
    if 0 < share < LEAST_RATE and K > 1:
        messages.append(
            f"Only {whole_percent(share)} of the labels look wrong, and clean labels look the same: no label is "
            "corrected. Check some of the suspects before you change anything."
        )
    unknown = Intervals(None, "none", *(Interval(value, None, None) for value in (matrix, np.asarray(share), by_label)))
    return Findings(
        rows.classes, table, rule, rate, matrix, unknown, messages, rows, contradicted, table.n_changed
    )  # fmt: skip


def _changed(results: Results) -> int:
    corrected = ~results.verified & (results.observed < len(results.classes))
    return int((corrected & (results.corrected != results.observed)).sum())


def _contradictions(rows: PooledRows) -> Contradictions:
    """Rows whose label was kept although it is most probably wrong: reviewers make mistakes too."""
    kept = np.flatnonzero((rows.verified >= 0) & (rows.verified == rows.observed))
    if not len(kept) or len(rows.classes) == 1:
        empty = rows.classes[:0]
        return Contradictions(np.zeros(0, dtype=np.intp), empty, empty, np.zeros(0))
    p, given = rows.unverified(kept), rows.observed[kept]
    p_wrong = 1.0 - p[np.arange(len(kept)), given]
    p[np.arange(len(kept)), given] = -1.0
    listed = np.flatnonzero(p_wrong > CORRECT)
    listed = listed[np.lexsort((kept[listed], -p_wrong[listed]))]
    suggested = rows.classes[p[listed].argmax(axis=1)]
    return Contradictions(rows.row_numbers(kept[listed]), rows.classes[given[listed]], suggested, p_wrong[listed])
