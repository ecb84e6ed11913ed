"""Two readings of scores: how a row with these scores came to its label.

By the matrix: mistakes follow the class. Calibrated scores give P(true | x), the mislabeling matrix P(label | true):

    P(true = k | x, y) proportional to P(k | x) * mislabel[y, k],   P(k | x) = softmax(sum_b t_b s_b + base + offset)[k]

Plainly: the label tells nothing new. P(k | x) is fitted to the labels themselves, and says what a row's label should be
by the labels of similar rows. It finds mistakes on ambiguous rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..model.matrix import Structure
from .columns import MANY_ROWS
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

    def log_prior(self, values: Array) -> Array:
        """(K, n) log P(true | x) of scores (B, K, n), without the label."""
        return log_softmax(_logits(values, self.temperature, self.intercept))

    def log_posterior(self, values: Array, observed: Array) -> Array:
        """(K, n) log P(true | x, label), for the labels as they are: codes; K where missing."""
        log_p = self.log_prior(values)
        if self.mislabel is None:
            return log_p
        return log_softmax(log_p + _log_label(self.mislabel)[observed].T)


def log_softmax(logits: Array) -> Array:
    """(K, n), in place"""
    logits -= logits.max(axis=0)
    logits -= np.log(np.exp(logits).sum(axis=0))
    return logits


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
    offset_spread: float | None = None,
) -> Reading:  # fmt: skip
    """Temperatures, offsets and matrix by EM. prior : (K,) known class shares; start : a reading of similar scores;
    offset_spread : standard deviation of a normal prior on the offsets, in place of a penalty for every row"""
    values, rows = _sample(values, learning)
    likelihood = _Likelihood(values, rows, by_matrix=True, prior=prior)
    if offset_spread is not None:
        likelihood.penalty = 0.5 / offset_spread**2
    if start is None or start.mislabel is None:
        tried = [
            _em(likelihood, structure, likelihood.start, _start(structure, rows.n_classes, diagonal), _STEPS)
            for diagonal in _START_DIAGONALS
        ]
        first, mislabel, _ = min(tried, key=lambda found: found[2])
    else:
        first, mislabel = likelihood.parameters_of(start), start.mislabel
    parameters, mislabel, loss = _em(likelihood, structure, first, mislabel, _ROUNDS)
    temperature, intercept = likelihood.fitted(parameters)
    return Reading(temperature, intercept, mislabel, -loss / max(float(rows.weight.sum()), 1e-30))


def _em(
    likelihood: _Likelihood, structure: Structure, parameters: Array, mislabel: Array, rounds: int
) -> tuple[Array, Array, float]:
    last = loss = np.inf
    for _ in range(rounds):
        parameters, loss = likelihood.maximize(parameters, mislabel, _STEPS)
        counts = likelihood.expected_counts(parameters, mislabel)
        if last - loss < _TOLERANCE * likelihood.rows.weight.sum():
            break
        last, mislabel = loss, estimate(structure, counts)
    return parameters, mislabel, loss


def plain_reading(values: Array, learning: Learning, prior: Array | None = None) -> Reading:
    values, rows = _sample(values, learning)
    likelihood = _Likelihood(values, rows, by_matrix=False, prior=prior)
    parameters, loss = likelihood.maximize(likelihood.start, None)
    return Reading(*likelihood.fitted(parameters), None, -loss / max(float(rows.weight.sum()), 1e-30))


def recalibrated(reading: Reading, values: Array, learning: Learning) -> Reading:
    """The same matrix with temperatures and offsets for scores of rows that were not learned from."""
    values, rows = _sample(values, learning)
    likelihood = _Likelihood(values, rows, by_matrix=reading.mislabel is not None, prior=None)
    parameters, _ = likelihood.maximize(likelihood.parameters_of(reading), reading.mislabel)
    temperature, intercept = likelihood.fitted(parameters)
    return reading._replace(temperature=temperature, intercept=intercept)


def _sample(values: Array, learning: Learning) -> tuple[Array, Learning]:
    """The labeled rows, or evenly spaced ones; sorted by fold and class, as they are, these are a stratified sample."""
    labeled = np.flatnonzero(learning.counted > 0)
    most = min(MANY_ROWS, max(_MOST_ENTRIES // learning.n_classes, 1))
    if len(labeled) > most:
        labeled = labeled[np.linspace(0, len(labeled) - 1, most).astype(np.intp)]
    rows = learning._replace(
        observed=learning.observed[labeled], verified=learning.verified[labeled], weight=learning.counted[labeled]
    )
    whole = len(labeled) == values.shape[2]
    return (values if whole else values[:, :, labeled]).astype(np.float64), rows


def _start(structure: Structure, n_classes: int, diagonal: float) -> Array:
    if n_classes == 1:
        return np.ones((1, 1))
    off = (1.0 - diagonal) / (n_classes - 1)
    counts = np.full((n_classes, n_classes), off) + (diagonal - off) * np.eye(n_classes)
    return np.asarray(structure.estimate(counts))


def estimate(structure: Structure, counts: Array) -> Array:
    K = len(counts)
    if K == 1:
        return np.ones((1, 1))
    rate = 1.0 - np.trace(counts) / max(counts.sum(), 1e-300)
    pseudo = np.full((K, K), rate / (K - 1)) + (1.0 - rate - rate / (K - 1)) * np.eye(K)
    return np.asarray(structure.estimate(counts + _PSEUDO_ROWS * pseudo))


class _Likelihood:
    """Of the labels of some rows; parameters are log temperatures and offsets."""

    def __init__(self, values: Array, rows: Learning, by_matrix: bool, prior: Array | None) -> None:
        self.values, self.rows, self.n_kinds = values, rows, len(values)
        K, label = rows.n_classes, rows.label
        counts = np.bincount(label, rows.weight, K)
        self.base = np.log((counts + 1.0) / (counts.sum() + K) if prior is None else np.maximum(prior, 1e-12))
        self.penalty = _OFFSET_PENALTY[by_matrix] * rows.weight.sum()
        self.label, self.every = label, np.arange(len(label))
        self.memory = np.empty((2, *values.shape[1:]))
        spread = np.maximum(values.std(axis=(1, 2)), 1e-12) if len(label) else np.ones(self.n_kinds)
        self.start = np.concatenate([-np.log(self.n_kinds * spread), np.zeros(K)])

    def parameters_of(self, reading: Reading) -> Array:
        return np.concatenate([np.log(reading.temperature), reading.intercept - self.base])

    def fitted(self, parameters: Array) -> tuple[Array, Array]:
        return np.exp(parameters[: self.n_kinds]), self.base + parameters[self.n_kinds :]

    def maximize(self, parameters: Array, mislabel: Array | None, steps: int = 1_000) -> tuple[Array, float]:
        from scipy.optimize import minimize  # takes a quarter of a second to import

        of_label = None if mislabel is None else self.of_label(mislabel)
        found = minimize(self.loss, parameters, (of_label,), jac=True, method="L-BFGS-B", options={"maxiter": steps})
        return found.x, float(found.fun)

    def of_label(self, mislabel: Array) -> Array:
        """(K, n) P(label | true), and whether a verified row has this true label."""
        rows = self.rows
        found = np.vstack([mislabel, np.ones(len(mislabel))])[rows.observed].T.copy()
        known = np.flatnonzero(rows.verified >= 0)
        if len(known):
            of_true = found[rows.verified[known], known]
            found[:, known] = 0.0
            found[rows.verified[known], known] = of_true
        return found

    def loss(self, parameters: Array, of_label: Array | None) -> tuple[float, Array]:
        temperature, intercept = self.fitted(parameters)
        p = _softmax(_logits(self.values, temperature, intercept, self.memory))
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
        loss = -float(weight @ np.log(of_row)) + self.penalty * float(offset @ offset) + 0.5 * float(away @ away)
        slopes = np.einsum("bkn,kn->b", self.values, gradient) * temperature - away / _TEMPERATURE_SPREAD
        return loss, np.concatenate([-slopes, -gradient.sum(axis=1) + 2.0 * self.penalty * offset])

    def expected_counts(self, parameters: Array, mislabel: Array) -> Array:
        """(K, K) weight of rows by label and true class."""
        K = self.rows.n_classes
        p = _softmax(_logits(self.values, *self.fitted(parameters), self.memory))
        p *= self.of_label(mislabel)
        p *= self.rows.weight / np.maximum(p.sum(axis=0), 1e-300)
        return np.stack([np.bincount(self.rows.observed, row, K + 1)[:K] for row in p], axis=1)


def _softmax(logits: Array) -> Array:
    logits -= logits.max(axis=0)
    np.exp(logits, out=logits)
    logits /= logits.sum(axis=0)
    return logits
