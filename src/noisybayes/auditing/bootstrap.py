"""A weighted-likelihood bootstrap of the robust fit in one step.

Every row gets a random weight (exponential, mean 1) from the hash of its number. A draw changes the sums that the fit
maximises in two ways: rows have other weights, and scores learned with these weights differ. Calibration and matrix
then take one Newton step (`newton_step`) towards the maximum of the new sums.

Draws that keep the scores of the fit are cheap. Draws that relearn them are not: they need a pass over the rows and
parameters for every fold.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from .._threads import in_threads
from ..dataset import Rows
from ..dataset.folds import uniform
from ..dataset.short_rows import row_slices
from ..dataset.tree import Array, add_into
from ..robust.calibration import Calibration, Labels
from ..robust.calibration_solver import Target, accelerate
from ..robust.label_weights import LabelWeights, WeightedLabels
from ..robust.old_model.mislabel import constant_rate
from .judged import Judged
from .newton_step import Gradient, curvature, gradient, gradient_by_weights, step

#: From this many rows on, a sample is used.
MANY_ROWS = 20_000
# Rows of that sample.
_FEW_ROWS = 10_000
# Classes times draws that are learned at once, since the parameters of every fold take memory.
_MAX_COMPONENTS = 32
# Maximum step in logarithms: far from the fit, its curvature is no guide.
_MAX_STEP = 1.5
# Nats per row. The step must start at a maximum: any distance to it would add to the spread.
_TOLERANCE = 1e-6


class Bootstrapped(NamedTuple):
    """Label weights times random weights of the rows, one for each draw."""

    weights: LabelWeights
    seed: int
    n_draws: int

    def __call__(self, rows: Rows) -> WeightedLabels:
        label, weight = self.weights(rows)
        return WeightedLabels(label, weight * self.factors(rows))

    def in_groups(self, size: int) -> Iterator[Bootstrapped]:
        """The same draws in groups."""
        for first in range(0, self.n_draws, size):
            yield self._replace(seed=self.seed + first, n_draws=min(size, self.n_draws - first))

    def factors(self, rows: Rows) -> Array:
        """(n, R)"""
        draws = [uniform(self.seed + r, rows.number) for r in range(self.n_draws)]
        return np.asarray(-np.log(np.column_stack(draws)))


class Block(NamedTuple):
    """Rows in memory: their scores under the fit, their weights in every draw, and (last) their original weights."""

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
    """Values for every draw; the last one has the original weights."""

    block: Block  # the rows to draw from
    few: Block  # rows that measure the effect of a step: all of them, or a sample
    scores: Array  # (B, n_few, R + 1, K)
    relearned: bool  # whether each draw relearned the scores
    n_threads: int

    @property
    def weighted_labels(self) -> Labels:
        return self.few.labels._replace(weight=self.few.weight)

    def sums_at(self, start: Calibration) -> Gradient:
        """The sums at one calibration for all draws."""
        if not self.relearned:
            return _gradient_by_weights(start, self.block)
        return self.sums(start.take(np.zeros(self.block.weight.shape[1], dtype=int)), start)

    def sums(self, calibration: Calibration, at: Calibration) -> Gradient:
        """The sums at a separate calibration for each draw. at : where the step started"""
        few_sums = self._of_few(calibration)
        if self.few is self.block:
            return few_sums
        start_sums, start_few = _gradient_by_weights(at, self.block), _gradient_by_weights(at, self.few)
        scale = len(self.block.weight) / len(self.few.weight)
        parts = zip(start_sums, few_sums, start_few, strict=True)
        return Gradient(*(total + scale * (after - before) for total, after, before in parts))

    def _of_few(self, calibration: Calibration) -> Gradient:
        def of_piece(piece: slice) -> Gradient:
            labels = self.few.labels.take(piece)._replace(weight=self.few.weight[piece])
            return gradient(calibration, self.scores[:, piece], labels)

        _, n, R, K = self.scores.shape
        total: Gradient = reduce(add_into, in_threads(of_piece, row_slices(n, R * K), self.n_threads))
        return total


def _gradient_by_weights(calibration: Calibration, block: Block) -> Gradient:
    return gradient_by_weights(calibration, block.scores, block.labels, block.weight)


def can_relearn(judged: Judged) -> bool:
    """Whether draws can relearn the scores: other classifiers would take too long."""
    return judged.training is not None and bool(judged.training.robust_fit.problem.source.additive)


def make_draws(judged: Judged, rows: Rows, bootstrap: Bootstrapped, relearn: bool) -> Draws:
    """rows : in memory, to draw from. relearn : whether each draw relearns the scores"""
    scorer = judged.fitted.scorer if judged.training is None else judged.training.robust_fit.last.learned.out_of_fold
    block = few = Block.of(rows, scorer, bootstrap)
    if rows.n_rows >= MANY_ROWS:
        few = block.take(np.linspace(0, rows.n_rows - 1, _FEW_ROWS).astype(int))
    if relearn:
        scores = np.concatenate([_relearn_scores(judged, few.rows, bootstrap), few.scores], axis=2)
    else:
        B, n, _, K = few.scores.shape
        scores = np.broadcast_to(few.scores, (B, n, bootstrap.n_draws + 1, K))
    n_threads = 1 if judged.training is None else judged.training.robust_fit.problem.source.n_threads
    return Draws(block, few, scores, relearn, n_threads)


def _relearn_scores(judged: Judged, rows: Rows, bootstrap: Bootstrapped) -> Array:
    """(B, n, R, K)"""
    assert judged.training is not None
    robust_fit = judged.training.robust_fit
    data = judged.data if judged.sample.is_complete else judged.sample.dataset(robust_fit.problem.n_classes)

    def scores(draws: Bootstrapped) -> Array:
        learned = robust_fit.problem.source.learn(data, draws, robust_fit.choice.model, robust_fit.last.number > 0)
        return np.asarray(learned.out_of_fold.scores(rows))

    group_size = max(1, _MAX_COMPONENTS // robust_fit.problem.n_classes)
    return np.concatenate([scores(draws) for draws in bootstrap.in_groups(group_size)], axis=2)


def calibrations(judged: Judged, draws: Draws, pseudo_rows: float) -> tuple[Calibration, Calibration]:
    """The start of the step (one replicate), and its end for every draw."""
    assert judged.training is not None
    robust_fit = judged.training.robust_fit
    penalty, K, block = robust_fit.choice.offsets.penalty, len(judged.classes), draws.block
    start = robust_fit.calibration
    if len(block.weight) < MANY_ROWS:  # the maximum with fewer pseudo-rows; with many rows they make no difference
        problem = robust_fit.problem
        target = Target(block.scores, block.labels, problem.structure, np.array([penalty]), problem.config)
        start = accelerate(target, start, _TOLERANCE, pseudo_rows)
    pseudo = pseudo_rows * constant_rate(K, np.trace(start.mislabel[0]) / K)
    start_gradient = draws.sums_at(start).with_priors(start, penalty, block.weight.sum(axis=0), pseudo)
    start_curvature = curvature(start, block.scores, block.labels, penalty, pseudo)
    return start, _apply_step(start, *step(start_curvature, start_gradient))


def _apply_step(start: Calibration, corner: Array, matrix: Array) -> Calibration:
    corner, matrix = (np.clip(part, -_MAX_STEP, _MAX_STEP) for part in (corner, matrix))
    B = start.temperature.shape[1]
    # temperatures step on a log scale, so that they stay positive
    relative = np.clip(corner[:, :B] / start.temperature, -_MAX_STEP, _MAX_STEP)
    mislabel = start.mislabel * np.exp(matrix)
    return Calibration(
        temperature=start.temperature * np.exp(relative),
        offset=start.offset + corner[:, B:],
        mislabel=mislabel / mislabel.sum(axis=1, keepdims=True),
        base=np.repeat(start.base, len(corner), axis=0),
    )
