"""A weighted-likelihood bootstrap of the robust fit in one step.

Every row gets a random weight (exponential, mean 1), by the hash of its number. A draw moves the sums that the fit is a
maximum of in two ways: rows count otherwise, and scores learned from rows that count otherwise are others.

    sums of draw r = sum_i w_ri f_i(scores of the fit) + sum_i w_ri (f_i(scores of the draw) - f_i(scores of the fit))

The first sum is over all rows, and cheap. The second is small, and of many rows those of one fold tell it: then the
scores of a draw need to be learned without that fold only. Calibration and matrix take one Newton step (`one_step`) to
where these sums lead.
"""

from __future__ import annotations

from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from .._threads import in_threads
from ..dataset import Rows
from ..dataset.folds import uniform
from ..dataset.short_rows import pieces_of
from ..dataset.tree import Array, add_into
from ..model.mislabel import constant_rate
from ..robust.calibration import Calibration, Labels
from ..robust.calibration_solver import Target, accelerate
from ..robust.label_weights import LabelWeights, Weighted
from .judged import Judged
from .one_step import Gradient, curvature, gradient, gradient_by_weights, step

# From so many rows on, those of one fold tell how draws learn other scores.
_MANY_ROWS = 20_000
# As many of that fold.
_ROWS_OF_FOLD = 10_000
# A step goes no further, in logarithms: far from the fit its curvature says nothing.
_FARTHEST = 1.5
_TOLERANCE = 1e-6


class Bootstrapped(NamedTuple):
    """Label weights times random weights of the rows, one for each draw."""

    weights: LabelWeights
    seed: int
    n_draws: int

    def __call__(self, rows: Rows) -> Weighted:
        label, weight = self.weights(rows)
        return Weighted(label, weight * self.factors(rows))

    def factors(self, rows: Rows) -> Array:
        """(n, R)"""
        draws = [uniform(self.seed + r, rows.number) for r in range(self.n_draws)]
        return np.asarray(-np.log(np.column_stack(draws)))


class Block(NamedTuple):
    """Rows in memory: their scores by the fit, and their weights in every draw and (last) as they are."""

    rows: Rows
    scores: Array  # (B, n, 1, K)
    labels: Labels
    weight: Array  # (n, R + 1)

    @classmethod
    def of(cls, rows: Rows, scorer: Any, bootstrap: Bootstrapped) -> Block:
        labels = Labels.of(rows)
        factors = np.column_stack([bootstrap.factors(rows), np.ones(rows.n_rows)])
        return cls(rows, scorer.scores(rows).astype(np.float64), labels, labels.weight * factors)

    def take(self, index: Array) -> Block:
        return Block(self.rows.take(index), self.scores[:, index], self.labels.take(index), self.weight[index])


class Draws(NamedTuple):
    """Of every draw, and last of the rows as they are."""

    block: Block  # the rows that the draws are of
    few: Block  # those that tell how draws learn other scores: all of them, or some of one fold
    scores: Array  # (B, n_few, R + 1, K)
    n_threads: int

    @property
    def weighted_labels(self) -> Labels:
        return self.few.labels._replace(weight=self.few.weight)

    def sums(self, calibration: Calibration, at: Calibration) -> Gradient:
        """At a calibration for each draw. at : that of the fit, by which the scores of the fit are judged"""
        of_draws = self._of_draws(calibration)
        if self.few is self.block:
            return of_draws
        of_fit, of_fit_few = (
            gradient_by_weights(at, block.scores, block.labels, block.weight) for block in (self.block, self.few)
        )
        scale = len(self.block.weight) / len(self.few.weight)
        parts = zip(of_fit, of_draws, of_fit_few, strict=True)
        return Gradient(*(total + scale * (drawn - same) for total, drawn, same in parts))

    def _of_draws(self, calibration: Calibration) -> Gradient:
        def of_piece(piece: slice) -> Gradient:
            labels = self.few.labels.take(piece)._replace(weight=self.few.weight[piece])
            return gradient(calibration, self.scores[:, piece], labels)

        _, n, R, K = self.scores.shape
        total: Gradient = reduce(add_into, in_threads(of_piece, pieces_of(n, R * K), self.n_threads))
        return total


def relearned(judged: Judged) -> bool:
    """Whether draws learn scores of their own: those of other classifiers would take too long."""
    return judged.training is not None and bool(judged.training.found.problem.source.additive)


def draw(judged: Judged, rows: Rows, bootstrap: Bootstrapped, one_fold: bool = True) -> Draws:
    """rows : in memory, that the draws are of. one_fold : whether one fold may tell, if rows are many"""
    scorer = judged.fitted.scorer if judged.training is None else judged.training.found.last.learned.out_of_fold
    block = Block.of(rows, scorer, bootstrap)
    one_fold = one_fold and rows.n_rows >= _MANY_ROWS
    few = block.take(np.flatnonzero(rows.fold == 0)[:_ROWS_OF_FOLD]) if one_fold else block
    scores = np.concatenate([_scores_of_draws(judged, few, bootstrap, one_fold), few.scores], axis=2)
    n_threads = 1 if judged.training is None else judged.training.found.problem.source.n_threads
    return Draws(block, few, scores, n_threads)


def calibrations(judged: Judged, draws: Draws, pseudo_rows: float) -> tuple[Calibration, Calibration]:
    """The maximum for the rows as they are (one replicate), and where a Newton step leads every draw."""
    assert judged.training is not None
    found = judged.training.found
    penalty, K = found.choice.offsets.penalty, len(judged.classes)
    few, block = draws.few, draws.block
    target = Target(few.scores, few.labels, found.problem.structure, np.array([penalty]), found.problem.config)
    start = accelerate(target, found.calibration, _TOLERANCE, pseudo_rows)
    repeated = start.take(np.zeros(block.weight.shape[1], dtype=int))
    pseudo = pseudo_rows * constant_rate(K, np.trace(start.mislabel[0]) / K)
    slope = draws.sums(repeated, start).with_priors(start, penalty, block.weight.sum(axis=0), pseudo)
    curve = curvature(start, block.scores, block.labels, penalty, pseudo)
    return start, _stepped(start, repeated, *step(curve, slope))


def _scores_of_draws(judged: Judged, block: Block, bootstrap: Bootstrapped, one_fold: bool) -> Array:
    """(B, n, R, K)"""
    if not relearned(judged):
        return np.repeat(block.scores, bootstrap.n_draws, axis=2)
    assert judged.training is not None
    found = judged.training.found
    source, model, reweighted = found.problem.source, found.choice.model, found.last.number > 0
    data = judged.data if judged.sample.is_all else judged.sample.dataset(source.n_classes)
    if one_fold:
        out_of_fold = source.learn_without(data, bootstrap, model, reweighted, 0, bootstrap.n_draws)
    else:
        out_of_fold = source.learn(data, bootstrap, model, reweighted).out_of_fold
    return np.asarray(out_of_fold.scores(block.rows))


def _stepped(start: Calibration, repeated: Calibration, corner: Array, matrix: Array) -> Calibration:
    corner, matrix = (np.clip(part, -_FARTHEST, _FARTHEST) for part in (corner, matrix))
    B = start.temperature.shape[1]
    # a temperature steps on the scale of its logarithm, so that it stays positive
    relative = np.clip(corner[:, :B] / start.temperature, -_FARTHEST, _FARTHEST)
    mislabel = start.mislabel * np.exp(matrix)
    return repeated._replace(
        temperature=start.temperature * np.exp(relative),
        offset=start.offset + corner[:, B:],
        mislabel=mislabel / mislabel.sum(axis=1, keepdims=True),
    )
