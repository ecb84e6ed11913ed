"""A second opinion: another column of labels, from an old model, rules or other people.

It is one more labeler with its own mislabeling matrix, not a feature: given the true label, it is independent of the
given label and the columns. So its weight does not depend on how well it predicts the given labels, whose mistakes it
may repeat; both matrices are fitted jointly, by EM over the true labels:

    P(label l, opinion m | x) = sum_k P(true = k | x) mislabel[l, k] opinion[m, k]

P(true | x) stays that of the fit. An opinion may have other values than the labels (such as "unknown") and may be
missing. A row is scored with the matrix that was estimated without its fold.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from scipy.special import chdtri

from .._shares import percent
from ..data.errors import InputError
from ..data.roles import label_texts
from ..dataset.tree import Array
from ..robust.calibration import matrix_of
from ..robust.label_weights import ByNumber
from ..robust.recalibration import pin_verified
from .conservative_fit import scores_of_all
from .judged import Judged, Opinion
from .option_checks import check_method
from .row_evidence import RowEvidence, judged_with
from .table import Table

if TYPE_CHECKING:
    from .table_fit import FitOptions

# Pseudo-rows that shrink each column of the opinion's matrix to its overall shares, as for the matrix of the labels.
_PSEUDO_ROWS = 10.0
# Maximum number of EM iterations, and the gain per row, in nats, below which EM stops.
_ROUNDS, _TOLERANCE = 500, 1e-7
# Significance level: an opinion that does not depend on the true label at this level is left out.
_CHANCE = 0.01
# An opinion that agrees with this share of the labels may be derived from them, if the columns mispredict this many
# times as many labels as it contradicts.
_TOO_GOOD, _TIMES_WORSE = 0.98, 4.0
# A column with more distinct values is not an opinion on a few classes.
_MOST_VALUES = 1_000


class _Codes(NamedTuple):
    values: tuple[str, ...]  # its values: first the classes, then any others
    said: Array  # (n,) codes; L where missing


def check_opinion(table: Table, options: FitOptions) -> None:
    if table.roles.second_opinion is None:
        return
    check_method("a second opinion", options)


def join_opinion(judged: Judged, table: Table, missing_label: str | None) -> tuple[Judged, tuple[str, ...]]:
    """The fit with the second opinion, and messages about it."""
    column = table.roles.second_opinion
    if column is None:
        return judged, ()
    assert isinstance(table.source, pl.DataFrame)
    opinion = _codes(label_texts(table.source[column], missing_label), judged.classes, column)
    if judged.training is None:
        return judged, ("there are too few rows for a second opinion, so it was left out",)
    assert judged.observed is not None
    agreement = _agreement(judged, opinion, column)
    problem = _Problem.of(judged, opinion)
    if not problem.beyond_chance():
        return judged, (f"the second opinion {column!r} carries no information about the true labels and was left out",)
    found = problem.solved()
    summary = Opinion(
        column, opinion.values, found.opinion, problem.error_rate(found), agreement,
        int((opinion.said < len(opinion.values)).sum()),
    )  # fmt: skip
    note = f"second opinion: {column!r} (estimated to be wrong in {percent(summary.error_rate)} of its rows)"
    return _joined(judged, opinion, problem, found, summary), (note,)


def _codes(texts: pl.Series, classes: Array, column: str) -> _Codes:
    names = [str(name) for name in classes.tolist()]
    alike = {name.casefold(): name for name in reversed(names)}
    said = [None if text is None else (text if text in names else alike.get(text.casefold(), text)) for text in texts]
    others = sorted({text for text in said if text is not None} - set(names))
    if not any(text is not None for text in said):
        raise InputError(f"--second-opinion: the column {column!r} is empty in every row")
    if len(others) > max(_MOST_VALUES, len(said) // 2) or (len(others) > 20 and 2 * len(others) > len(said)):
        raise InputError(
            f"--second-opinion: the column {column!r} has {len(others)} distinct values that are not labels, and looks "
            "like a text or an identifier"
        )
    values = (*names, *others)
    code_of = {name: code for code, name in enumerate(values)}
    return _Codes(values, np.array([len(values) if text is None else code_of[text] for text in said]))


def _agreement(judged: Judged, opinion: _Codes, column: str) -> float:
    """Share of the labels that the opinion repeats; a copy of all of them is refused."""
    assert judged.observed is not None
    both = np.flatnonzero((judged.observed < len(judged.classes)) & (opinion.said < len(opinion.values)))
    if not len(both):
        raise InputError(f"--second-opinion: no row has both a label and an opinion in the column {column!r}")
    agreement = float((judged.observed[both] == opinion.said[both]).mean())
    if agreement == 1.0:
        raise InputError(
            f"--second-opinion: the column {column!r} repeats the label in every row; a copy is not an "
            "independent opinion, so leave it out"
        )
    return agreement


class _Matrices(NamedTuple):
    mislabel: Array  # (K, K)
    opinion: Array  # (L, K) P(opinion m | true k)
    true: Array  # (n, K) P(true | x, label, opinion)


@dataclass(frozen=True)
class _Problem:
    scores: Array  # (n, K) log P(true | x)
    observed: Array
    verified: Array | None
    said: Array
    n_values: int
    fold: Array
    start: Array  # (K, K)
    structure: Any

    @classmethod
    def of(cls, judged: Judged, opinion: _Codes) -> _Problem:
        assert judged.training is not None
        assert judged.observed is not None
        scores = scores_of_all(judged)
        assert judged.data.folds is not None
        return cls(
            scores, judged.observed, judged.verified, opinion.said, len(opinion.values),
            judged.data.folds.of(np.arange(judged.n_rows)), judged.fitted.calibration.mislabel[0],
            judged.training.robust_fit.problem.structure,
        )  # fmt: skip

    def beyond_chance(self) -> bool:
        """Whether the opinion depends on the true label estimated without it: a likelihood-ratio test."""
        true, _ = self._expected(self.start, np.ones((self.n_values, len(self.start))))
        counts = self._opinion_counts(true)
        total = counts.sum()
        expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / max(total, 1e-300)
        with np.errstate(divide="ignore", invalid="ignore"):
            gain = 2.0 * np.nansum(np.where(counts > 0, counts * np.log(counts / expected), 0.0))
        freedom = (max(int((counts.sum(axis=1) > 0).sum()), 1) - 1) * (counts.shape[1] - 1)
        return freedom > 0 and bool(gain > chdtri(freedom, _CHANCE))

    def solved(self) -> _Matrices:
        K = len(self.start)
        mislabel, opinion, true, last = self.start, np.ones((self.n_values, K)), self.scores, -np.inf
        for _ in range(_ROUNDS):
            true, height = self._expected(mislabel, opinion)
            if height - last < _TOLERANCE and last > -np.inf:
                break
            last = height if (opinion < 1).any() else -np.inf  # the first iteration ignores the opinion
            mislabel = matrix_of(_sums(self.observed, true, K)[None], self.structure)[0]
            opinion = _steadied(self._opinion_counts(true))
        return _Matrices(mislabel, opinion, true)

    def log_evidence(self, found: _Matrices) -> Array:
        """(n, K) what the opinion adds to log P(true), by the out-of-fold matrix; 0 without an opinion."""
        total, evidence = self._opinion_counts(found.true), np.zeros_like(self.scores)
        for fold in np.unique(self.fold).tolist():
            here = np.flatnonzero((self.fold == fold) & (self.said < self.n_values))
            without = np.maximum(total - _sums(self.said[here], found.true[here], self.n_values), 0.0)
            evidence[here] = np.log(_steadied(without))[self.said[here]]
        return np.asarray(evidence - evidence.mean(axis=1, keepdims=True))

    def error_rate(self, found: _Matrices) -> float:
        """Share of the rows with an opinion where it is not the true label."""
        there = np.flatnonzero(self.said < self.n_values)
        is_label = self.said[there] < found.true.shape[1]
        right = found.true[there[is_label], self.said[there[is_label]]]
        return float(1.0 - right.sum() / len(there))

    def predicted(self) -> float:
        """Share of the labels that the columns predict."""
        there = np.flatnonzero(self.observed < self.scores.shape[1])
        return float((self.scores[there].argmax(axis=1) == self.observed[there]).mean())

    def _opinion_counts(self, true: Array) -> Array:
        return _sums(self.said, true, self.n_values)

    def _expected(self, mislabel: Array, opinion: Array) -> tuple[Array, float]:
        """P(true | everything), and the mean log-likelihood of labels and opinions."""
        joint = self.scores - self.scores.max(axis=1, keepdims=True)
        joint = joint - np.log(np.exp(joint).sum(axis=1, keepdims=True))
        joint += np.log(np.vstack([mislabel, np.ones(len(mislabel))]) + 1e-300)[self.observed]
        joint += np.log(np.vstack([opinion, np.ones(len(mislabel))]) + 1e-300)[self.said]
        top = joint.max(axis=1, keepdims=True)
        true = np.exp(joint - top)
        total = true.sum(axis=1, keepdims=True)
        return pin_verified(true / total, self.verified), float((np.log(total) + top).mean())


def _sums(codes: Array, true: Array, n_codes: int) -> Array:
    """(n_codes, K) sums of P(true) over the rows with each code; rows without one are left out."""
    sums = np.zeros((n_codes + 1, true.shape[1]))
    np.add.at(sums, codes, true)
    return sums[:-1]


def _steadied(counts: Array) -> Array:
    """(L, K) P(opinion | true)"""
    overall = counts.sum(axis=1, keepdims=True) + 1e-3
    drawn = counts + _PSEUDO_ROWS * overall / overall.sum()
    return np.asarray(drawn / drawn.sum(axis=0))


def _joined(judged: Judged, codes: _Codes, problem: _Problem, found: _Matrices, summary: Opinion) -> Judged:
    words = tuple(f"second opinion: {value}" for value in codes.values)
    evidence = RowEvidence(ByNumber(problem.log_evidence(found)), ByNumber(codes.said), words)
    joined = judged_with(judged, evidence, found.mislabel)
    return replace(joined, opinion=summary, warnings=(*joined.warnings, *_warnings(summary, problem.predicted())))


def _warnings(summary: Opinion, predicted: float) -> tuple[str, ...]:
    if summary.agreement < _TOO_GOOD or 1.0 - predicted < _TIMES_WORSE * (1.0 - summary.agreement):
        return ()
    return (
        f"The second opinion {summary.column!r} repeats {percent(summary.agreement)} of the labels. If it was "
        "derived from them, or they from it, it repeats their mistakes and hides them. Use an opinion that is "
        "independent of the labels.",
    )
