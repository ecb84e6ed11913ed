"""Selection by the labels: the score model, the base of the offsets, and the number of reweighting rounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..dataset import Dataset
from ..dataset.tree import Array
from .calibration import Calibration, Labels, label_counts, matrix_of, posterior
from .calibration_solver import Target, fit_calibration
from .constants import Offsets
from .label_weights import AsGiven, ByEM, LabelWeights, Reweighted
from .old_model import fit as em_fit
from .one_rate import allows_one_rate, needs_matrix, with_one_rate
from .problem import RobustProblem
from .sample import Sample, SampledRows
from .score_models import Choice, ScoreModel, combine


class Selection(NamedTuple):
    choice: Choice
    calibration: Calibration | None  # of the chosen scores, of one replicate; None: there was nothing to compare


class Plan(NamedTuple):
    """How to fit."""

    choice: Choice
    rounds: int  # of reweighting; -1: by EM
    held_out: Array  # mean log-likelihood of held-out labels after 0, 1, ... rounds, and last of EM if it was tried
    by_em: ByEM | None  # the labels of EM, if it was tried


def make_plan(sample: Sample, problem: RobustProblem) -> Plan:
    data = sample.dataset(problem.n_classes)
    choice, calibration = select_score_model(sample, data, problem)
    problem = replace(problem, config=choice.adjusted(problem.config))
    by_em = None if problem.em is None else fit_em_labels(data, problem)
    likelihoods, weight = held_out_likelihoods(sample, data, problem, choice, by_em, calibration)
    held_out, _ = mean_and_standard_error(likelihoods.T, weight)
    return Plan(choice, _select_rounds(likelihoods, weight, problem), held_out, by_em)


def fit_em_labels(data: Dataset, problem: RobustProblem) -> ByEM:
    assert problem.em is not None
    return ByEM(em_fit.fit(data, problem.em, np.random.default_rng(problem.seed)))


def select_score_model(sample: Sample, data: Dataset, problem: RobustProblem) -> Selection:
    """For each block the model, and for all of them the offsets, that explain the observed labels best."""
    candidates = problem.source.candidates
    models = [models[0] for models in candidates]
    if all(len(models) == 1 for models in candidates) and len(combine(models).offsets) == 1:
        return Selection(Choice(combine(models), combine(models).offsets[0]), None)
    sums = problem.source.sums(data, AsGiven(problem.n_classes))
    sampled = sample.first(problem.config.comparison_rows)
    comparison = _Comparison(problem, sampled, data.dtype, sums, sample.n_counted)
    return comparison.best_calibration(combine([comparison.best_model(models) for models in candidates]))


class _Comparison:
    """Compares score models and offsets by the out-of-fold likelihood of the labels of a sample."""

    def __init__(
        self, problem: RobustProblem, sampled: SampledRows, dtype: np.dtype[Any], sums: Any, n_rows: float
    ) -> None:
        self.problem, self.sampled, self.dtype, self.sums, self.n_rows = problem, sampled, dtype, sums, n_rows
        self.labels = Labels.of(sampled.rows)

    def best_model(self, models: Sequence[ScoreModel]) -> ScoreModel:
        """The first, unless another explains the labels better beyond chance."""
        if len(models) == 1:
            return models[0]
        learned = [self._learn(model) for model in models]
        scores = np.concatenate([each.out_of_fold.scores(self.sampled.rows) for each in learned], axis=2)
        offsets = [model.offsets[0] for model in models]
        likelihood, _ = self._fit_likelihood(scores, offsets, learned[0].shares)
        gain, error = mean_and_standard_error(likelihood - likelihood[:, :1], self.labels.weight[:, 0])
        return models[int(np.argmax(np.where(gain > self.problem.config.model_standard_errors * error, gain, 0.0)))]

    def best_calibration(self, model: ScoreModel) -> Selection:
        """With a matrix, or with one rate of mistakes if that is enough."""
        learned = self._learn(model)
        scores = learned.out_of_fold.scores(self.sampled.rows)
        choice, calibration = self._best_offsets(model, scores, learned.shares)
        if allows_one_rate(choice, self.problem):
            rate_choice = with_one_rate(choice)
            rate_calibration = self._calibrate(rate_choice, scores, learned.shares)
            if not needs_matrix(calibration, rate_calibration, scores, self.labels, self.n_rows):
                return Selection(rate_choice, rate_calibration)
        return Selection(choice, calibration)

    def _best_offsets(self, model: ScoreModel, scores: Array, shares: Array) -> tuple[Choice, Calibration]:
        """The first, unless others explain the labels clearly better."""
        offsets = self._default_first(model.offsets, shares)
        likelihood, calibration = self._fit_likelihood(np.repeat(scores, len(offsets), axis=2), offsets, shares)
        means, _ = mean_and_standard_error(likelihood, self.labels.weight[:, 0])
        means[1:] -= self.problem.config.offsets_min_gain
        best = int(np.argmax(means))
        return Choice(model, offsets[best]), calibration.take([best])

    def _calibrate(self, choice: Choice, scores: Array, shares: Array) -> Calibration:
        problem = replace(self.problem, config=choice.adjusted(self.problem.config))
        base, penalty = offset_base(choice.offsets, shares, 1), np.array([choice.offsets.penalty])
        return calibrate_sample(problem, self.sampled, scores, base, penalty)

    def _default_first(self, offsets: Sequence[Offsets], shares: Array) -> Sequence[Offsets]:
        """The default first: offsets from zero if mistakes alone could explain the shares of the labels."""
        relative_share = self.problem.n_classes * np.exp(shares.min())
        if relative_share < self.problem.config.min_kept_share:
            return offsets
        return sorted(offsets, key=lambda each: each.from_shares)

    def _learn(self, model: ScoreModel) -> Any:
        return self.problem.source.from_sums(self.sums, model, False, self.dtype)

    def _fit_likelihood(self, scores: Array, offsets: Sequence[Offsets], shares: Array) -> tuple[Array, Calibration]:
        """(n, R) log-likelihood of the labels, and the calibration that maximises it."""
        base = np.concatenate([shares if each.from_shares else np.zeros_like(shares) for each in offsets])
        penalty = np.array([each.penalty for each in offsets])
        calibration = calibrate_sample(self.problem, self.sampled, scores, base, penalty)
        return posterior(calibration, scores, self.labels).log_likelihood, calibration


def calibrate_sample(
    problem: RobustProblem,
    sampled: SampledRows,
    scores: Array,
    base: Array,
    penalty: Array,
    left_out: Array | None = None,
    start: Calibration | None = None,
) -> Calibration:
    """Fit temperatures and offsets to the rows drawn first, and the matrix to all of them."""
    labels = Labels.of(sampled.rows, left_out)
    first = sampled.first(problem.config.newton_rows)
    few_scores, few_labels = scores, labels
    if len(first) < len(sampled.rank):
        few_scores, few_labels = scores[:, first], labels.take(first)
    target = Target(few_scores, few_labels, problem.structure, penalty, problem.config, problem.source.n_threads)
    calibration = fit_calibration(target, base, start)
    for _ in range(problem.config.matrix_rounds):
        counts = label_counts(posterior(calibration, scores, labels).true, labels)
        calibration = calibration._replace(mislabel=matrix_of(counts, problem.structure, problem.config.pseudo_rows))
    return calibration


def held_out_likelihoods(
    sample: Sample,
    data: Dataset,
    problem: RobustProblem,
    choice: Choice,
    by_em: ByEM | None,
    start: Calibration | None,
) -> tuple[Array, Array]:
    """(stages, n) log-likelihood of held-out labels after 0, 1, ... rounds, and by EM; and (n,) their weights. By fits
    that leave out one fold each, as many at once as memory allows. start : a calibration of the same scores"""
    assert data.folds is not None
    n_folds, config = data.folds.n_folds, problem.config
    n_needed = n_folds if by_em is not None else int(np.ceil(config.held_out_rows * n_folds / data.n_counted))
    left_out = np.arange(min(n_folds, n_needed))
    sampled = sample.first(sample.n_rows)
    group_size = max(1, config.max_components // problem.n_classes)
    groups = [left_out[first : first + group_size] for first in range(0, len(left_out), group_size)]
    stages_by_group = [
        [
            _held_out_likelihood(sampled, scores, calibration, group)
            for scores, calibration in _stages(sampled, data, problem, choice, group, by_em, start)
        ]
        for group in groups
    ]
    likelihood, weight = (
        np.concatenate(parts, axis=1) for parts in zip(*map(_stack_stages, stages_by_group), strict=True)
    )
    return likelihood, weight[0]


def _stack_stages(stages: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    likelihood, weight = zip(*stages, strict=True)
    return np.array(likelihood), np.array(weight)


def _stages(
    sampled: SampledRows,
    data: Dataset,
    problem: RobustProblem,
    choice: Choice,
    left_out: Array,
    by_em: ByEM | None,
    initial: Calibration | None,
) -> Iterator[tuple[Array, Calibration]]:
    """Scores and calibrations of all replicates, round by round."""
    start = None if initial is None else initial.take(np.zeros(len(left_out), dtype=int))
    weights: LabelWeights = AsGiven(problem.n_classes)
    for number in range(problem.config.max_rounds + 1):
        learned, scores, start = _stage(sampled, data, problem, choice, left_out, weights, number, start)
        yield scores, start
        weights = Reweighted(learned.out_of_fold, start)
    if by_em is not None:
        assert problem.em is not None
        weights = by_em.without(data, problem.em, left_out)
        _, scores, calibration = _stage(sampled, data, problem, choice, left_out, weights, 1, None)
        yield scores, calibration


def _stage(
    sampled: SampledRows,
    data: Dataset,
    problem: RobustProblem,
    choice: Choice,
    left_out: Array,
    weights: LabelWeights,
    number: int,
    start: Calibration | None,
) -> tuple[Any, Array, Calibration]:
    learned = problem.source.learn(data, weights, choice.model, number > 0, left_out)
    scores = learned.out_of_fold.scores(sampled.rows)
    base = offset_base(choice.offsets, learned.shares, len(left_out))
    penalty = np.full(len(left_out), choice.offsets.penalty)
    return learned, scores, calibrate_sample(problem, sampled, scores, base, penalty, left_out, start)


def offset_base(offsets: Offsets, shares: Array, n_replicates: int) -> Array:
    """(R, K)"""
    shares = np.broadcast_to(shares, (n_replicates, shares.shape[1]))
    return shares if offsets.from_shares else np.zeros_like(shares)


def _held_out_likelihood(
    sampled: SampledRows, scores: Array, calibration: Calibration, left_out: Array
) -> tuple[Array, Array]:
    """Log-likelihoods of labels, and their weights: each replicate scores the fold that it left out."""
    labels, parts = Labels.of(sampled.rows), []
    for r, fold in enumerate(left_out):
        held_out = np.flatnonzero(sampled.rows.fold == fold)
        held_out_labels = labels.take(held_out)
        post = posterior(calibration.take([r]), scores[:, held_out, r : r + 1], held_out_labels)
        likelihood = post.log_likelihood[:, 0]
        parts.append((likelihood, np.broadcast_to(held_out_labels.weight[:, 0], likelihood.shape)))
    likelihood, weight = (np.concatenate(values) for values in zip(*parts, strict=True))
    return likelihood, weight


def mean_and_standard_error(values: Array, weight: Array) -> tuple[Array, Array]:
    """Mean of values (n, ...) over rows that count `weight` (n,) times, and its standard error."""
    total = max(weight.sum(), 1e-300)
    mean = weight @ values / total
    return mean, np.sqrt(weight @ (values - mean) ** 2 / total / max(total, len(weight)))


def _select_rounds(likelihoods: Array, weight: Array, problem: RobustProblem) -> int:
    """EM if it explains held-out labels best, beyond chance; else the fewest rounds that come close to the best."""
    rounds = likelihoods[: problem.config.max_rounds + 1]
    means, _ = mean_and_standard_error(rounds.T, weight)
    if len(likelihoods) > len(rounds):
        gain, error = mean_and_standard_error(likelihoods[-1] - rounds[means.argmax()], weight)
        if gain > problem.config.em_standard_errors * error:
            return -1
    return int(np.flatnonzero(means >= means.max() - problem.config.rounds_min_gain)[0])
