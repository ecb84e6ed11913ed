"""The audit of an ordinary table: the pool of `audit/`, and everything that is read off it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._threads import one_blas_thread
from ..audit.classifier import TableClassifier
from ..audit.columns import (
    LEAST_PROBABILITY,
    VECTORS,
    Array,
    Block,
    ColumnKinds,
    content_hash,
    log_probabilities,
    unit_vectors,
)
from ..audit.evidence import Evidence, largest, terms_of
from ..audit.group_rates import Checked, alpha, disagreement, group_records, opinion_record, wrong_labels
from ..audit.groups import log_evidence
from ..audit.pool import FOLDS, Given, Pool, fit_pool, folds_of
from ..audit.rates import LEAST_RATE, surely_wrong
from ..audit.rows import CORRECT, Results, Rule, read_off
from ..audit.verdicts import Opinion, Verdicts, with_p_wrong
from ..model.matrix import STRUCTURES, unidentified
from .columns import Columns
from .random_checks import NoClass, RandomChecks
from .row_table import RowTable
from .table_features import Features
from .warnings import general_warnings

if TYPE_CHECKING:
    from .findings import Findings
    from .given_inputs import GivenColumns
    from .group_columns import GroupedLabels
    from .streamed import StreamedTable

# Given probabilities that agree with more labels than this are doubted: right labels are rare.
_TOO_GOOD = 0.98

# Evidence that comes from what reviewers said of other rows.
OF_VERDICTS = "verdicts on other rows"

# A list that is a larger part of the rows is not a list of mistakes.
_MOST_LISTED = 0.3
_LONG_LIST = (
    "More than 30 % of the rows are listed: the columns may hardly distinguish the classes, or the labels may mean "
    "something else than the texts say. Review twenty rows of the list before you trust it."
)

RULE = (
    "a label is changed only if another one has a probability above 90 %, and none where labels that are all right "
    "could look the same"
)


class Contradictions(NamedTuple):
    """Rows whose given label was kept although it is most probably wrong, most probable first."""

    rows: Array  # positions
    given: Array  # labels
    suggested: Array  # labels
    p_wrong: Array  # without the verdict

    @property
    def columns(self) -> Columns:
        values = self._asdict()
        return Columns(rows=values.pop("rows"), values=values)


@dataclass(frozen=True, eq=False)
class PooledRows:
    """The rows of an audit, with their posterior."""

    classes: Array
    pool: Pool
    observed: Array  # (n,) codes; K where missing
    verified: Array  # (n,) codes; -1 where unknown
    columns: tuple[Block, ...]
    n_features: int
    seed: int = 0
    given: Given | None = None  # who gave the labels
    is_ordinal: bool = False  # labels on a scale
    checks: RandomChecks | None = None
    no_class: NoClass | None = None
    leaks: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    said: Opinion | None = None  # by the verdicts on some rows, of the others

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

    def row_numbers(self, rows: Array) -> Array:
        """Positions in the table."""
        return rows

    @cached_property
    def counts(self) -> Array:
        """(K, K) expected rows by observed and true label."""
        K = len(self.classes)
        return np.stack([np.bincount(self.observed, of_class, K + 1)[:K] for of_class in self.pool.posterior.T], axis=1)

    @cached_property
    def groups(self) -> list[dict[str, Any]]:
        """What is said of labelers, sources and the second opinion."""
        if self.given is None or not self.given.labels:
            return []
        labels, *opinions = self.given.labels
        of_labels, *of_opinions = wrong_labels(self.pool, self.given)
        names = [str(name) for name in self.classes.tolist()]
        checks = None if self.checks is None else Checked(self.checks.rows, self.checks.label)
        known = (self.pool.posterior, names, self.verified, checks, self.is_ordinal)
        return group_records(labels, of_labels, *known) + [
            opinion_record(opinion, wrong, labels, of_labels, *known)
            for opinion, wrong in zip(opinions, of_opinions, strict=True)
        ]

    @cached_property
    def agreement(self) -> dict[str, Any] | None:
        """Krippendorff's alpha of the labels, if rows have several."""
        if self.given is None or not self.given.several:
            return None
        labels = self.given.labels[0]
        n_rows = len(np.unique(labels.row))
        found, n = alpha(disagreement(labels.row, labels.value, self.is_ordinal)), len(labels.row)
        text = f"{n_rows:,} rows have {n:,} labels"
        text += "." if found is None else f"; Krippendorff's alpha is {found:.2f} (1 is perfect agreement, 0 chance)."
        return {"alpha": found, "n_labels": n, "n_rows": n_rows, "text": text}

    @property
    def has_verdicts(self) -> bool:
        return self.said is not None

    @property
    def unidentified_classes(self) -> Array:
        return unidentified(self.pool.mislabel) if len(self.classes) > 1 else np.empty(0, dtype=np.intp)

    def unverified(self, rows: Array) -> Array:
        """(m, K) the posterior of some rows, as if none were verified."""
        return self.pool.unverified(rows, self.observed[rows])

    def evidence(self, numbers: Array, suggested: Array, given: Array, most: int) -> list[Evidence]:
        """Why rows should have one class rather than another: what each column adds to the log-odds."""
        terms, together, by_features = terms_of(self.pool, self.columns, self.n_features, numbers, suggested, given)
        log_odds = _log_odds(self.pool.posterior[numbers], suggested, given)
        if self.has_verdicts:
            by_pool = self.pool.unverified(numbers, self.observed[numbers])
            together = {**together, OF_VERDICTS: log_odds - _log_odds(by_pool, suggested, given)}
            by_features = by_features + together[OF_VERDICTS]
        for name, values in self.opinions_on(numbers, suggested, given):
            together[name] = together.get(name, 0.0) + values
            by_features = by_features + values
        found = []
        for i, number in enumerate(numbers.tolist()):
            columns, weights = largest(terms, i, most)
            others = tuple((name, float(values[i])) for name, values in together.items() if values[i])
            rest = float(by_features[i] - weights.sum()) - sum(weight for _, weight in others)
            label = float(log_odds[i] - by_features[i])
            found.append(Evidence(number, columns, weights, rest, label, float(log_odds[i]), others))
        return found

    def opinions_on(self, rows: Array, first: Array, second: Array) -> Iterator[tuple[str, Array]]:
        """What each second opinion adds to the log-odds of class `first` against `second`."""
        if self.given is None:
            return
        pairs = list(zip(self.given.labels, self.pool.voices[0].habits, strict=True))
        for labels, habits in pairs[1:]:
            log_p, every = log_evidence([(labels, habits)], self.n_rows)[:, rows], np.arange(len(rows))
            yield f"second opinion {labels.name!r}", log_p[first, every] - log_p[second, every]


def _log_odds(posterior: Array, first: Array, second: Array) -> Array:
    every, p = np.arange(len(first)), np.maximum(posterior, LEAST_PROBABILITY)
    return np.asarray(np.log(p[every, first]) - np.log(p[every, second]))


@one_blas_thread
def pooled_rows(
    features: Features,
    given: GivenColumns,
    mislabel: str,
    seed: int,
    by: GroupedLabels,
    several: bool = False,
    no_class: NoClass | None = None,
    weight: Array | None = None,
) -> tuple[PooledRows, TableClassifier]:
    """The pool of a table, and what it learned for new rows. by : who gave the labels; several : of a row; weight :
    (n,) of the rows"""
    labels = features.labels
    K, n = len(labels.classes), len(labels.observed)
    verified = np.full(n, -1) if labels.verified is None else labels.verified.astype(np.intp)
    observed = labels.observed.astype(np.intp)
    of_labels = Given(observed, verified, K, weight, by.labels, several, by.fold_by)
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
    if not own and not others:  # labels only
        others.append(Block(VECTORS, np.zeros((n, 1), dtype=np.float32)))
    pool = fit_pool([*own, *others], of_labels, structure, seed)
    of_new_rows = fit_pool(own, of_labels, structure, seed) if own and others else pool
    pool, said = _with_verdicts(pool, of_labels, (*own, *others), no_class)
    rows = PooledRows(
        labels.classes, pool, of_labels.observed, verified,
        (*own, *others), features.X.shape[1], seed, of_labels, mislabel == "ordinal", no_class=no_class,
        warnings=(*_doubts(given.pred_probs, of_labels), *by.warnings), said=said,
    )  # fmt: skip
    rate = float(rows.p_wrong[rows.labeled].mean()) if rows.n_labeled else 0.0
    model = TableClassifier.of(of_new_rows, kinds, labels.classes, features.X.shape[1], rate)
    return rows, model if own else replace(model, experts=())


def _with_verdicts(
    pool: Pool, labels: Given, columns: Sequence[Block], no_class: NoClass | None
) -> tuple[Pool, Opinion | None]:
    """The pool with what the verdicts on some rows say of P(wrong) of the others."""
    given = labels.observed.copy()
    if no_class is not None:  # those whose class has no other rows say nothing
        given[no_class.rows] = np.where(no_class.given >= 0, no_class.given, labels.n_classes)
    is_none = np.zeros(len(given), dtype=bool) if no_class is None else np.isin(np.arange(len(given)), no_class.rows)
    seen = np.flatnonzero(((labels.verified >= 0) | is_none) & (given < labels.n_classes))
    if not len(seen) or labels.n_classes == 1:
        return pool, None
    posterior = pool.posterior.copy()
    posterior[seen] = pool.unverified(seen, given[seen])
    said = Opinion.learned(posterior, given, columns, Verdicts(seen, labels.verified[seen] != given[seen]))
    others = np.flatnonzero((labels.verified < 0) & (labels.observed < labels.n_classes))
    p_wrong = said.p_wrong(posterior, given, columns)
    return pool._replace(posterior=with_p_wrong(pool.posterior, labels.observed, p_wrong, others)), said


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
    """Everything is read off the posterior."""
    reason = why_not_corrected(rows)
    may_correct = not reason and not len(rows.unidentified_classes)
    results = read_off(rows.pool.posterior, rows.classes, rows.observed, rows.verified, rule.budget, may_correct)
    return findings_from(rows, RowTable(results, _changed(results)), rule, reason)


def findings_from(rows: PooledRows, table: RowTable | StreamedTable, rule: Rule, reason: str) -> Findings:
    """reason : why no label is corrected, if there is one to tell"""
    from .findings import Findings, known_rate, matrix_of

    rate, contradicted = known_rate(rows), _contradictions(rows)
    messages = [*rows.leaks, *rows.warnings]
    messages += general_warnings(rows, rows.pool.explained, contradicted.rows.tolist())
    long_list = [_LONG_LIST] if table.n_suspects > _MOST_LISTED * max(rows.n_labeled, 1) else []
    return Findings(
        rows.classes, table, rule, rate, matrix_of(rows.counts), [*long_list, *messages, *([reason] if reason else [])],
        rows, contradicted, table.n_changed,
    )  # fmt: skip


def why_not_corrected(rows: PooledRows) -> str:
    """Labels are corrected only where it is certain that some are wrong."""
    from .findings import known_rate

    if len(rows.unidentified_classes):  # a warning says so
        return ""
    rate = known_rate(rows)
    unverified = np.flatnonzero(rows.labeled & (rows.verified < 0))
    if len(rows.classes) == 1 or not len(unverified) or rate.estimate == 0:
        return ""
    if rate.random is not None and rate.random.low >= LEAST_RATE:
        return ""
    if rate.estimate >= LEAST_RATE and surely_wrong(rows.pool, rows.observed, unverified, rows.seed) >= LEAST_RATE:
        return ""
    return (
        "Labels that are all right could look the same, so no label is corrected. Review the first rows of the list, "
        "or check 50 random rows."
    )


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
