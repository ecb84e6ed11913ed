"""The robust fit.

Naive Bayes is overconfident, and EM that relies on it drifts away from the labels. Here a row is scored out of fold,
`calibration` measures how reliable those scores are, and a label that is probably wrong loses weight in the next round,
but is never replaced by the model's own guess: a model cannot learn from its guesses. The number of rounds (possibly
zero) is chosen by the likelihood of held-out labels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..dataset import Dataset, Rows
from ..dataset.checkpoint import NO_CHECKPOINT, Checkpoint
from ..dataset.tree import Array
from .calibration import Calibration, Labels, label_counts, matrix_of, posterior
from .calibration_solver import Target, accelerate
from .label_weights import AsGiven, ByEM, LabelWeights, Reweighted
from .problem import RobustProblem
from .sample import Sample
from .score_models import Choice
from .selection import Plan, calibrate_sample, fit_em_labels, make_plan, offset_base


class Stage(NamedTuple):
    """Scores learned from weighted labels, and their calibration."""

    number: int  # rounds of reweighting before it
    weights: LabelWeights  # of the labels that the scores were learned from
    learned: Any
    calibration: Calibration  # of one replicate
    combined: Any  # .scores(rows): out of fold, all kinds of scores in one

    @property
    def next_weights(self) -> Reweighted:
        return Reweighted(self.combined, self.calibration.of_combined)


class RobustFit(NamedTuple):
    problem: RobustProblem
    choice: Choice
    rounds: int  # -1: by EM, which was better than any number of rounds
    held_out: Array  # log-likelihood per held-out label: after 0, 1, ... rounds, and last of EM if it was tried
    as_given: Reweighted  # scores of the given labels, and their calibration
    last: Stage
    review_count: int

    @property
    def calibration(self) -> Calibration:
        return self.last.calibration


def fit(
    data: Dataset,
    problem: RobustProblem,
    report: Callable[[str], None] | None = None,
    checkpoint: Checkpoint = NO_CHECKPOINT,
) -> RobustFit:
    """Select a score model and the number of rounds on a sample, then fit to all rows (in folds)."""
    report = report or (lambda stage: None)
    report("choosing how to fit")
    sample = Sample.of(data, problem.config, problem.seed)
    selection_sample = sample.smaller(problem.config.selection_rows)
    plan: Plan = checkpoint.load("plan") or make_plan(selection_sample, problem)
    checkpoint.save("plan", plan)
    report("fitting")
    fitter = _Fitter(data, sample, problem, plan.choice, plan.by_em if selection_sample.is_complete else None)
    as_given, stage = _stages(fitter, plan, checkpoint)
    count = _review_count(stage, sample, data.n_rows, problem)
    return RobustFit(problem, plan.choice, plan.rounds, plan.held_out, as_given, stage, count)


def _stages(fitter: _Fitter, plan: Plan, checkpoint: Checkpoint) -> tuple[Reweighted, Stage]:
    """The labels as given, and the last stage."""
    n_rounds = max(plan.rounds, 0)
    as_given, number, weights, calibration = checkpoint.load("round") or (
        None,
        0,
        AsGiven(fitter.problem.n_classes),
        None,
    )
    stage = fitter.stage(number, weights, None, number == n_rounds, calibration)
    while True:
        as_given = as_given or stage.next_weights
        checkpoint.save("round", (as_given, stage.number, stage.weights, stage.calibration))
        if stage.number == n_rounds:
            break
        number = stage.number + 1
        stage = fitter.stage(number, stage.next_weights, stage.calibration, number == n_rounds)
    if plan.rounds < 0:
        by_em = fitter.by_em or fit_em_labels(fitter.data, fitter.problem)
        stage = fitter.stage(1, by_em, None, True)
    return as_given, stage


class _Fitter:
    """Fits single stages to all rows."""

    def __init__(
        self, data: Dataset, sample: Sample, problem: RobustProblem, choice: Choice, by_em: ByEM | None
    ) -> None:
        self.data, self.sample, self.choice = data, sample, choice
        self.problem = replace(problem, config=choice.adjusted(problem.config))
        self.by_em = by_em  # the labels of EM, if EM was fitted to all rows

    def stage(
        self,
        number: int,
        weights: LabelWeights,
        start: Calibration | None,
        last: bool,
        calibration: Calibration | None = None,
    ) -> Stage:
        """last : whether the calibration is final, not only a step towards the next weights"""
        learned = self.problem.source.learn(self.data, weights, self.choice.model, number > 0)
        if calibration is None:
            calibration = self._calibrated(learned, start, last)
            combined = learned.combined(calibration.temperature[0])
            if not self.sample.is_complete:
                calibration = self._with_matrix_of_all(calibration, combined)
        else:
            combined = learned.combined(calibration.temperature[0])
        return Stage(number, weights, learned, calibration, combined)

    def _calibrated(self, learned: Any, start: Calibration | None, last: bool) -> Calibration:
        config, K = self.problem.config, self.problem.n_classes
        size = min(self.sample.n_rows, max(config.newton_rows, config.calibration_scores // K))
        sampled = self.sample.first(size)
        scores = learned.out_of_fold.scores(sampled.rows)
        base = offset_base(self.choice.offsets, learned.shares, 1)
        penalty = np.array([self.choice.offsets.penalty])
        calibration = calibrate_sample(self.problem, sampled, scores, base, penalty, None, start)
        if not last or size <= config.newton_rows:
            return calibration
        source = self.problem.source
        target = Target(scores, Labels.of(sampled.rows), self.problem.structure, penalty, config, source.n_threads)
        return accelerate(target, calibration, config.final_tolerance, config.pseudo_rows)

    def _with_matrix_of_all(self, calibration: Calibration, combined: Any) -> Calibration:
        config = self.problem.config
        for _ in range(config.matrix_rounds):
            weights = Reweighted(combined, calibration.of_combined)
            counts = self.data.map_sum(partial(_block_label_counts, weights=weights))
            calibration = calibration._replace(mislabel=matrix_of(counts, self.problem.structure, config.pseudo_rows))
        return calibration


def _block_label_counts(rows: Rows, weights: Reweighted) -> Array:
    labels = Labels.of(rows)
    return label_counts(posterior(weights.calibration, weights.scorer.scores(rows), labels).true, labels)


def _review_count(stage: Stage, sample: Sample, n_rows: int, problem: RobustProblem) -> int:
    """How many labels to review if mistakes are on ambiguous rows: the expected number of wrong labels when the scores
    count three times as much. It is too large if labels are right."""
    rows = sample.first(sample.n_rows).rows
    labels, scores, config = Labels.of(rows), stage.combined.scores(rows), problem.config
    sharpened = stage.calibration._replace(temperature=np.array([[config.temperature_factor]]))
    for _ in range(config.matrix_rounds):
        counts = label_counts(posterior(sharpened, scores, labels).true, labels)
        sharpened = sharpened._replace(mislabel=matrix_of(counts, problem.structure, config.pseudo_rows))
    unit_weights = labels._replace(weight=np.ones((rows.n_rows, 1)))
    counts = label_counts(posterior(sharpened, scores, unit_weights).true, unit_weights)[0]
    return round(float(counts.sum() - np.trace(counts)) * n_rows / rows.n_rows)


def with_folds(data: Dataset, problem: RobustProblem, n_folds: int | None = None) -> Dataset:
    """The rows, with the number of folds that suits their number."""
    config = problem.config
    n_folds = n_folds or (config.n_folds_small_table if data.n_counted < config.small_table_rows else config.n_folds)
    return data.in_folds(problem.seed, n_folds, problem.n_classes)


def without_sampling(problem: RobustProblem) -> RobustProblem:
    """The problem with no sample limits, for sources of scores that need all rows in memory anyway."""
    no_limit = np.iinfo(np.int64).max
    return replace(
        problem,
        config=replace(problem.config, selection_rows=no_limit, sample_rows=no_limit, max_sample_entries=no_limit),
    )
