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

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import gammaln, ndtri

from .columns import MOST_NUMBERS
from .readings import log_softmax

Array = NDArray[Any]

# Strengths that are tried: pseudo-counts of the expectation. Infinite: all groups are alike.
_STRENGTHS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, np.inf)
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

#: Coverage of the intervals of differences.
LEVEL = 0.9
# The scale of differences is known to this share, divided by how far right and wrong labels are apart: with it, 90 %
# intervals cover 85 to 95 % of simulated differences (`python -m benchmarks crowd`).
_SCALE_ERROR = 0.05
# A group with fewer labels is "too few": its interval would say nothing.
_FEWEST = 20
# Rows of a group to look at first, and the fewest expected rows of a pair of labels that it confuses.
_MOST_LISTED, _LEAST_CONFUSED = 20, 1.0
# Labels that are computed at once.
_AT_ONCE = 100_000

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
        first, further = _split(labels, common.shape[1])
        n_levels = 0 if first is None else len(first.levels)
        odds = tuple(np.ones(len(each.levels) + 1) for each in further)
        one_each = len(labels.row) < 2 or bool(np.diff(labels.row).min() > 0)  # else nobody chose the rows
        may = [one_each and each.kind == "source" for each in labels.columns]
        shares = tuple(
            _shares_of_labels(each, labels) if ok else None for each, ok in zip(labels.columns, may, strict=True)
        )
        return cls(common, np.repeat(common[None], n_levels + 1, axis=0), odds, shares)


def _split(labels: Labels, n_classes: int) -> tuple[Column | None, tuple[Column, ...]]:
    """The column whose levels have matrices, and the others, which change the odds only."""
    columns = labels.columns
    if columns and len(columns[0].levels) * labels.n_values * n_classes <= MOST_NUMBERS:
        return columns[0], columns[1:]
    return None, columns


# --- P(labels | true) -------------------------------------------------------------------------------------------------


def log_of_labels(labels: Labels, habits: Habits) -> Array:
    """(m, K) log P(value | true) of each label."""
    V, K = habits.common.shape
    first, further = _split(labels, K)
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
    labels: Labels, posterior: Array, prior: Array, weight: Array, habits: Habits, estimate: Estimate | None
) -> Habits:
    """Habits of the greatest likelihood, with their priors. posterior, prior : (K, n) P(true | x) with and without the
    label; weight : (n,) of the rows; estimate : of the common matrix; None: labels of another kind"""
    V, K = habits.common.shape
    first, further = _split(labels, K)
    n_levels = len(habits.matrices) - 1
    at = labels.value if first is None else first.code * V + labels.value
    p = posterior[:, labels.row] * weight[labels.row]
    counts = np.stack([np.bincount(at, each, (n_levels + 1) * V) for each in p], axis=1).reshape(-1, V, K)
    total = counts.sum(axis=0)
    common = _of_opinion(total) if estimate is None else estimate(total)
    matrices = common[None]
    if first is not None:
        matrices = np.concatenate([of_groups(counts[:-1], common), matrices])
    level = 0 if first is None else first.code
    odds = list(habits.odds)
    for number, column in enumerate(further):
        others = [each for at, each in enumerate(zip(further, odds, strict=True)) if at != number]
        rest = _odds(*zip(*others, strict=True))[:, None] if others else 1.0
        wrong = _wrong(matrices)[level]
        wrong = wrong * rest / (1.0 + (rest - 1.0) * wrong)
        size = len(column.levels) + 1
        n, expected, observed = (
            np.bincount(column.code, each, size)[:-1]
            for each in (p.sum(axis=0), (p.T * wrong).sum(axis=1), (p.T * _differ(labels.value, K)).sum(axis=1))
        )
        before = np.clip(expected / np.maximum(n, 1e-300), 1e-9, _MOST_WRONG)
        after = np.minimum(before * shrunken(observed, expected), _MOST_WRONG)
        odds[number] = np.append(after / (1.0 - after) * (1.0 - before) / before, 1.0)
    return Habits(common, matrices, tuple(odds), _shares(labels, habits, p, prior[:, labels.row] * weight[labels.row]))


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
            (labels, learned(labels, posterior, prior, weight, habits, estimate))
            for (labels, habits), estimate in zip(said, estimates, strict=True)
        )
    return said


# --- adjusted counts --------------------------------------------------------------------------------------------------


class Wrong(NamedTuple):
    """Of each label: P(wrong), and what a right and a wrong one would get on the same row."""

    p: Array  # (m,)
    if_right: Array
    if_wrong: Array


def p_wrong(labels: Labels, habits: Habits, log_prior: Array, others: Array, verified: Array) -> Wrong:
    """By the common matrix; wrong labels are those that the group gives. log_prior : (K, n) log P(true | x);
    others : (m, K) log P(other labels of the row | true); verified : (n,) codes, -1 where unknown"""
    (V, K), m = habits.common.shape, len(labels.row)
    right, off = np.eye(V, K), habits.matrices * (1.0 - np.eye(V, K))
    off /= np.maximum(off.sum(axis=1, keepdims=True), 1e-300)
    first, _ = _split(labels, K)
    found = np.empty((3, m))
    for level, which in _by_level(np.zeros(m, dtype=np.intp) if first is None else first.code, len(off)):
        prior = log_prior[:, labels.row[which]].T + others[which]
        prior = np.exp(prior - prior.max(axis=1, keepdims=True))
        prior /= prior.sum(axis=1, keepdims=True)
        wrong = 1.0 - (prior @ (right * habits.common).T) / np.maximum(prior @ habits.common.T, 1e-300)
        found[0, which] = wrong[np.arange(len(which)), labels.value[which]]
        found[1, which] = (prior @ right.T * wrong).sum(axis=1)
        found[2, which] = (prior @ off[level].T * wrong).sum(axis=1)
    known = verified[labels.row]
    at = np.flatnonzero(known >= 0)
    found[:, at] = np.stack([labels.value[at] != known[at], np.zeros(len(at)), np.ones(len(at))])
    return Wrong(*found)


def _by_level(code: Array, n_levels: int) -> Iterator[tuple[int, Array]]:
    """The positions of the labels of each level, in parts that fit in memory."""
    order = np.argsort(code, kind="stable")
    edges = np.searchsorted(code[order], np.arange(n_levels + 1))
    for level, (start, stop) in enumerate(pairwise(edges.tolist())):
        for first in range(start, stop, _AT_ONCE):
            yield level, order[first : min(first + _AT_ONCE, stop)]


class Rates(NamedTuple):
    """Adjusted counts of groups (Gart and Buck 1966): (mean P(wrong) - a) / (b - a), where a is what right and b what
    wrong labels would get on the same rows. So ambiguous rows count for nobody."""

    n_labels: Array  # (G,)
    rate: Array  # nan where nothing distinguishes right from wrong labels
    difference: Array  # from the rate of all other labels
    low: Array
    high: Array


def rates(code: Array, n_levels: int, wrong: Wrong) -> Rates:
    """Of the levels of a column; code : (m,), n_levels where not known"""
    above, span = wrong.p - wrong.if_right, wrong.if_wrong - wrong.if_right

    def summed(values: Array) -> Array:
        return np.bincount(code, values, n_levels + 1)[:n_levels]

    products = [summed(each) for each in (above, span, above**2, above * span, span**2)]
    return rates_of(summed(np.ones(len(code))), products, float(span.mean()) if len(span) else 0.0)


def rates_of(n_labels: Array, products: Sequence[Array], span: float) -> Rates:
    """products : sums by level of x, y, x^2, x y and y^2, whose ratio x / y is the rate; span : mean of y"""
    rate, variance = _ratio(*products)
    rest, of_rest = _ratio(*(each.sum() - each for each in products))
    difference = rate - rest
    scale = _SCALE_ERROR / max(span, 1e-9)
    reach = float(ndtri(0.5 + LEVEL / 2.0)) * np.sqrt(variance + of_rest + (scale * difference) ** 2)
    return Rates(n_labels, rate, difference, difference - reach, difference + reach)


def _ratio(x: Array, y: Array, xx: Array, xy: Array, yy: Array) -> tuple[Array, Array]:
    """Ratios of sums, and their variance."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = x / y
        return ratio, np.maximum(xx - 2.0 * ratio * xy + ratio**2 * yy, 0.0) / y**2


def disagreement(row: Array, value: Array, is_ordinal: bool = False) -> Array:
    """(m,) how far each label is from the others of its row, divided by what chance would give; nan for a row's only
    label. One minus the mean is Krippendorff's alpha: of all labels, or of a labeler's against all others.

    is_ordinal : the squared difference of ranks counts, not whether labels differ
    """
    _, row, n_labels = np.unique(row, return_inverse=True, return_counts=True)
    n, paired = n_labels[row], n_labels[row] > 1
    V = int(value.max(initial=0)) + 1
    if is_ordinal:
        first, second = (np.bincount(row, value.astype(float) ** power) for power in (1, 2))
        apart = n * value**2.0 - 2.0 * value * first[row] + second[row]
        by_chance = 2.0 * float(value[paired].var(ddof=1)) if paired.any() else 0.0
    else:
        same, counts = np.unique(row * V + value, return_inverse=True, return_counts=True)[1:]
        apart, share = n - counts[same].astype(float), np.bincount(value[paired]) / max(paired.sum(), 1)
        by_chance = (1.0 - float(share @ share)) * paired.sum() / max(paired.sum() - 1, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(paired & (by_chance > 0), apart / (n - 1) / by_chance, np.nan)


def alpha(disagreements: Array) -> float | None:
    known = disagreements[~np.isnan(disagreements)]
    return 1.0 - float(known.mean()) if len(known) else None


# --- what is said of groups -------------------------------------------------------------------------------------------


class Checked(NamedTuple):
    """Rows drawn at random, with their true labels."""

    rows: Array
    label: Array  # codes


def group_records(
    labels: Labels, wrong: Wrong, posterior: Array, classes: Sequence[str], verified: Array,
    checks: Checked | None = None, is_ordinal: bool = False,
) -> list[dict[str, Any]]:  # fmt: skip
    """A plain dict for each group. Labelers and categories: the most mistakes first; times and numbers in order."""
    apart = disagreement(labels.row, labels.value, is_ordinal)
    found = []
    for column in labels.columns:
        numbers = rates(column.code, len(column.levels), wrong)
        order = np.argsort(column.code, kind="stable")
        edges = np.searchsorted(column.code[order], np.arange(len(column.levels) + 1))
        records = [
            _record(column, level, numbers, order[start:stop], labels, posterior, classes, verified, apart, checks)
            for level, (start, stop) in enumerate(pairwise(edges.tolist()))
            if stop > start
        ]
        if not column.is_ordered:
            records.sort(key=lambda one: (one["note"] != "", -(one["rate"] or 0.0)))
        found += records
    return found


def opinion_record(
    labels: Labels, wrong: Wrong, given: Labels, of_given: Wrong, posterior: Array, classes: Sequence[str],
    verified: Array, checks: Checked | None = None, is_ordinal: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """A second opinion against the labels."""
    m, n = len(labels.row), len(given.row)
    both = Wrong(*(np.concatenate(pair) for pair in zip(wrong, of_given, strict=True)))
    column = Column(labels.name, "second opinion", (labels.name,), np.repeat([0, 1], [m, n]))
    row, value = np.concatenate([labels.row, given.row]), np.concatenate([labels.value, given.value])
    apart = disagreement(row, value, is_ordinal and labels.n_values == len(classes))[:m]
    numbers = rates(column.code, 2, both)
    return _record(column, 0, numbers, np.arange(m), labels, posterior, classes, verified, apart, checks)


def _record(
    column: Column, level: int, numbers: Rates, which: Array, labels: Labels, posterior: Array, classes: Sequence[str],
    verified: Array, apart: Array, checks: Checked | None,
) -> dict[str, Any]:  # fmt: skip
    """which : the labels of the group"""
    K, rows, value = len(classes), labels.row[which], labels.value[which]
    of_rows = posterior[rows]
    is_class = value < K
    p_right = np.where(is_class, of_rows[np.arange(len(which)), np.minimum(value, K - 1)], 0.0)
    counts = np.zeros((K, K))
    np.add.at(counts, value[is_class], of_rows[is_class])
    np.fill_diagonal(counts, 0.0)
    given, true = divmod(int(counts.argmax()), K)
    unknown = np.flatnonzero(verified[rows] < 0)
    first = rows[unknown[np.argsort(p_right[unknown], kind="stable")[:_MOST_LISTED]]]
    pair = (classes[given], classes[true], float(counts.max(initial=0.0)))
    of_checks = _counted(checks, rows, value)
    return record_of(column, level, numbers, pair, of_checks, alpha(apart[which]), (first + 1).tolist())


def record_of(
    column: Column, level: int, numbers: Rates, pair: tuple[str, str, float], counted: Mapping[str, Any],
    agreement: float | None = None, look_at: Sequence[int] = (),
) -> dict[str, Any]:  # fmt: skip
    """pair : the label that most rows have by mistake, the one they should have, and how many they are"""
    n, given, true, n_confused = int(numbers.n_labels[level]), *pair
    enough = n >= _FEWEST and bool(np.isfinite(numbers.difference[level]))
    rate = float(np.clip(numbers.rate[level], 0.0, 1.0))
    if counted["checked"]:  # an interval around something else would mislead
        rate = min(max(rate, counted["rate_low"]), counted["rate_high"])
    difference = {name: float(getattr(numbers, name)[level]) for name in ("difference", "low", "high")}
    confused = {"given": given, "true": true, "rows": round(n_confused, 1)}
    return {
        "column": column.name,
        "kind": column.kind,
        "group": column.levels[level],
        "rows": n,
        "rate": round(rate, 6) if enough else None,
        **counted,
        **{name: round(value, 6) if enough else None for name, value in difference.items()},
        "confuses": confused if n_confused >= _LEAST_CONFUSED else None,
        "agreement": agreement,
        "look_at": list(look_at),
        "note": "" if enough else "too few",
    }


def difference_text(record: Mapping[str, Any]) -> str:
    """How much more or less often a group is wrong, in words."""
    if record["difference"] is None:
        return str(record["note"])
    others = "the given labels" if record["kind"] == "second opinion" else "the others"
    by, low, high = (round(100.0 * record[name]) for name in ("difference", "low", "high"))
    if record["low"] <= 0.0 <= record["high"]:
        return f"like {others} ({low:+d} to {high:+d} points)"
    ends = (low, high) if by >= 0 else (-high, -low)
    points = "point" if abs(by) == 1 else "points"
    return f"{abs(by)} {points} {'more' if by >= 0 else 'fewer'} than {others} ({ends[0]} to {ends[1]})"


def _counted(checks: Checked | None, rows: Array, value: Array) -> dict[str, Any]:
    """The rows of a group that were checked at random, and the share of wrong labels among them with an interval."""
    if checks is None or not len(checks.rows):
        return counted_checks(0, 0)
    order = np.argsort(checks.rows, kind="stable")
    place = order[np.minimum(np.searchsorted(checks.rows[order], rows), len(order) - 1)]
    at = np.flatnonzero(checks.rows[place] == rows)
    return counted_checks(len(at), int((checks.label[place[at]] != value[at]).sum()))


def counted_checks(n: int, n_wrong: int) -> dict[str, Any]:
    """Rows checked at random, and the share of wrong labels among them."""
    if not n:
        return {"checked": 0, "rate_low": None, "rate_high": None}
    low, high = wilson(n_wrong / n, n, LEVEL)
    return {"checked": n, "rate_low": round(low, 6), "rate_high": round(high, 6)}


def wilson(share: float, m: int, level: float) -> tuple[float, float]:
    """Wilson's interval of a share of m rows."""
    z2 = float(ndtri(0.5 + level / 2.0)) ** 2
    center, reach = share + z2 / (2 * m), np.sqrt(z2 * (share * (1 - share) / m + z2 / (4 * m * m)))
    return max(float((center - reach) / (1 + z2 / m)), 0.0), min(float((center + reach) / (1 + z2 / m)), 1.0)


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
        said = refitted(said, log_prior, np.full(n_rows, -1), (n_labels > 0).astype(float), [_of_all])
    return np.where(n_labels > 0, (log_prior + log_evidence(said, n_rows)).argmax(axis=0), V)


def _of_all(counts: Array) -> Array:
    """As by the matrix reading: small classes have uncertain columns."""
    K, rate = len(counts), 1.0 - np.trace(counts) / max(counts.sum(), 1e-300)
    off = rate / (K - 1)
    counts = counts + _PSEUDO_ROWS * (np.full((K, K), off) + (1.0 - rate - off) * np.eye(K))
    return np.asarray(counts / counts.sum(axis=0))
