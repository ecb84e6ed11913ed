"""What is said of groups: how often their labels are wrong, compared with all others, and what to look at.

Ambiguous rows look wrong whoever labeled them. So the rate is an adjusted count (Gart and Buck 1966),

    rate = (mean P(wrong) - a) / (b - a)

where a is what right and b what wrong labels would get on the same rows. What biases all groups alike cancels out in
the difference from all others, which has an interval; a rate has one where rows were checked at random.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from .columns import Array
from .groups import Column, Habits, Labels, log_evidence, log_of_labels, log_shares, split
from .pool import Given, Pool
from .rates import LEVEL, wilson

_Z = float(ndtri(0.5 + LEVEL / 2))
# The scale of differences is known to this share, divided by how far right and wrong labels are apart: with it, 90 %
# intervals cover 85 to 95 % of simulated differences (`python -m benchmarks crowd`).
_SCALE_ERROR = 0.03
# A group with fewer labels is "too few": its interval would say nothing.
_FEWEST = 20
# Rows of a group to look at first, and the fewest expected rows of a pair of labels that it confuses.
_MOST_LISTED, _LEAST_CONFUSED = 20, 1.0
# Labels that are computed at once.
_AT_ONCE = 100_000


class Wrong(NamedTuple):
    """Of each label: P(wrong), and what a right and a wrong one would get on the same row."""

    p: Array  # (m,)
    if_right: Array
    if_wrong: Array


def wrong_labels(pool: Pool, given: Given) -> list[Wrong]:
    """P(wrong) of the labels of each kind, and what it is compared with."""
    n, voice = len(pool.order), pool.voices[0]
    said = list(zip(given.labels, voice.habits, strict=True))
    log_prior = np.empty((given.n_classes, n))
    log_prior[:, pool.order] = voice.reading.log_prior(voice.learned.values)
    log_prior += log_shares(*said[0], n)
    total = log_evidence(said, n).T
    return [
        p_wrong(labels, habits, log_prior, total[labels.row] - log_of_labels(labels, habits), given.verified)
        for labels, habits in said
    ]


def p_wrong(labels: Labels, habits: Habits, log_prior: Array, others: Array, verified: Array) -> Wrong:
    """By the common matrix; wrong labels are those that the group gives. log_prior : (K, n) log P(true | x);
    others : (m, K) log P(other labels of the row | true); verified : (n,) codes, -1 where unknown"""
    (V, K), m = habits.common.shape, len(labels.row)
    right, off = np.eye(V, K), habits.matrices * (1.0 - np.eye(V, K))
    off /= np.maximum(off.sum(axis=1, keepdims=True), 1e-300)
    first, _ = split(labels, K)
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
    """Adjusted counts of groups."""

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
    reach = _Z * np.sqrt(variance + of_rest + (scale * difference) ** 2)
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
        return counted_checks(0, 0, len(value))
    order = np.argsort(checks.rows, kind="stable")
    place = order[np.minimum(np.searchsorted(checks.rows[order], rows), len(order) - 1)]
    at = np.flatnonzero(checks.rows[place] == rows)
    return counted_checks(len(at), int((checks.label[place[at]] != value[at]).sum()), len(value))


def counted_checks(n: int, n_wrong: int, n_labels: int) -> dict[str, Any]:
    """Of a group with `n_labels`: rows checked at random, and an interval for its share of wrong labels."""
    if not n:
        return {"checked": 0, "rate_low": None, "rate_high": None}
    low, high = wilson(n_wrong / n, n, n_labels)
    return {"checked": n, "rate_low": round(low, 6), "rate_high": round(high, 6)}
