"""A second, conservative model of the labels, which prefers ambiguous rows to wrong labels.

The fit has one temperature for all classes. If two of them overlap, a temperature that suits the other pairs makes
their scores overconfident, and the matrix has to explain the remaining labels: ambiguity becomes mislabeling. Here the
scores of each pair of classes have their own scale, and the matrix must be supported by the labels:

    logits = S + S D + offset,   S = factor * scores of the fit,   D symmetric with a normal prior

    all right      the matrix is the identity: all labels are assumed to be right
    conservative   the matrix is free, starting near the identity (or at the fit, if that is far better), and is
                   shrunk towards the identity unless it explains more than "all right" does

It is too conservative if there are many real mistakes, so it is not an estimate of the noise rate. It is the lower end
of a range, and it decides which labels may be corrected without review.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from ..dataset import Rows
from ..dataset.tree import Array
from ..robust.calibration import Labels
from ..robust.label_weights import Reweighted
from ..robust.old_model.mislabel import constant_rate
from .judged import Judged
from .pair_scores import TINY, LabelProblem, PairScores

# Enough rows to estimate the parameters; more would only take longer.
_MAX_ROWS = 5_000
# With more classes, pairs have too few rows to estimate the scale of their scores, and D stays zero.
_MAX_CLASSES = 40
# Labels are mostly right: the matrix starts there.
_START_DIAGONAL = 0.95
# Nats per row by which the start at the fit must be better.
_MIN_GAIN = 0.0075
# Total gain over "all right", in nats, at which the matrix has weight one half.
_HALF_WEIGHT_GAIN = 3.0


class ConservativeFit(NamedTuple):
    all_right: PairScores
    with_matrix: PairScores

    def posteriors(self, fitted: Reweighted, rows: Rows) -> tuple[Array, Array]:
        """(n, K) twice: P(true | x) if all labels are right, and P(true | x, label) under the conservative model."""
        scores = scores_of(fitted, rows)
        return self.all_right.prior(scores), self.with_matrix.true(scores, rows.observed)


class ConservativeMeans(NamedTuple):
    """Weighted means over rows with a label that are not verified."""

    unexplained: float  # share of labels that "all right" does not explain: mean of 1 - P(label | x)
    wrong: float  # share of wrong labels under the conservative model


def label_problem(judged: Judged, max_rows: int = _MAX_ROWS) -> LabelProblem:
    """The labels of some rows, and their scores under the fit."""
    rows = judged.some_rows(max_rows)
    rows = rows.take(np.flatnonzero(rows.observed < len(judged.classes)))
    weight = Labels.of(rows).weight[:, 0]
    return LabelProblem(scores_of(judged.fitted, rows), rows.observed, weight, _pseudo_rows(judged))


def conservative_fit(judged: Judged, problem: LabelProblem | None = None) -> ConservativeFit:
    """problem : `label_problem` of the rows, if already computed"""
    problem = problem or label_problem(judged)
    K = len(judged.classes)
    start = PairScores(1.0, np.zeros((K, K)), np.zeros(K), np.eye(K))
    plain, plain_value = problem.plain
    by_pair, by_pair_value = problem.fit(plain, True, False) if K <= _MAX_CLASSES else (plain, -np.inf)
    has_pairs = by_pair_value - plain_value > K * (K + 1) / 2
    all_right, all_right_value = (by_pair, by_pair_value) if has_pairs else (plain, plain_value)
    at_fit = start._replace(matrix=judged.fitted.calibration.mislabel[0])
    from_fit, from_fit_value = problem.fit(at_fit, has_pairs, True)
    if has_pairs:
        near_identity = all_right._replace(matrix=constant_rate(K, _START_DIAGONAL))
        conservative, value = problem.fit(near_identity, True, True)
        if from_fit_value - value > _MIN_GAIN * problem.total:
            conservative, value = from_fit, from_fit_value
    else:
        conservative, value = from_fit, from_fit_value
    gain = (value - all_right_value) * judged.n_labeled / max(len(problem.observed), 1)
    share = 1.0 / (1.0 + np.exp(np.clip(_HALF_WEIGHT_GAIN - gain, -500, 500)))
    matrix = share * conservative.matrix + (1.0 - share) * np.eye(K)
    return ConservativeFit(all_right, conservative._replace(matrix=matrix))


def conservative_means(judged: Judged, conservative: ConservativeFit) -> ConservativeMeans:
    *sums, weight = judged.data.map_sum(partial(_block_sums, fitted=judged.fitted, conservative=conservative))
    return ConservativeMeans(*(float(total / max(weight, TINY)) for total in sums))


def _block_sums(rows: Rows, fitted: Reweighted, conservative: ConservativeFit) -> Array:
    prior, true = conservative.posteriors(fitted, rows)
    labeled = np.flatnonzero(rows.observed < prior.shape[1])
    label, weight = rows.observed[labeled], Labels.of(rows).weight[labeled, 0]
    p_wrong = [weight @ (1.0 - posterior[labeled, label]) for posterior in (prior, true)]
    return np.array([*p_wrong, weight.sum()])


def scores_of(fitted: Reweighted, rows: Rows) -> Array:
    """(n, K) log P(true | x) of the fit, with mean 0."""
    joint = fitted.calibration.log_joint(fitted.scorer.scores(rows))[:, 0].astype(np.float64)
    return np.asarray(joint - joint.mean(axis=1, keepdims=True))


def scores_of_all(judged: Judged) -> Array:
    """(n, K) the same for all rows, in order."""
    (scores,) = judged.data.collect(partial(_block_scores, fitted=judged.fitted))
    return scores


def _block_scores(rows: Rows, fitted: Reweighted) -> tuple[Array]:
    return (scores_of(fitted, rows),)


def _pseudo_rows(judged: Judged) -> float:
    return 1.0 if judged.training is None else judged.training.robust_fit.problem.config.pseudo_rows
