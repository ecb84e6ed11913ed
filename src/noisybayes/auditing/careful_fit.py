"""A second reading of the scores, which prefers ambiguous rows to wrong labels.

The fit has one temperature for all classes. If two of them overlap, a temperature that suits the other pairs makes
their scores overconfident, and the matrix has to explain the remaining labels: ambiguity becomes mislabeling. Here the
scores of each pair of classes have their own scale, and the matrix must be supported by the labels:

    logits = S + S D + offset,   S = factor * scores of the fit,   D symmetric with a normal prior

    all right   the matrix is the identity: all labels are assumed to be right
    careful     the matrix is free, starting near the identity (or at the fit, if that is far better), and is shrunk
                towards the identity unless it explains more than "all right" does

It is too conservative if there are many real mistakes, so it is not an estimate of the noise rate. It is the lower end
of a range, and it decides which labels may be corrected without review.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from ..dataset import Rows
from ..dataset.tree import Array
from ..model.mislabel import constant_rate
from ..robust.calibration import Labels
from ..robust.label_weights import Reweighted
from .judged import Judged
from .pair_scores import TINY, LabelProblem, PairScores

# Enough rows to estimate the parameters; more would only take longer.
_MOST_ROWS = 5_000
# With more classes, pairs have too few rows to estimate the scale of their scores, and D stays zero.
_MOST_CLASSES = 40
# Labels are mostly right: the matrix starts there.
_START_DIAGONAL = 0.95
# Nats per row by which the start at the fit must be better.
_MUST_GAIN = 0.0075
# Total gain over "all right", in nats, at which the matrix has weight one half.
_HALF = 3.0


class CarefulFit(NamedTuple):
    all_right: PairScores
    careful: PairScores

    def of(self, fitted: Reweighted, rows: Rows) -> tuple[Array, Array]:
        """(n, K) twice: P(true | x) if all labels are right, and P(true | x, label) under the careful reading."""
        scores = scores_of(fitted, rows)
        return self.all_right.prior(scores), self.careful.true(scores, rows.observed)


class Sums(NamedTuple):
    """Weighted means over rows with a label that are not verified."""

    unexplained: float  # share of labels that "all right" does not explain: mean of 1 - P(label | x)
    wrong: float  # share of wrong labels under the careful reading
    surprise: float  # mean of `surprise_of`


def label_problem(judged: Judged, most_rows: int = _MOST_ROWS) -> LabelProblem:
    """The labels of some rows, and their scores under the fit."""
    rows = judged.some_rows(most_rows)
    rows = rows.take(np.flatnonzero(rows.observed < len(judged.classes)))
    return LabelProblem(scores_of(judged.fitted, rows), rows.observed, Labels.of(rows).weight[:, 0], _pseudo(judged))


def careful_fit(judged: Judged, problem: LabelProblem | None = None) -> CarefulFit:
    """problem : `label_problem` of the rows, if already computed"""
    problem = problem or label_problem(judged)
    K = len(judged.classes)
    start = PairScores(1.0, np.zeros((K, K)), np.zeros(K), np.eye(K))
    plain, height = problem.plain
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
    gain = (reached - least) * judged.n_labeled / max(len(problem.observed), 1)
    share = 1.0 / (1.0 + np.exp(np.clip(_HALF - gain, -500, 500)))
    matrix = share * careful.matrix + (1.0 - share) * np.eye(K)
    return CarefulFit(all_right, careful._replace(matrix=matrix))


def sums_of(judged: Judged, careful: CarefulFit) -> Sums:
    *totals, n, weight = judged.data.map_sum(partial(_sums, fitted=judged.fitted, careful=careful))
    unexplained, wrong = (float(total / max(weight, TINY)) for total in totals[:2])
    return Sums(unexplained, wrong, float(totals[2] / max(n, 1)))


def _sums(rows: Rows, fitted: Reweighted, careful: CarefulFit) -> Array:
    prior, true = careful.of(fitted, rows)
    there = np.flatnonzero(rows.observed < prior.shape[1])
    label, weight = rows.observed[there], Labels.of(rows).weight[there, 0]
    doubted = [weight @ (1.0 - found[there, label]) for found in (prior, true)]
    return np.array([*doubted, surprise_of(fitted, rows).sum(), len(there), weight.sum()])


def surprise_of(fitted: Reweighted, rows: Rows) -> Array:
    """How unexpected each label is under the fit: 1 minus its mean probability with and without the label itself. The
    former is best if mistakes depend on the class, the latter if they are made on ambiguous rows."""
    found = fitted.unverified(rows)
    there = np.flatnonzero(rows.observed < found.true.shape[2])
    label = rows.observed[there]
    return np.asarray(1.0 - 0.5 * (found.prior[there, 0, label] + found.true[there, 0, label]))


def scores_of(fitted: Reweighted, rows: Rows) -> Array:
    """(n, K) log P(true | x) of the fit, with mean 0."""
    joint = fitted.calibration.log_joint(fitted.scorer.scores(rows))[:, 0].astype(np.float64)
    return np.asarray(joint - joint.mean(axis=1, keepdims=True))


def scores_of_all(judged: Judged) -> Array:
    """(n, K) the same for all rows, in order."""
    (found,) = judged.data.collect(partial(_scores, fitted=judged.fitted))
    return found


def _scores(rows: Rows, fitted: Reweighted) -> tuple[Array]:
    return (scores_of(fitted, rows),)


def _pseudo(judged: Judged) -> float:
    return 1.0 if judged.training is None else judged.training.found.problem.config.pseudo_rows
