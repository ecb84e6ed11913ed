"""A weighted-likelihood bootstrap of the robust fit in one step.

Every row gets a random weight (exponential, mean 1) from the hash of its number. A draw changes the sums that the fit
maximises in two ways: rows have other weights, and scores learned with these weights differ. Calibration and matrix
then take one Newton step (`one_step`) towards the maximum of the new sums.

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
from ..dataset.short_rows import pieces_of
from ..dataset.tree import Array, add_into
from ..model.mislabel import constant_rate
from ..robust.calibration import Calibration, Labels
from ..robust.calibration_solver import Target, accelerate
from ..robust.label_weights import LabelWeights, Weighted
from .judged import Judged
from .one_step import Gradient, curvature, gradient, gradient_by_weights, step

#: From this many rows on, a sample is used.
MANY_ROWS = 20_000
# Rows of that sample.
_FEW_ROWS = 10_000
# Classes times draws that are learned at once, since the parameters of every fold take memory.
_COMPONENTS_AT_ONCE = 32
# Maximum step in logarithms: far from the fit, its curvature is no guide.
_FARTHEST = 1.5
# Nats per row. The step must start at a maximum; the rest of the way would look like spread.
_TOLERANCE = 1e-6


class Bootstrapped(NamedTuple):
    """Label weights times random weights of the rows, one for each draw."""

    weights: LabelWeights
    seed: int
    n_draws: int

    def __call__(self, rows: Rows) -> Weighted:
        label, weight = self.weights(rows)
        return Weighted(label, weight * self.factors(rows))

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
            return _by_weights(start, self.block)
        return self.sums(start.take(np.zeros(self.block.weight.shape[1], dtype=int)), start)

    def sums(self, calibration: Calibration, at: Calibration) -> Gradient:
        """The sums at a separate calibration for each draw. at : where the step started"""
        moved = self._of_few(calibration)
        if self.few is self.block:
            return moved
        before, before_few = _by_weights(at, self.block), _by_weights(at, self.few)
        scale = len(self.block.weight) / len(self.few.weight)
        parts = zip(before, moved, before_few, strict=True)
        return Gradient(*(total + scale * (now - then) for total, now, then in parts))

    def _of_few(self, calibration: Calibration) -> Gradient:
        def of_piece(piece: slice) -> Gradient:
            labels = self.few.labels.take(piece)._replace(weight=self.few.weight[piece])
            return gradient(calibration, self.scores[:, piece], labels)

        _, n, R, K = self.scores.shape
        total: Gradient = reduce(add_into, in_threads(of_piece, pieces_of(n, R * K), self.n_threads))
        return total


def _by_weights(calibration: Calibration, block: Block) -> Gradient:
    return gradient_by_weights(calibration, block.scores, block.labels, block.weight)


def can_relearn(judged: Judged) -> bool:
    """Whether draws can relearn the scores: other classifiers would take too long."""
    return judged.training is not None and bool(judged.training.found.problem.source.additive)


def draws_of(judged: Judged, rows: Rows, bootstrap: Bootstrapped, relearn: bool) -> Draws:
    """rows : in memory, to draw from. relearn : whether each draw relearns the scores"""
    scorer = judged.fitted.scorer if judged.training is None else judged.training.found.last.learned.out_of_fold
    block = few = Block.of(rows, scorer, bootstrap)
    if rows.n_rows >= MANY_ROWS:
        few = block.take(np.linspace(0, rows.n_rows - 1, _FEW_ROWS).astype(int))
    if relearn:
        scores = np.concatenate([_relearned(judged, few.rows, bootstrap), few.scores], axis=2)
    else:
        B, n, _, K = few.scores.shape
        scores = np.broadcast_to(few.scores, (B, n, bootstrap.n_draws + 1, K))
    n_threads = 1 if judged.training is None else judged.training.found.problem.source.n_threads
    return Draws(block, few, scores, relearn, n_threads)


def _relearned(judged: Judged, rows: Rows, bootstrap: Bootstrapped) -> Array:
    """(B, n, R, K)"""
    assert judged.training is not None
    found = judged.training.found
    data = judged.data if judged.sample.is_all else judged.sample.dataset(found.problem.n_classes)

    def scores(some: Bootstrapped) -> Array:
        learned = found.problem.source.learn(data, some, found.choice.model, found.last.number > 0)
        return np.asarray(learned.out_of_fold.scores(rows))

    at_once = max(1, _COMPONENTS_AT_ONCE // found.problem.n_classes)
    return np.concatenate([scores(some) for some in bootstrap.in_groups(at_once)], axis=2)


def calibrations(judged: Judged, draws: Draws, pseudo_rows: float) -> tuple[Calibration, Calibration]:
    """The start of the step (one replicate), and its end for every draw."""
    assert judged.training is not None
    found = judged.training.found
    penalty, K, block = found.choice.offsets.penalty, len(judged.classes), draws.block
    start = found.calibration
    if len(block.weight) < MANY_ROWS:  # the maximum with fewer pseudo-rows; with many rows they make no difference
        target = Target(block.scores, block.labels, found.problem.structure, np.array([penalty]), found.problem.config)
        start = accelerate(target, start, _TOLERANCE, pseudo_rows)
    pseudo = pseudo_rows * constant_rate(K, np.trace(start.mislabel[0]) / K)
    slope = draws.sums_at(start).with_priors(start, penalty, block.weight.sum(axis=0), pseudo)
    curve = curvature(start, block.scores, block.labels, penalty, pseudo)
    return start, _stepped(start, *step(curve, slope))


def _stepped(start: Calibration, corner: Array, matrix: Array) -> Calibration:
    corner, matrix = (np.clip(part, -_FARTHEST, _FARTHEST) for part in (corner, matrix))
    B = start.temperature.shape[1]
    # temperatures step on a log scale, so that they stay positive
    relative = np.clip(corner[:, :B] / start.temperature, -_FARTHEST, _FARTHEST)
    mislabel = start.mislabel * np.exp(matrix)
    return Calibration(
        temperature=start.temperature * np.exp(relative),
        offset=start.offset + corner[:, B:],
        mislabel=mislabel / mislabel.sum(axis=1, keepdims=True),
        base=np.repeat(start.base, len(corner), axis=0),
    )
