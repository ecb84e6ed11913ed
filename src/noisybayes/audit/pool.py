"""One posterior: experts that fail differently, each read the way it is good at, pooled by the geometric mean.

    words, yes/no columns: P(true | x, y) proportional to  M(naive Bayes) * A(ridge)
    numbers:               P(true | x, y) proportional to  M(ridge, forest) * A(ridge) * A(forest)
    vectors alone:         P(true | x, y) proportional to  M(ridge) * A(ridge)              (to the power 1/2 or 1/3)

M is the reading by the matrix, with one round of reweighting, A the plain one (`readings`). No weight is chosen
and nothing is selected, but for the paper's EM: on small tables of yes/no columns it takes the place of naive Bayes,
unless that predicts held-out labels better. Everything that an audit says of a row is read off this P.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..model.matrix import Full, Structure
from .columns import MANY_ROWS, MOST_NUMBERS, NUMBERS, WORDS, YES_NO, Block, content_hash, take_rows
from .groups import (
    Habits,
    Labels,
    log_evidence,
    refitted,
)
from .readings import Reading, blocks, estimate, log_softmax, matrix_reading, plain_reading
from .scores import (
    EVENT_MODELS,
    Expert,
    Learned,
    Learning,
    em_scores,
    forest_scores,
    linear_scores,
    naive_bayes_scores,
)

Array = NDArray[Any]

# A small table cannot spare a fifth of its rows.
FOLDS, FOLDS_OF_FEW, _FEW_ROWS = 5, 10, 2_000


class Given(NamedTuple):
    """What is known of the labels, as codes."""

    observed: Array  # (n,) K where missing
    verified: Array  # (n,) -1 where unknown
    n_classes: int
    weight: Array | None = None  # (n,)
    labels: tuple[Labels, ...] = ()  # by groups, then second opinions; none: `observed`, by nobody in particular
    several: bool = False  # `observed` is the vote of several labels of a row
    fold_by: Array | None = None  # (n,) codes; rows with the same one are in one fold

    @property
    def label(self) -> Array:
        """(n,) codes: verified labels where they are known; K where there is none."""
        return np.where(self.verified >= 0, self.verified, self.observed)


class Voice(NamedTuple):
    """Scores of the rows, and how they are read."""

    learned: Learned
    reading: Reading
    habits: tuple[Habits, ...] = ()  # of groups, if the voice knows them
    evidence: Array | None = None  # (K, n) log P(labels | true) by group

    def log_posterior(self, rows: Any, observed: Array) -> Array:
        values = self.learned.values[:, :, rows]
        if self.evidence is None:
            return self.reading.log_posterior(values, observed)
        return log_softmax(self.reading.log_prior(values) + self.evidence[:, rows])


class Pool(NamedTuple):
    posterior: Array  # (n, K) P(true | x, label); verified rows have their verified label
    voices: tuple[Voice, ...]  # M first; their rows are sorted by fold
    order: Array  # (n,) rows in that order
    starts: Array  # (F + 1,) fold f has order[starts[f] : starts[f + 1]]
    experts: tuple[str, ...]
    explained: float  # share of the entropy of the labels that the plain reading explains, out of fold

    @property
    def mislabel(self) -> Array:
        """(K, K) P(observed | true) of the reading by the matrix."""
        mislabel = self.voices[0].reading.mislabel
        assert mislabel is not None
        return mislabel

    def unverified(self, rows: Array, observed: Array) -> Array:
        """(m, K) the posterior of some rows by labels `observed`, as if none of them were verified."""
        place = np.empty(len(self.order), dtype=np.intp)
        place[self.order] = np.arange(len(self.order))
        return pooled(self.voices, place[rows], observed).T


def of_groups(voice: Voice, labels: Sequence[Labels], learning: Learning, structure: Structure) -> Voice:
    """The reading by the matrix, where groups have matrices of their own; calibrated scores stay as they are."""
    if not labels:
        return voice
    mislabel, K = voice.reading.mislabel, learning.n_classes
    assert mislabel is not None
    # opinions say nothing at first
    common = [mislabel, *(np.full((each.n_values, K), 1.0 / each.n_values) for each in labels[1:])]
    start = [(each, Habits.alike(each, matrix)) for each, matrix in zip(labels, common, strict=True)]
    log_prior = voice.reading.log_prior(voice.learned.values).astype(np.float64)
    estimates = [partial(estimate, structure), *(None for _ in labels[1:])]
    said = refitted(start, log_prior, learning.verified, learning.counted, estimates)
    habits = tuple(each for _, each in said)
    reading = voice.reading._replace(mislabel=habits[0].common)
    return Voice(voice.learned, reading, habits, log_evidence(said, len(learning.weight)))


def pooled(voices: Sequence[Voice], rows: Any, observed: Array) -> Array:
    """(K, m) the geometric mean of the voices."""
    total = sum(voice.log_posterior(rows, observed) for voice in voices)
    return np.exp(log_softmax(np.asarray(total) / len(voices)))


def fit_pool(
    columns: Sequence[Block], given: Given, structure: Structure | None = None, seed: int = 0,
    prior: Array | None = None,
) -> Pool:  # fmt: skip
    """structure : of the mislabeling matrix; prior : (K,) known class shares"""
    structure = Full(0.0) if structure is None else structure
    kinds, K = {block.kind for block in columns}, given.n_classes
    by_matrix, plain = _experts_for(kinds)
    order, learning = by_fold(content_hash(columns, seed), given, n_folds_for(len(given.observed)), seed)
    labels = tuple(each.of_rows(order, len(order)) for each in given.labels)
    columns, n = take_rows(columns, order), len(order)
    width = sum(block.values.shape[1] for block in columns)
    # coefficients of the folds explain rows; with too many to hold, those of all rows do
    keep = 3 * width * K * len(learning.folds) <= MOST_NUMBERS
    experts: dict[str, Expert] = {**EXPERTS, "em": partial(em_scores, structure=structure)}
    as_given: dict[str, Learned] = {}

    def learned(names: Sequence[str]) -> Learned:
        for name in names:
            if name not in as_given:
                as_given[name] = experts[name](columns, learning, keep)
        return _together([as_given[name] for name in names])

    def read(scores: Learned, start: Reading | None = None) -> Voice:
        reading = matrix_reading(scores.values, learning, structure, prior, start)
        return of_groups(Voice(scores, reading), labels, learning, structure)

    matrix = read(learned(by_matrix))
    as_given.pop("naive Bayes", None)  # as large as the rows times the classes, twice
    right = reweighted(matrix, learning)
    matrix = read(_together([experts[name](columns, right, keep) for name in by_matrix]), matrix.reading)
    if kinds == {YES_NO} and n <= MANY_ROWS and can_leave_out(learning):
        em = read(learned(("em",)))
        if not predicts_better(matrix, em, learning):
            matrix, by_matrix = em, ("em",)
    scores = [learned(names) for names in plain]
    # the plain reading ignores the label it judges, but not what others say of the row
    said = list(zip(labels, matrix.habits, strict=True))[0 if given.several else 1 :]
    others = log_evidence(said, n) if said else None
    voices = matrix, *(Voice(one, plain_reading(one.values, learning, prior), (), others) for one in scores)
    posterior = np.empty((n, K), dtype=np.float32 if n * K > MOST_NUMBERS else np.float64)
    for part in blocks(n, K):
        posterior[order[part]] = pooled(voices, part, learning.observed[part]).T
    known = np.flatnonzero(given.verified >= 0)
    posterior[known] = 0.0
    posterior[known, given.verified[known]] = 1.0
    names = tuple(dict.fromkeys((*by_matrix, *(name for names in plain for name in names))))
    return Pool(posterior, voices, order, learning.starts, names, _explained(voices[1].reading, learning))


#: The experts by name.
EXPERTS: dict[str, Expert] = {
    "naive Bayes": naive_bayes_scores, "ridge": linear_scores, "forest": forest_scores,
}  # fmt: skip


def _experts_for(kinds: set[str]) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """The experts that are read by the matrix, and those of each plain reading."""
    if NUMBERS in kinds and WORDS not in kinds:
        return ("ridge", "forest"), (("ridge",), ("forest",))
    if kinds.isdisjoint(EVENT_MODELS):
        return ("ridge",), (("ridge",),)
    return ("naive Bayes",), (("ridge", "forest") if NUMBERS in kinds else ("ridge",),)


def n_folds_for(n_rows: int) -> int:
    return FOLDS if n_rows >= _FEW_ROWS else FOLDS_OF_FEW


def folds_of(content: Array, given: Given, n_folds: int) -> Array:
    """(n,) The rows of each class are dealt out in the order of their content: neither the order of rows nor the names
    of classes matter."""
    n, K, label = len(given.observed), given.n_classes, given.label
    if given.fold_by is not None:
        return _folds_together(content, given.fold_by, n_folds)
    by_class = np.lexsort((content, label))
    size = np.bincount(label, minlength=K + 1)
    first = np.cumsum(size) - size
    start = content[by_class][np.minimum(first, n - 1)] % np.uint64(n_folds)  # where the first row of a class goes
    fold = np.empty(n, dtype=np.intp)
    fold[by_class] = (np.arange(n) + (start.astype(np.intp) - first)[label[by_class]]) % n_folds
    return fold


def _folds_together(content: Array, together: Array, n_folds: int) -> Array:
    """(n,) The same for rows that stay together: the largest set first, to the fold that has the fewest rows."""
    _, unit, size = np.unique(together, return_inverse=True, return_counts=True)
    key = np.zeros(len(size), dtype=np.uint64)
    with np.errstate(over="ignore"):
        np.add.at(key, unit, content)
    order = np.lexsort((key, -size))
    smallest = [(0, number) for number in range(n_folds)]
    fold = np.empty(len(size), dtype=np.intp)
    for at in order.tolist():
        n_rows, number = heapq.heappop(smallest)
        fold[at] = number
        heapq.heappush(smallest, (n_rows + int(size[at]), number))
    return fold[unit]


def by_fold(content: Array, given: Given, n_folds: int, seed: int) -> tuple[Array, Learning]:
    """The order of the rows by fold, class and content, and their labels in this order. content : (n,) hash"""
    n = len(given.observed)
    fold = folds_of(content, given, n_folds)
    order = np.lexsort((content, given.label, fold))
    starts = np.concatenate([[0], np.cumsum(np.bincount(fold, minlength=n_folds))])
    weight = np.ones(n) if given.weight is None else np.asarray(given.weight, dtype=np.float64)
    learning = Learning(given.observed[order], given.verified[order], weight[order], starts, given.n_classes, seed)
    return order, learning


def _together(found: Sequence[Learned]) -> Learned:
    if len(found) == 1:
        return found[0]
    by_fold = tuple(sum(parts, ()) for parts in zip(*(one.by_fold for one in found), strict=True))
    values = np.concatenate([one.values for one in found])
    return Learned(values, by_fold, lambda: sum((one.full() for one in found), ()))


def can_leave_out(learning: Learning) -> bool:
    """Whether labels are left if any fold is held out."""
    labels = [learning.counted[fold].sum() for fold in learning.folds]
    return bool(max(labels) < sum(labels))


def reweighted(voice: Voice, learning: Learning) -> Learning:
    """Labels weigh as much as they are probably right; verified ones fully."""
    found = np.ones(len(learning.weight))
    for part in blocks(len(found), learning.n_classes):
        log_p = voice.log_posterior(part, learning.observed[part])
        there = np.flatnonzero((learning.verified[part] < 0) & (learning.observed[part] < learning.n_classes))
        found[part][there] = np.exp(log_p[learning.observed[part][there], there])
    return learning._replace(weight=learning.weight * found)


def predicts_better(one: Voice, other: Voice, learning: Learning) -> bool:
    """Whether one predicts held-out labels better than the other, by more than a standard error."""
    gain = _log_likelihood(one, learning) - _log_likelihood(other, learning)
    return bool(gain.sum() > gain.std() * np.sqrt(len(gain)))


def _log_likelihood(voice: Voice, learning: Learning) -> Array:
    """(m,) log P(label | x) of the labeled rows by the reading with the matrix, out of fold."""
    there = np.flatnonzero(learning.counted > 0)
    p, mislabel = np.exp(voice.reading.log_prior(voice.learned.values[:, :, there])), voice.reading.mislabel
    assert mislabel is not None
    if voice.evidence is not None:
        of_label = (p * np.exp(voice.evidence[:, there])).sum(axis=0)
        return np.asarray(np.log(np.maximum(of_label, 1e-300)) * learning.weight[there])
    of_label = np.where(
        learning.verified[there] >= 0, p[learning.label[there], np.arange(len(there))],
        (np.vstack([mislabel, np.ones(len(mislabel))])[learning.observed[there]].T * p).sum(axis=0),
    )  # fmt: skip
    return np.log(np.maximum(of_label, 1e-300)) * learning.weight[there]


def _explained(plain: Reading, learning: Learning) -> float:
    counts = np.bincount(learning.label, learning.counted, learning.n_classes + 1)[: learning.n_classes]
    share = counts[counts > 0] / max(counts.sum(), 1e-300)
    entropy = -float(share @ np.log(share))
    return 1.0 + plain.log_likelihood / entropy if entropy > 0 else 1.0
