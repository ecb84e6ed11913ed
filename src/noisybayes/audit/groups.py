"""Who or what gave a label: a labeler, a channel, a week, a model. One model for all of them.

A group is a level of a column, and its labels have a mislabeling matrix of their own: the common one, whose entries off
the diagonal are multiplied by factors that are shrunk to 1 (`shrunken`), from coarse to fine:

    P(label l | true k, group) = mislabel[l, k] * often * of_label[l] * of_class[k] * of_pair[l, k],    l != k

Each factor is a ratio of observed to expected counts with a gamma prior, whose strength is that of the highest
marginal likelihood: groups that are alike get the common matrix. Further columns change how often labels are wrong.
A second opinion is a set of labels with a matrix of its own. A row may have any number of labels: given the true one
they are independent (Dawid and Skene 1979), and the scores of the row's features are its prior.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import gammaln

from ..model.matrix import Full
from .readings import estimate, log_softmax

Array = NDArray[Any]

# Strengths that are tried: pseudo-counts of the expectation. Infinite: all groups are alike.
_STRENGTHS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, np.inf)
# Entries of all matrices; with more labelers and classes, groups have odds of being wrong only.
_MOST_ENTRIES = 4_000_000
# Ratios whose strength is looked for; more do not change it.
_MOST_RATIOS = 20_000
# No group is wrong in more of the rows of a class: its matrix would contain zeros.
_MOST_WRONG = 0.99
# Pseudo-rows that shrink each column of an opinion's matrix to its overall shares, as for the labels.
_PSEUDO_ROWS = 10.0
# Rounds of EM on all rows, until a round gains less than this many nats a row.
_ROUNDS, _TOLERANCE = 30, 1e-4
# Where the vote on rows begins: labels are mostly right.
_START_DIAGONAL = 0.8

#: (K, K) counts by label and true class -> P(label | true)
Estimate = Callable[[Array], Array]


class Column(NamedTuple):
    """Who gave each label."""

    name: str
    kind: str  # "labeler" or "source"
    levels: tuple[str, ...]
    code: Array  # (m,) of each label; len(levels) where it is not known
    is_ordered: bool = False  # times and numbers


class Labels(NamedTuple):
    """Labels of rows: one each, none or several."""

    row: Array  # (m,) ascending
    value: Array  # (m,) codes; the first are those of the classes
    n_values: int
    columns: tuple[Column, ...] = ()
    name: str = ""  # of the column of a second opinion

    def taken(self, chosen: Array, row: Array) -> Labels:
        columns = tuple(each._replace(code=each.code[chosen]) for each in self.columns)
        return self._replace(row=row, value=self.value[chosen], columns=columns)

    def at(self, rows: Array) -> Labels:
        """With columns of rows instead of labels. rows : (m,) the row of each label"""
        return self._replace(columns=tuple(each._replace(code=each.code[rows]) for each in self.columns))

    def of_rows(self, rows: Array, n_rows: int) -> Labels:
        """Those of some rows, which are numbered in this order."""
        place = np.full(n_rows, -1, dtype=np.intp)
        place[rows] = np.arange(len(rows))
        chosen = np.flatnonzero(place[self.row] >= 0)
        chosen = chosen[np.argsort(place[self.row[chosen]], kind="stable")]
        return self.taken(chosen, place[self.row[chosen]])


class Habits(NamedTuple):
    """P(value | true) of labels by group."""

    common: Array  # (V, K)
    matrices: Array  # (G + 1, V, K) of the levels of the first column; the last is the common one
    odds: tuple[Array, ...]  # (S + 1,) of being wrong, of the levels of each further column; the last is 1
    shares: tuple[Array | None, ...]  # (S + 1, K) log shares of the classes of the levels of each source, against all

    @classmethod
    def alike(cls, labels: Labels, common: Array) -> Habits:
        first, further = split(labels, common.shape[1])
        n_levels = 0 if first is None else len(first.levels)
        odds = tuple(np.ones(len(each.levels) + 1) for each in further)
        one_each = len(labels.row) < 2 or bool(np.diff(labels.row).min() > 0)  # else nobody chose the rows
        may = [one_each and each.kind == "source" for each in labels.columns]
        shares = tuple(
            _shares_of_labels(each, labels) if ok else None for each, ok in zip(labels.columns, may, strict=True)
        )
        return cls(common, np.repeat(common[None], n_levels + 1, axis=0), odds, shares)


def split(labels: Labels, n_classes: int) -> tuple[Column | None, tuple[Column, ...]]:
    """The column whose levels have matrices, and the others, which change the odds only."""
    columns = labels.columns
    if columns and len(columns[0].levels) * labels.n_values * n_classes <= _MOST_ENTRIES:
        return columns[0], columns[1:]
    return None, columns


# --- P(labels | true) -------------------------------------------------------------------------------------------------


def log_of_labels(labels: Labels, habits: Habits) -> Array:
    """(m, K) log P(value | true) of each label."""
    V, K = habits.common.shape
    first, further = split(labels, K)
    level = np.zeros(len(labels.row), dtype=np.intp) if first is None else first.code
    each = np.log(np.maximum(habits.matrices, 1e-300)).reshape(-1, K)[level * V + labels.value]
    if further:
        odds = _odds(further, habits.odds)
        wrong = _wrong(habits.matrices)[level]
        each += np.log(odds)[:, None] * _differ(labels.value, K) - np.log1p((odds[:, None] - 1.0) * wrong)
    return np.asarray(each)


def log_evidence(said: Sequence[tuple[Labels, Habits]], n_rows: int) -> Array:
    """(K, n) log P(all labels of a row | true)"""
    total = sum(_by_row(labels, n_rows) @ log_of_labels(labels, habits) for labels, habits in said)
    return np.ascontiguousarray(np.asarray(total).T)


def log_shares(labels: Labels, habits: Habits, n_rows: int) -> Array:
    """(K, n) added to log P(true | x): a channel with many rows of a class would else look like one with mistakes."""
    shift = np.zeros((n_rows, habits.common.shape[1]))
    for column, each in zip(labels.columns, habits.shares, strict=True):
        if each is not None:
            shift[labels.row] += each[column.code]
    return np.ascontiguousarray(shift.T)


def _by_row(labels: Labels, n_rows: int) -> Any:
    """(n, m) CSR that adds up the labels of a row."""
    m = len(labels.row)
    starts = np.searchsorted(labels.row, np.arange(n_rows + 1))
    return sparse.csr_array((np.ones(m), np.arange(m), starts), shape=(n_rows, m))


def _odds(columns: Sequence[Column], odds: Sequence[Array]) -> Array:
    found: Array = np.ones(len(columns[0].code))
    for column, each in zip(columns, odds, strict=True):
        found *= each[column.code]
    return found


def _wrong(matrices: Array) -> Array:
    """(G + 1, K) P(wrong | true)"""
    return np.asarray(1.0 - np.diagonal(matrices[:, : matrices.shape[2]], axis1=1, axis2=2))


def _differ(value: Array, n_classes: int) -> Array:
    """(m, K) whether the label is another one than the class."""
    return np.asarray(value[:, None] != np.arange(n_classes))


# --- learning from P(true) --------------------------------------------------------------------------------------------


def learned(
    labels: Labels, posterior: Array, prior: Array, weight: Array, habits: Habits, estimated: Estimate | None
) -> Habits:
    """Habits of the greatest likelihood, with their priors. posterior, prior : (K, n) P(true | x) with and without the
    label; weight : (n,) of the rows; estimated : the common matrix; None: labels of another kind"""
    V, K = habits.common.shape
    first, further = split(labels, K)
    n_levels = len(habits.matrices) - 1
    at = labels.value if first is None else first.code * V + labels.value
    p = posterior[:, labels.row] * weight[labels.row]
    counts = np.stack([np.bincount(at, each, (n_levels + 1) * V) for each in p], axis=1).reshape(-1, V, K)
    total = counts.sum(axis=0)
    common = _of_opinion(total) if estimated is None else estimated(total)
    matrices = common[None]
    if first is not None:
        matrices = np.concatenate([of_groups(counts[:-1], common), matrices])
    wrong = _wrong(matrices)[0 if first is None else first.code]
    odds = _odds_learned(further, habits.odds, p, np.broadcast_to(wrong, p.T.shape), labels.value)
    shares = _shares(labels, habits, p, prior[:, labels.row] * weight[labels.row])
    return Habits(common, matrices, odds, shares)


def _odds_learned(
    columns: Sequence[Column], odds: Sequence[Array], posterior: Array, wrong: Array, value: Array
) -> tuple[Array, ...]:
    """Odds of the levels of each column, given those of the others. posterior : (K, m); wrong : (m, K) P(wrong | true)
    by the matrices"""
    found = list(odds)
    for number, column in enumerate(columns):
        others = [each for at, each in enumerate(zip(columns, found, strict=True)) if at != number]
        rest = _odds(*zip(*others, strict=True))[:, None] if others else 1.0
        by_others = wrong * rest / (1.0 + (rest - 1.0) * wrong)
        size, is_wrong = len(column.levels) + 1, _differ(value, len(posterior))
        weights = (posterior.sum(axis=0), (posterior.T * by_others).sum(axis=1), (posterior.T * is_wrong).sum(axis=1))
        n, expected, observed = (np.bincount(column.code, each, size)[:-1] for each in weights)
        before = np.clip(expected / np.maximum(n, 1e-300), 1e-9, _MOST_WRONG)
        after = np.minimum(before * shrunken(observed, expected), _MOST_WRONG)
        found[number] = np.append(after / (1.0 - after) * (1.0 - before) / before, 1.0)
    return tuple(found)


def _shares_of_labels(column: Column, labels: Labels) -> Array:
    """(S + 1, V) log shares of the labels of each level against those of all."""
    size, V = len(column.levels) + 1, labels.n_values
    counts = np.bincount(column.code * V + labels.value, minlength=size * V).reshape(size, V)[:-1].astype(float)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / max(counts.sum(), 1.0)
    return np.vstack([np.log(shrunken(counts, expected)), np.zeros(V)])


def _shares(labels: Labels, habits: Habits, posterior: Array, prior: Array) -> tuple[Array | None, ...]:
    """A round of iterative proportional fitting, with shrinkage. posterior, prior : (K, m)"""
    found: list[Array | None] = []
    for column, before in zip(labels.columns, habits.shares, strict=True):
        if before is None:
            found.append(None)
            continue
        size = len(column.levels) + 1
        observed, expected = (
            np.stack([np.bincount(column.code, each, size) for each in p], axis=1)[:-1] for p in (posterior, prior)
        )
        ratio = shrunken(observed, expected / np.exp(before[:-1]))
        after = np.vstack([np.log(ratio), np.zeros(len(prior))])
        prior = prior * np.exp(after - before)[column.code].T
        found.append(after)
        prior /= np.maximum(prior.sum(axis=0), 1e-300) / np.maximum(posterior.sum(axis=0), 1e-300)
    return tuple(found)


def of_groups(counts: Array, common: Array) -> Array:
    """(G, K, K) the common matrix with the factors of each group. counts : (G, K, K) by group, label and true class"""
    n, off = counts.sum(axis=1, keepdims=True), 1.0 - np.eye(len(common))
    observed, share = counts * off, np.repeat((common * off)[None], len(counts), axis=0)
    for summed in ((1, 2), (2,), (1,), ()):  # how often, by label, by class, by pair
        share *= shrunken(observed.sum(axis=summed, keepdims=True), (n * share).sum(axis=summed, keepdims=True))
        share *= np.minimum(1.0, _MOST_WRONG / np.maximum(share.sum(axis=1, keepdims=True), 1e-300))
    return np.asarray(share + (1.0 - share.sum(axis=1, keepdims=True)) * np.eye(len(common)))


def shrunken(observed: Array, expected: Array) -> Array:
    """Ratios of observed to expected counts, shrunk to 1: Poisson counts, and a gamma prior of mean 1."""
    x, mean = (np.ravel(each)[:: max(1, observed.size // _MOST_RATIOS)] for each in (observed, expected))
    strength = max(_STRENGTHS, key=lambda s: _log_marginal(x, mean, s))
    if np.isinf(strength):
        return np.ones_like(expected)
    return np.asarray((observed + strength) / (expected + strength))


def _log_marginal(observed: Array, expected: Array, s: float) -> float:
    """Of Poisson counts whose means are `expected` times gamma numbers of mean 1 and variance 1/s (less a constant)."""
    if np.isinf(s):
        return -float(expected.sum())
    terms = gammaln(observed + s) - gammaln(s) + s * np.log(s) - (observed + s) * np.log(expected + s)
    return float(terms.sum())


def _of_opinion(counts: Array) -> Array:
    overall = counts.sum(axis=1, keepdims=True) + 1e-3
    drawn = counts + _PSEUDO_ROWS * overall / overall.sum()
    return np.asarray(drawn / drawn.sum(axis=0))


def refitted(
    said: Sequence[tuple[Labels, Habits]], log_prior: Array, verified: Array, weight: Array,
    estimates: Sequence[Estimate | None], rounds: int = _ROUNDS,
) -> tuple[tuple[Labels, Habits], ...]:  # fmt: skip
    """EM of the habits alone. log_prior : (K, n) log P(true | x); verified : (n,) codes, -1 where unknown"""
    last, said = -np.inf, tuple(said)
    for _ in range(rounds):
        with_shares = log_softmax(log_prior + log_shares(*said[0], len(weight)))
        posterior = with_shares + log_evidence(said, len(weight))
        top = posterior.max(axis=0)
        np.exp(posterior - top, out=posterior)
        total = posterior.sum(axis=0)
        posterior /= total
        known = np.flatnonzero(verified >= 0)
        posterior[:, known] = 0.0
        posterior[verified[known], known] = 1.0
        likelihood = float(weight @ (np.log(total) + top))
        if likelihood - last < _TOLERANCE * weight.sum():
            break
        last = likelihood
        prior = np.exp(with_shares)
        said = tuple(
            (labels, learned(labels, posterior, prior, weight, habits, estimated))
            for (labels, habits), estimated in zip(said, estimates, strict=True)
        )
    return said


# --- several labels of a row ------------------------------------------------------------------------------------------


def vote(labels: Labels, n_rows: int) -> Array:
    """(n,) the most probable value given the labels only, by EM; n_values where a row has none."""
    V = labels.n_values
    shares = np.bincount(labels.value, minlength=V) / max(len(labels.value), 1)
    start = np.full((V, V), (1.0 - _START_DIAGONAL) / max(V - 1, 1))
    np.fill_diagonal(start, _START_DIAGONAL if V > 1 else 1.0)
    log_prior = np.repeat(np.log(np.maximum(shares, 1e-300))[:, None], n_rows, axis=1)
    n_labels = np.bincount(labels.row, minlength=n_rows)
    said: Sequence[tuple[Labels, Habits]] = [(labels, Habits.alike(labels, start))]
    if V > 1 and (n_labels > 1).any():  # else nobody can be compared
        said = refitted(
            said, log_prior, np.full(n_rows, -1), (n_labels > 0).astype(float), [partial(estimate, Full(0.0))]
        )
    return np.where(n_labels > 0, (log_prior + log_evidence(said, n_rows)).argmax(axis=0), V)
