"""What wrong labels cost naive Bayes on binary features, by simulation from the labels and the matrix.

Measuring a classifier against labels drawn from posteriors of the same scores is circular: if features are weak, it
shows no cost at all. Here nothing is measured against such labels. With R = P(true | given) from the matrix and the
class shares, the rates of ones by given label are mixtures of those by class, so that

    rates by class = R^-1 rates by label

These are noisy, but they show how much classes differ, as a covariance over the classes with the noise subtracted.
Rates of every column are drawn from it. Naive Bayes only needs sums, which are drawn too; both classifiers, on given
and on true labels, then predict the same new rows.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit, ndtri

from ..dataset import Rows
from ..dataset.tree import Array
from .intervals import Interval
from .judged import Judged

# Simulations whose mean is the estimate.
_CENTRE_DRAWS = 10
# Simulations with matrices drawn from their intervals, whose spread is that of the estimate.
_SPREAD_DRAWS = 30
# Error of the simulation itself, besides chance and the matrix.
_SIMULATION_ERROR = 0.01
# Student's t, and a factor for what the draws leave out, from simulations with known cost.
_SPREAD_FACTOR = 1.7 / 1.645
# Rows whose labels are almost certainly right, which keep the inverse from exploding.
_MIN_CERTAIN_SHARE = 0.02
# Rows times columns of a simulated test set, enough for a precision of 0.1 points.
_CELLS = 500_000
_MIN_TESTS, _MAX_TESTS = 200, 4_000
# Simulated rates are kept this far from 0 and 1.
_MIN_P = 1e-3


class LabelSums(NamedTuple):
    ones: Array  # (K, d) by given label
    weight: Array  # (K,)


class Simulated(NamedTuple):
    delta: float
    low: float
    high: float


def simulated_impact(judged: Judged, matrix: Interval, level: float, seed: int) -> Simulated:
    """matrix : (K, K) with its interval, which shows how uncertain it is"""
    sums = LabelSums(*judged.data.map_sum(partial(_block_sums, n_classes=len(judged.classes))))
    rng = np.random.default_rng(seed)
    centre = [_cost(sums, matrix.estimate, rng) for _ in range(_CENTRE_DRAWS)]
    z = float(ndtri(0.5 + level / 2))
    draws = [_cost(sums, _draw_matrix(matrix, z, rng), rng) for _ in range(_SPREAD_DRAWS)]
    half_width = _SPREAD_FACTOR * z * float(np.hypot(np.std(draws, ddof=1), _SIMULATION_ERROR))
    delta = float(np.mean(centre))
    return Simulated(delta, delta - half_width, delta + half_width)


def _block_sums(rows: Rows, n_classes: int) -> tuple[Array, Array]:
    """Counts of ones in every column and of rows, by given label."""
    weight = np.ones(rows.n_rows) if rows.weight is None else rows.weight
    given = np.zeros((rows.n_rows, n_classes))
    labeled = np.flatnonzero(rows.observed < n_classes)
    given[labeled, rows.observed[labeled]] = weight[labeled]
    return np.asarray((rows.X.T @ given).T, dtype=np.float64), given.sum(axis=0)


def _draw_matrix(matrix: Interval, z: float, rng: np.random.Generator) -> Array:
    """A matrix drawn from its intervals."""

    def log_odds(p: Array) -> Array:
        return np.asarray(logit(np.clip(p, 1e-6, 1 - 1e-6)))

    spread = (log_odds(matrix.high) - log_odds(matrix.low)) / (2 * z)
    drawn = expit(log_odds(matrix.estimate) + spread * rng.normal(size=spread.shape))
    return np.asarray(drawn / drawn.sum(axis=0))


def _cost(sums: LabelSums, matrix: Array, rng: np.random.Generator) -> float:
    """Accuracy of naive Bayes on given labels minus that on true labels, in one simulation."""
    shares = sums.weight / sums.weight.sum()
    prior = np.clip(np.linalg.lstsq(matrix, shares, rcond=None)[0], 0.2 * shares.min(), None)
    prior /= prior.sum()
    true_given = matrix * prior
    true_given /= np.maximum(true_given.sum(axis=1, keepdims=True), 1e-300)  # R: P(true | given), rows given
    rates = _rates(sums, (1 - _MIN_CERTAIN_SHARE) * true_given + _MIN_CERTAIN_SHARE * np.eye(len(prior)), rng)
    by_label = true_given @ rates
    n = sums.weight.sum()
    wrong = _learned(by_label, np.maximum(sums.weight, 1.0), rng)
    right = _learned(rates, np.maximum(n * prior, 1.0), rng)
    d = rates.shape[1]
    true = rng.choice(len(prior), size=int(np.clip(_CELLS // d, _MIN_TESTS, _MAX_TESTS)), p=prior)
    X = (rng.random((len(true), d)) < rates[true]).astype(np.float64)
    hits = [np.mean((X @ weights + constant).argmax(axis=1) == true) for weights, constant in (wrong, right)]
    return float(hits[0] - hits[1])


def _rates(sums: LabelSums, true_given: Array, rng: np.random.Generator) -> Array:
    """(K, d) simulated rates of ones by class, which differ as much as the classes do."""
    K, d = sums.ones.shape
    weight = np.maximum(sums.weight, 1.0)[:, None]
    pooled = (sums.ones.sum(axis=0) + 0.5) / (weight.sum() + 1.0)
    inverse = np.linalg.pinv(true_given)
    apart = inverse @ (sums.ones / weight) - pooled
    noise = inverse @ np.diag(np.mean(pooled * (1 - pooled)) / weight[:, 0]) @ inverse.T
    values, vectors = np.linalg.eigh(apart @ apart.T / d - noise)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return np.asarray(np.clip(pooled + root @ rng.normal(size=(K, d)), _MIN_P, 1 - _MIN_P))


def _learned(rates: Array, weight: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Weights (d, K) and constants (K,) of naive Bayes, from these rows of each class and two pseudo-rows."""
    rows = np.round(weight).astype(int)[:, None]
    p = (rng.binomial(rows, rates) + 1.0) / (rows + 2.0)
    log_p, log_q = np.log(p), np.log1p(-p)
    return np.asarray((log_p - log_q).T), np.asarray(log_q.sum(axis=1) + np.log(weight / weight.sum()))
