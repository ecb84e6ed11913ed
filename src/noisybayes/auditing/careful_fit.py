"""A second reading of the scores, which prefers to call rows ambiguous rather than labels wrong.

The fit has one temperature for all classes. Where two of them overlap, a temperature that suits the other pairs makes
their scores too sure, and the matrix has to explain the labels that do not follow: ambiguity becomes mislabeling. Here
every pair of classes may have scores of its own worth, and the matrix must earn its place:

    logits = S + S D + offset,   S = factor * scores of the fit,   D symmetric with a normal prior

    all right   the matrix is the identity: labels that are all right explain what they can
    careful     the matrix is free, from a start near the identity (or from the fit, if that is better by far), and
                drawn back to the identity by as much as it fails to explain more than "all right" does

It is too careful where mistakes are many and real, so that it is no estimate of the noise rate by itself: it is the
lower end of a range, and it decides which labels may be corrected unseen.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import minimize

from ..dataset import Rows
from ..dataset.tree import Array
from ..model.mislabel import constant_rate
from ..robust.calibration import Labels
from ..robust.label_weights import Reweighted
from .judged import Judged

# Enough rows for the numbers of one pair of classes; more rows would only take longer.
_MOST_ROWS = 5_000
# Beyond this many classes pairs have too few rows to tell what their scores are worth, and D stays zero.
_MOST_CLASSES = 40
# Standard deviation of what the scores of a pair may be worth more or less than those of the others.
_SPREAD = 0.3
# Nats per row and square of an offset: hardly any, since offsets must say what scores get wrong.
_MOST_PENALTY = 0.001
# Labels are mostly right: the matrix starts there.
_START_DIAGONAL = 0.95
# Nats per row by which the start from the fit must end higher.
_MUST_GAIN = 0.0075
# Nats of total gain over "all right" at which the matrix counts for half.
_HALF = 3.0
# A bound on the steps of the solver.
_STEPS = 60
# Keeps a label that no class allows from becoming nan.
_TINY = 1e-300


class PairScores(NamedTuple):
    """What the scores are worth, and how labels go wrong."""

    factor: float
    pairs: Array  # (K, K) symmetric
    offset: Array  # (K,)
    matrix: Array  # (K, K): [observed, true]

    def prior(self, scores: Array) -> Array:
        """(n, K) P(true | x)"""
        return _softmax(self.logits(scores))

    def logits(self, scores: Array) -> Array:
        scaled = self.factor * scores
        return np.asarray(scaled + scaled @ self.pairs + self.offset)

    def true(self, scores: Array, observed: Array) -> Array:
        """(n, K) P(true | x, label); of rows without a label, P(true | x)."""
        prior = self.prior(scores)
        table = np.vstack([self.matrix, np.ones(len(self.matrix))])
        joint = prior * table[observed] + _TINY
        return np.asarray(joint / joint.sum(axis=1, keepdims=True))


class CarefulFit(NamedTuple):
    all_right: PairScores
    careful: PairScores

    def of(self, fitted: Reweighted, rows: Rows) -> tuple[Array, Array]:
        """(n, K) twice: P(true | x) if labels are all right, and P(true | x, label) by the careful reading."""
        scores = scores_of(fitted, rows)
        return self.all_right.prior(scores), self.careful.true(scores, rows.observed)


class Sums(NamedTuple):
    """Over rows with a label, by weight; verified ones are left out."""

    unexplained: float  # share of labels that "all right" does not expect: mean of 1 - P(label | x)
    wrong: float  # share of labels that the careful reading doubts
    surprise: float  # mean of `surprise_of`


def careful_fit(judged: Judged) -> CarefulFit:
    rows = judged.some_rows(_MOST_ROWS)
    rows = rows.take(np.flatnonzero(rows.observed < len(judged.classes)))
    labels = Labels.of(rows)
    problem = _Problem(scores_of(judged.fitted, rows), rows.observed, labels.weight[:, 0], _pseudo(judged))
    K = len(judged.classes)
    start = PairScores(1.0, np.zeros((K, K)), np.zeros(K), np.eye(K))
    plain, height = problem.fit(start, with_pairs=False, with_matrix=False)
    by_pair, higher = problem.fit(plain, True, False) if K <= _MOST_CLASSES else (plain, -np.inf)
    has_pairs = higher - height > K * (K + 1) / 2
    all_right, least = (by_pair, higher) if has_pairs else (plain, height)
    from_fit, top = problem.fit(start._replace(matrix=judged.fitted.calibration.mislabel[0]), has_pairs, True)
    if has_pairs:
        near = all_right._replace(matrix=constant_rate(K, _START_DIAGONAL))
        careful, reached = problem.fit(near, True, True)
        if top - reached > _MUST_GAIN * problem.total:
            careful, reached = from_fit, top
    else:
        careful, reached = from_fit, top
    gain = (reached - least) * judged.n_labeled / max(len(rows.observed), 1)
    share = 1.0 / (1.0 + np.exp(np.clip(_HALF - gain, -500, 500)))
    matrix = share * careful.matrix + (1.0 - share) * np.eye(K)
    return CarefulFit(all_right, careful._replace(matrix=matrix))


def sums_of(judged: Judged, careful: CarefulFit) -> Sums:
    *totals, n, weight = judged.data.map_sum(partial(_sums, fitted=judged.fitted, careful=careful))
    unexplained, wrong = (float(total / max(weight, _TINY)) for total in totals[:2])
    return Sums(unexplained, wrong, float(totals[2] / max(n, 1)))


def _sums(rows: Rows, fitted: Reweighted, careful: CarefulFit) -> Array:
    prior, true = careful.of(fitted, rows)
    there = np.flatnonzero(rows.observed < prior.shape[1])
    label, weight = rows.observed[there], Labels.of(rows).weight[there, 0]
    doubts = [weight @ (1.0 - found[there, label]) for found in (prior, true)]
    return np.array([*doubts, surprise_of(fitted, rows).sum(), len(there), weight.sum()])


def surprise_of(fitted: Reweighted, rows: Rows) -> Array:
    """How little the fit expects the label of every row that has one: 1 minus its mean probability with and without the
    label itself. The one is best where mistakes follow the class, the other where they sit on unclear rows."""
    found = fitted.unverified(rows)
    there = np.flatnonzero(rows.observed < found.true.shape[2])
    label = rows.observed[there]
    return np.asarray(1.0 - 0.5 * (found.prior[there, 0, label] + found.true[there, 0, label]))


def scores_of(fitted: Reweighted, rows: Rows) -> Array:
    """(n, K) log P(true | x) of the fit, with mean 0."""
    joint = fitted.calibration.log_joint(fitted.scorer.scores(rows))[:, 0].astype(np.float64)
    return np.asarray(joint - joint.mean(axis=1, keepdims=True))


def _pseudo(judged: Judged) -> float:
    return 1.0 if judged.training is None else judged.training.found.problem.config.pseudo_rows


class _Problem:
    """The penalised likelihood of some labels, and where it is highest."""

    def __init__(self, scores: Array, observed: Array, weight: Array, pseudo_rows: float) -> None:
        self.by_class, self.observed, self.weight = np.ascontiguousarray(scores.T), observed, weight
        n, K = scores.shape
        self.is_label = sparse.csr_array((np.ones(n), (observed, np.arange(n))), shape=(K, n))
        self.total, self.K = float(weight.sum()), scores.shape[1]
        self.upper = np.triu_indices(self.K)
        spread = np.where(self.upper[0] == self.upper[1], np.sqrt(2.0), 1.0) * _SPREAD
        self.precision = 1.0 / spread**2
        self.pseudo_rows = pseudo_rows

    def fit(self, start: PairScores, with_pairs: bool, with_matrix: bool) -> tuple[PairScores, float]:
        """Where the search from `start` ends, and how high."""
        K = self.K
        rate = float(np.trace(start.matrix)) / K
        pseudo = self.pseudo_rows * constant_rate(K, min(max(rate, 0.5), 0.99))
        first = [np.log(start.factor), *start.offset]
        first += list(start.pairs[self.upper]) if with_pairs else []
        first += list(np.log(np.maximum(start.matrix, 1e-4)).ravel()) if with_matrix else []

        def unpacked(numbers: Array) -> PairScores:
            pairs = np.zeros((K, K))
            rest = numbers[K + 1 :]
            if with_pairs:
                pairs[self.upper] = rest[: len(self.precision)]
                pairs = pairs + pairs.T - np.diag(np.diag(pairs))
                rest = rest[len(self.precision) :]
            matrix = _softmax(rest.reshape(K, K).T).T if with_matrix else start.matrix
            return PairScores(float(np.exp(np.clip(numbers[0], -8, 4))), pairs, numbers[1 : K + 1], matrix)

        def loss(numbers: Array) -> tuple[float, Array]:
            return self._loss(unpacked(numbers), pseudo, with_pairs, with_matrix)

        end = minimize(loss, np.array(first), jac=True, method="L-BFGS-B", options={"maxiter": _STEPS, "maxcor": 20})
        found = unpacked(end.x)
        return found, -float(end.fun) * self.total

    def _loss(self, now: PairScores, pseudo: Array, with_pairs: bool, with_matrix: bool) -> tuple[float, Array]:
        """Minus the objective per row, and its gradient. Arrays are (K, n): sums over classes are fast that way."""
        scaled = now.factor * self.by_class
        logits = scaled + now.pairs @ scaled if with_pairs else scaled
        prior = np.exp(logits + now.offset[:, None] - (logits + now.offset[:, None]).max(axis=0))
        prior /= prior.sum(axis=0)
        joint = prior * now.matrix.T[:, self.observed]
        told = joint.sum(axis=0) + _TINY
        posterior = joint / told * self.weight
        gap = posterior - prior * self.weight
        value = self.weight @ np.log(told) - _MOST_PENALTY * self.total * (now.offset**2).sum()
        slope = [np.array([(gap * logits).sum()]), gap.sum(axis=1) - 2 * _MOST_PENALTY * self.total * now.offset]
        if with_pairs:
            pairs = now.pairs[self.upper]
            both = scaled @ gap.T
            both = both + both.T - np.diag(np.diag(both))
            value -= 0.5 * (self.precision * pairs**2).sum()
            slope.append(both[self.upper] - self.precision * pairs)
        if with_matrix:
            counts = self.is_label @ posterior.T + pseudo
            value += (pseudo * np.log(now.matrix + _TINY)).sum()
            slope.append((counts - now.matrix * counts.sum(axis=0)).ravel())
        return -float(value) / self.total, -np.concatenate(slope) / self.total


def _softmax(logits: Array) -> Array:
    """Over the last axis."""
    raised = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True))
