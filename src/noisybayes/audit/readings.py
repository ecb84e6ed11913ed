"""Two readings of scores: how a row with these scores came to its label.

By the matrix: mistakes follow the class. Calibrated scores give P(true | x), the mislabeling matrix P(label | true):

    P(true = k | x, y) proportional to P(k | x) * mislabel[y, k],   P(k | x) = softmax(sum_b t_b s_b + base + offset)[k]

Plainly: the label tells nothing new. P(k | x) is fitted to the labels themselves, and says what a row's label should be
by the labels of similar rows. It finds mistakes on ambiguous rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..model.mislabel import Full, Structure
from .columns import MANY_ROWS
from .groups import Estimate, Habits, Labels, learned, log_evidence, log_shares, log_softmax, refitted
from .scores import Learning

Array = NDArray[Any]

# Rows times classes that a reading is fitted on, and no more than `MANY_ROWS`: 2K + K x K numbers need no more. And
# those that are computed at once.
_MOST_ENTRIES = 5_000_000
# Pseudo-rows of each true class, labeled with the average error rate: small classes have uncertain columns.
_PSEUDO_ROWS = 10.0
# Squared offsets cost this much a row. By the matrix they stay near the given shares: free offsets would take labels
# that attract mistakes for large classes. Plain scores are fitted to the labels, so they hardly need it.
_OFFSET_PENALTY = {True: 0.1, False: 0.001}
# At most so many rounds of EM, until a round gains less than this many nats a row.
_ROUNDS, _TOLERANCE = 40, 1e-5
# Steps of L-BFGS in a round of EM, where the matrix changes anyway, and rounds of EM from each start.
_STEPS = 6
# The matrix starts with few mistakes and with many, inside the identifiable region: where nearly half of the labels are
# wrong, a sharp matrix of flat scores and a flat matrix of sharp scores are two maxima. The better start goes on.
_START_DIAGONALS = (0.9, 0.6)
# Standard deviation of a log temperature around that of scores of variance 1: without a prior, scores that separate the
# classes perfectly would get an infinite one.
_TEMPERATURE_SPREAD = 2.0


class Reading(NamedTuple):
    """Calibrated scores, and the matrix if they are read by it."""

    temperature: Array  # (B,)
    intercept: Array  # (K,) log shares and offsets
    mislabel: Array | None  # (K, K) P(observed | true); None: plain
    log_likelihood: float  # of the labels, nats a row
    habits: tuple[Habits, ...] = ()  # of groups

    def log_prior(self, values: Array) -> Array:
        """(K, n) log P(true | x) of scores (B, K, n), without the label."""
        return log_softmax(_logits(values, self.temperature, self.intercept))

    def log_posterior(self, values: Array, observed: Array) -> Array:
        """(K, n) log P(true | x, label), for the labels as they are: codes; K where missing."""
        log_p = self.log_prior(values)
        if self.mislabel is None:
            return log_p
        return log_softmax(log_p + _log_label(self.mislabel)[observed].T)


def _logits(values: Array, temperature: Array, intercept: Array, out: Array | None = None) -> Array:
    """out : (2, K, n) memory to use"""
    shape = values.shape[1:]
    total, product = (np.empty(shape), np.empty(shape)) if out is None else out
    np.multiply(values[0], temperature[0], out=total)
    for factor, layer in zip(temperature[1:], values[1:], strict=True):
        total += np.multiply(layer, factor, out=product)
    total += intercept[:, None]
    return total


def _log_label(mislabel: Array) -> Array:
    """(K + 1, K) log P(label | true); 0 where the label is missing."""
    return np.vstack([np.log(np.maximum(mislabel, 1e-300)), np.zeros(len(mislabel))])


def blocks(n_rows: int, n_classes: int) -> Iterator[slice]:
    size = max(1, _MOST_ENTRIES // n_classes)
    return (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))


def matrix_reading(
    values: Array, learning: Learning, structure: Structure, prior: Array | None = None, start: Reading | None = None,
    labels: Sequence[Labels] = (),
) -> Reading:  # fmt: skip
    """Temperatures, offsets and matrix by EM. prior : (K,) known class shares; start : a reading of similar scores;
    labels : of all rows, by group"""
    (values, rows, which), everything = _sample(values, learning), values
    likelihood = _Likelihood(values, rows, structure, prior)
    if labels:
        sampled = [each.of_rows(which, len(learning.weight)) for each in labels]
        likelihood = _OfGroups(values, rows, structure, prior, sampled)
    if start is None or start.mislabel is None:
        tried = [_em(likelihood, likelihood.start, likelihood.first(each), _STEPS) for each in _START_DIAGONALS]
        first, mislabel, _ = min(tried, key=lambda found: found[2])
    else:
        first, mislabel = likelihood.parameters_of(start), start.habits if labels else start.mislabel
    parameters, mislabel, loss = _em(likelihood, first, mislabel, _ROUNDS)
    reading = Reading(*likelihood.fitted(parameters), None, -loss / max(float(rows.weight.sum()), 1e-30))
    if not labels:
        return reading._replace(mislabel=mislabel)
    # rare groups need all rows
    log_prior = reading.log_prior(everything).astype(np.float64)
    estimates = _estimates(structure, labels)
    said = refitted(list(zip(labels, mislabel, strict=True)), log_prior, learning.verified, learning.counted, estimates)
    habits = tuple(each for _, each in said)
    return reading._replace(mislabel=habits[0].common, habits=habits)


def _em(likelihood: _Likelihood, parameters: Array, mislabel: Any, rounds: int) -> tuple[Array, Any, float]:
    """mislabel : (K, K), or the habits of groups"""
    last = loss = np.inf
    for _ in range(rounds):
        parameters, loss = likelihood.maximize(parameters, mislabel, _STEPS)
        following = likelihood.following(parameters, mislabel)
        if last - loss < _TOLERANCE * likelihood.rows.weight.sum():
            break
        last, mislabel = loss, following
    return parameters, mislabel, loss


def plain_reading(values: Array, learning: Learning, prior: Array | None = None) -> Reading:
    values, rows, _ = _sample(values, learning)
    likelihood = _Likelihood(values, rows, None, prior)
    parameters, loss = likelihood.maximize(likelihood.start, None)
    return Reading(*likelihood.fitted(parameters), None, -loss / max(float(rows.weight.sum()), 1e-30))


def recalibrated(reading: Reading, values: Array, learning: Learning) -> Reading:
    """The same matrix with temperatures and offsets for scores of rows that were not learned from."""
    values, rows, _ = _sample(values, learning)
    likelihood = _Likelihood(values, rows, None if reading.mislabel is None else Full(0.0), None)
    parameters, _ = likelihood.maximize(likelihood.parameters_of(reading), reading.mislabel)
    temperature, intercept = likelihood.fitted(parameters)
    return reading._replace(temperature=temperature, intercept=intercept)


def _sample(values: Array, learning: Learning) -> tuple[Array, Learning, Array]:
    """The labeled rows and their positions, or evenly spaced ones; sorted by fold and class, as they are, these are a
    stratified sample."""
    labeled = np.flatnonzero(learning.counted > 0)
    most = min(MANY_ROWS, max(_MOST_ENTRIES // learning.n_classes, 1))
    if len(labeled) > most:
        labeled = labeled[np.linspace(0, len(labeled) - 1, most).astype(np.intp)]
    rows = learning._replace(
        observed=learning.observed[labeled], verified=learning.verified[labeled], weight=learning.counted[labeled]
    )
    whole = len(labeled) == values.shape[2]
    return (values if whole else values[:, :, labeled]).astype(np.float64), rows, labeled


def _start(structure: Structure, n_classes: int, diagonal: float) -> Array:
    if n_classes == 1:
        return np.ones((1, 1))
    off = (1.0 - diagonal) / (n_classes - 1)
    counts = np.full((n_classes, n_classes), off) + (diagonal - off) * np.eye(n_classes)
    return np.asarray(structure.estimate(counts[None])[0])


def _estimate(structure: Structure, counts: Array) -> Array:
    K = len(counts)
    if K == 1:
        return np.ones((1, 1))
    rate = 1.0 - np.trace(counts) / max(counts.sum(), 1e-300)
    pseudo = np.full((K, K), rate / (K - 1)) + (1.0 - rate - rate / (K - 1)) * np.eye(K)
    return np.asarray(structure.estimate((counts + _PSEUDO_ROWS * pseudo)[None])[0])


def _estimates(structure: Structure, labels: Sequence[Labels]) -> list[Estimate | None]:
    """The common matrix of labels has the structure; those of opinions are free."""
    return [partial(_estimate, structure), *(None for _ in labels[1:])]


class _Likelihood:
    """Of the labels of some rows; parameters are log temperatures and offsets."""

    constant = 0.0  # of the labels, whatever the parameters are
    shift: Array | None = None  # (K, n) added to the logits

    def __init__(self, values: Array, rows: Learning, structure: Structure | None, prior: Array | None) -> None:
        """structure : of the matrix; None: read plainly"""
        self.values, self.rows, self.n_kinds, self.structure = values, rows, len(values), structure
        K, label = rows.n_classes, rows.label
        counts = np.bincount(label, rows.weight, K)
        self.base = np.log((counts + 1.0) / (counts.sum() + K) if prior is None else np.maximum(prior, 1e-12))
        self.penalty = _OFFSET_PENALTY[structure is not None] * rows.weight.sum()
        self.label, self.every = label, np.arange(len(label))
        self.memory = np.empty((2, *values.shape[1:]))
        spread = np.maximum(values.std(axis=(1, 2)), 1e-12) if len(label) else np.ones(self.n_kinds)
        self.start = np.concatenate([-np.log(self.n_kinds * spread), np.zeros(K)])

    def first(self, diagonal: float) -> Any:
        """The matrix to start from."""
        assert self.structure is not None
        return _start(self.structure, self.rows.n_classes, diagonal)

    def parameters_of(self, reading: Reading) -> Array:
        return np.concatenate([np.log(reading.temperature), reading.intercept - self.base])

    def fitted(self, parameters: Array) -> tuple[Array, Array]:
        return np.exp(parameters[: self.n_kinds]), self.base + parameters[self.n_kinds :]

    def maximize(self, parameters: Array, mislabel: Any, steps: int = 1_000) -> tuple[Array, float]:
        from scipy.optimize import minimize  # takes a quarter of a second to import

        of_label = None if mislabel is None else self.of_label(mislabel)
        found = minimize(self.loss, parameters, (of_label,), jac=True, method="L-BFGS-B", options={"maxiter": steps})
        return found.x, float(found.fun)

    def p_label(self, mislabel: Any) -> Array:
        """(K, n) P(label | true)"""
        return np.vstack([mislabel, np.ones(len(mislabel))])[self.rows.observed].T.copy()

    def of_label(self, mislabel: Any) -> Array:
        """(K, n) P(label | true), and whether a verified row has this true label."""
        rows, found = self.rows, self.p_label(mislabel)
        known = np.flatnonzero(rows.verified >= 0)
        if len(known):
            of_true = found[rows.verified[known], known]
            found[:, known] = 0.0
            found[rows.verified[known], known] = of_true
        return found

    def prior(self, temperature: Array, intercept: Array) -> Array:
        """(K, n) P(true | x)"""
        logits = _logits(self.values, temperature, intercept, self.memory)
        if self.shift is not None:
            logits += self.shift
        return _softmax(logits)

    def loss(self, parameters: Array, of_label: Array | None) -> tuple[float, Array]:
        temperature, intercept = self.fitted(parameters)
        p = self.prior(temperature, intercept)
        weight, offset = self.rows.weight, parameters[self.n_kinds :]
        if of_label is None:  # the true label is the given one
            of_row = np.maximum(p[self.label, self.every], 1e-300)
            gradient = np.negative(p, out=self.memory[1])
            gradient[self.label, self.every] += 1.0
        else:
            gradient = np.multiply(p, of_label, out=self.memory[1])
            of_row = np.maximum(gradient.sum(axis=0), 1e-300)
            gradient /= of_row
            gradient -= p
        gradient *= weight
        away = (parameters - self.start)[: self.n_kinds] / _TEMPERATURE_SPREAD
        loss = self.constant - float(weight @ np.log(of_row))
        loss += self.penalty * float(offset @ offset) + 0.5 * float(away @ away)
        slopes = np.einsum("bkn,kn->b", self.values, gradient) * temperature - away / _TEMPERATURE_SPREAD
        return loss, np.concatenate([-slopes, -gradient.sum(axis=1) + 2.0 * self.penalty * offset])

    def posterior(self, parameters: Array, mislabel: Any) -> Array:
        """(K, n) P(true | x, label)"""
        of_label = self.of_label(mislabel)
        p = self.prior(*self.fitted(parameters))
        p *= of_label
        p /= np.maximum(p.sum(axis=0), 1e-300)
        return p

    def following(self, parameters: Array, mislabel: Any) -> Any:
        """The matrix of a round of EM."""
        assert self.structure is not None
        K, p = self.rows.n_classes, self.posterior(parameters, mislabel)
        p *= self.rows.weight
        counts = np.stack([np.bincount(self.rows.observed, row, K + 1)[:K] for row in p], axis=1)
        return _estimate(self.structure, counts)


class _OfGroups(_Likelihood):
    """The same if groups have matrices, or rows several labels."""

    def __init__(
        self, values: Array, rows: Learning, structure: Structure, prior: Array | None, labels: Sequence[Labels]
    ) -> None:
        super().__init__(values, rows, structure, prior)
        self.labels, self.estimates = labels, _estimates(structure, labels)

    def first(self, diagonal: float) -> Any:
        """Opinions say nothing at first."""
        sizes = [each.n_values for each in self.labels[1:]]
        common = [super().first(diagonal), *(np.full((size, self.rows.n_classes), 1.0 / size) for size in sizes)]
        return tuple(Habits.alike(*each) for each in zip(self.labels, common, strict=True))

    def p_label(self, mislabel: Any) -> Array:
        log_p = log_evidence(list(zip(self.labels, mislabel, strict=True)), len(self.rows.weight))
        top = log_p.max(axis=0)
        self.constant = -float(self.rows.weight @ top)
        self.shift = log_shares(self.labels[0], mislabel[0], len(self.rows.weight))
        return np.asarray(np.exp(log_p - top))

    def following(self, parameters: Array, mislabel: Any) -> Any:
        posterior, weight = self.posterior(parameters, mislabel).copy(), self.rows.weight
        prior = self.prior(*self.fitted(parameters))
        return tuple(
            learned(labels, posterior, prior, weight, habits, estimate)
            for labels, habits, estimate in zip(self.labels, mislabel, self.estimates, strict=True)
        )


def _softmax(logits: Array) -> Array:
    logits -= logits.max(axis=0)
    np.exp(logits, out=logits)
    logits /= logits.sum(axis=0)
    return logits
