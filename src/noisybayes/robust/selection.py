"""Selection by the labels: the score model, the base of the offsets, and the number of reweighting rounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..dataset import Dataset
from ..dataset.tree import Array
from ..model import fit as em_fit
from .calibration import Calibration, Labels, label_counts, matrix_of, posterior
from .calibration_solver import Target, fit_calibration
from .config import Offsets
from .label_weights import AsGiven, ByEM, LabelWeights, Reweighted
from .one_rate import can_have_one_rate, needs_matrix, with_one_rate
from .problem import RobustProblem
from .sample import Drawn, Sample
from .score_models import Choice, ScoreModel, combine


class Selected(NamedTuple):
    choice: Choice
    calibration: Calibration | None  # of the chosen scores, of one replicate; None: there was nothing to compare


class Plan(NamedTuple):
    """How to fit."""

    choice: Choice
    rounds: int  # of reweighting; -1: by EM
    held_out: Array  # mean log-likelihood of held-out labels after 0, 1, ... rounds, and last of EM if it was tried
    by_em: ByEM | None  # labels as EM sees them, if it was tried


def decide(sample: Sample, problem: RobustProblem) -> Plan:
    data = sample.dataset(problem.n_classes)
    choice, near = select_score_model(sample, data, problem)
    problem = replace(problem, config=choice.applied(problem.config))
    by_em = None if problem.em is None else labels_by_em(data, problem)
    likelihoods, weight = held_out_likelihoods(sample, data, problem, choice, by_em, near)
    held_out, _ = mean_and_error(likelihoods.T, weight)
    return Plan(choice, _fewest_rounds(likelihoods, weight, problem), held_out, by_em)


def labels_by_em(data: Dataset, problem: RobustProblem) -> ByEM:
    assert problem.em is not None
    return ByEM(em_fit.fit(data, problem.em, np.random.default_rng(problem.seed)))


def select_score_model(sample: Sample, data: Dataset, problem: RobustProblem) -> Selected:
    """For each block the model, and for all of them the offsets, that explain the observed labels best."""
    candidates = problem.source.candidates
    models = [models[0] for models in candidates]
    if all(len(models) == 1 for models in candidates) and len(combine(models).offsets) == 1:
        return Selected(Choice(combine(models), combine(models).offsets[0]), None)
    sums = problem.source.sums(data, AsGiven(problem.n_classes))
    drawn = sample.first(problem.config.rows_to_compare)
    compare = _Comparison(problem, drawn, data.dtype, sums, sample.n_counted)
    return compare.best_calibration(combine([compare.best_model(models) for models in candidates]))


class _Comparison:
    """Score models and offsets by the likelihood of the labels of some rows, out of fold."""

    def __init__(self, problem: RobustProblem, drawn: Drawn, dtype: np.dtype[Any], sums: Any, n_rows: float) -> None:
        self.problem, self.drawn, self.dtype, self.sums, self.n_rows = problem, drawn, dtype, sums, n_rows
        self.labels = Labels.of(drawn.rows)

    def best_model(self, models: Sequence[ScoreModel]) -> ScoreModel:
        """The first, unless another explains the labels better beyond chance."""
        if len(models) == 1:
            return models[0]
        learned = [self._learned(model) for model in models]
        scores = np.concatenate([one.out_of_fold.scores(self.drawn.rows) for one in learned], axis=2)
        offsets = [model.offsets[0] for model in models]
        explained, _ = self._explained(scores, offsets, learned[0].shares)
        gain, error = mean_and_error(explained - explained[:, :1], self.labels.weight[:, 0])
        return models[int(np.argmax(np.where(gain > self.problem.config.standard_errors * error, gain, 0.0)))]

    def best_calibration(self, model: ScoreModel) -> Selected:
        """With a matrix, or with one rate of mistakes if that is enough."""
        learned = self._learned(model)
        scores = learned.out_of_fold.scores(self.drawn.rows)
        choice, calibration = self._best_offsets(model, scores, learned.shares)
        if can_have_one_rate(choice, self.problem):
            with_rate = with_one_rate(choice)
            of_rate = self._calibrated(with_rate, scores, learned.shares)
            if not needs_matrix(calibration, of_rate, scores, self.labels, self.n_rows):
                return Selected(with_rate, of_rate)
        return Selected(choice, calibration)

    def _best_offsets(self, model: ScoreModel, scores: Array, shares: Array) -> tuple[Choice, Calibration]:
        """The first, unless others explain the labels clearly better."""
        offsets = self._in_order(model.offsets, shares)
        explained, calibration = self._explained(np.repeat(scores, len(offsets), axis=2), offsets, shares)
        means, _ = mean_and_error(explained, self.labels.weight[:, 0])
        means[1:] -= self.problem.config.offsets_must_gain
        best = int(np.argmax(means))
        return Choice(model, offsets[best]), calibration.take([best])

    def _calibrated(self, choice: Choice, scores: Array, shares: Array) -> Calibration:
        problem = replace(self.problem, config=choice.applied(self.problem.config))
        base, penalty = base_of(choice.offsets, shares, 1), np.array([choice.offsets.penalty])
        return calibrated(problem, self.drawn, scores, base, penalty)

    def _in_order(self, offsets: Sequence[Offsets], shares: Array) -> Sequence[Offsets]:
        """The default first: offsets from zero if mistakes alone could explain the shares of the labels."""
        least = self.problem.n_classes * np.exp(shares.min())
        if least < self.problem.config.least_kept:
            return offsets
        return sorted(offsets, key=lambda each: each.from_shares)

    def _learned(self, model: ScoreModel) -> Any:
        return self.problem.source.from_sums(self.sums, model, False, self.dtype)

    def _explained(self, scores: Array, offsets: Sequence[Offsets], shares: Array) -> tuple[Array, Calibration]:
        """(n, R) log-likelihood of the labels."""
        base = np.concatenate([shares if each.from_shares else np.zeros_like(shares) for each in offsets])
        penalty = np.array([each.penalty for each in offsets])
        calibration = calibrated(self.problem, self.drawn, scores, base, penalty)
        return posterior(calibration, scores, self.labels).log_likelihood, calibration


def calibrated(
    problem: RobustProblem,
    drawn: Drawn,
    scores: Array,
    base: Array,
    penalty: Array,
    left_out: Array | None = None,
    start: Calibration | None = None,
) -> Calibration:
    """Temperatures and offsets from the rows drawn first, the matrix from all of them."""
    labels = Labels.of(drawn.rows, left_out)
    few = drawn.first(problem.config.newton_rows)
    some, some_labels = (scores, labels) if len(few) == len(drawn.rank) else (scores[:, few], labels.take(few))
    target = Target(some, some_labels, problem.structure, penalty, problem.config, problem.source.n_threads)
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
    near: Calibration | None,
) -> tuple[Array, Array]:
    """(stages, n) log-likelihood of held-out labels after 0, 1, ... rounds, and by EM; and (n,) their weights. By fits
    that leave out one fold each, as many at once as memory is good for. near : a calibration of the same scores"""
    assert data.folds is not None
    n_folds, config = data.folds.n_folds, problem.config
    needed = n_folds if by_em is not None else int(np.ceil(config.held_out_rows * n_folds / data.n_counted))
    left_out = np.arange(min(n_folds, needed))
    drawn = sample.first(sample.n_rows)
    at_once = max(1, config.components_at_once // problem.n_classes)
    groups = [left_out[first : first + at_once] for first in range(0, len(left_out), at_once)]
    found = [
        [
            _of_held_out(drawn, scores, calibration, group)
            for scores, calibration in _stages(drawn, data, problem, choice, group, by_em, near)
        ]
        for group in groups
    ]
    likelihood, weight = (np.concatenate(parts, axis=1) for parts in zip(*map(_stacked, found), strict=True))
    return likelihood, weight[0]


def _stacked(stages: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    likelihood, weight = zip(*stages, strict=True)
    return np.array(likelihood), np.array(weight)


def _stages(
    drawn: Drawn,
    data: Dataset,
    problem: RobustProblem,
    choice: Choice,
    left_out: Array,
    by_em: ByEM | None,
    near: Calibration | None,
) -> Iterator[tuple[Array, Calibration]]:
    """Scores and calibrations of all replicates, round by round."""
    start = None if near is None else near.take(np.zeros(len(left_out), dtype=int))
    weights: LabelWeights = AsGiven(problem.n_classes)
    for number in range(problem.config.max_rounds + 1):
        learned, scores, start = _stage(drawn, data, problem, choice, left_out, weights, number, start)
        yield scores, start
        weights = Reweighted(learned.out_of_fold, start)
    if by_em is not None:
        assert problem.em is not None
        weights = by_em.without(data, problem.em, left_out)
        _, scores, calibration = _stage(drawn, data, problem, choice, left_out, weights, 1, None)
        yield scores, calibration


def _stage(
    drawn: Drawn,
    data: Dataset,
    problem: RobustProblem,
    choice: Choice,
    left_out: Array,
    weights: LabelWeights,
    number: int,
    start: Calibration | None,
) -> tuple[Any, Array, Calibration]:
    learned = problem.source.learn(data, weights, choice.model, number > 0, left_out)
    scores = learned.out_of_fold.scores(drawn.rows)
    base = base_of(choice.offsets, learned.shares, len(left_out))
    penalty = np.full(len(left_out), choice.offsets.penalty)
    return learned, scores, calibrated(problem, drawn, scores, base, penalty, left_out, start)


def base_of(offsets: Offsets, shares: Array, n_replicates: int) -> Array:
    """(R, K)"""
    shares = np.broadcast_to(shares, (n_replicates, shares.shape[1]))
    return shares if offsets.from_shares else np.zeros_like(shares)


def _of_held_out(drawn: Drawn, scores: Array, calibration: Calibration, left_out: Array) -> tuple[Array, Array]:
    """Log-likelihoods of labels, and their weights: each replicate scores the fold that it left out."""
    labels, found = Labels.of(drawn.rows), []
    for r, fold in enumerate(left_out):
        held = np.flatnonzero(drawn.rows.fold == fold)
        here = labels.take(held)
        likelihood = posterior(calibration.take([r]), scores[:, held, r : r + 1], here).log_likelihood[:, 0]
        found.append((likelihood, np.broadcast_to(here.weight[:, 0], likelihood.shape)))
    likelihood, weight = (np.concatenate(values) for values in zip(*found, strict=True))
    return likelihood, weight


def mean_and_error(values: Array, weight: Array) -> tuple[Array, Array]:
    """Mean of values (n, ...) over rows that count `weight` (n,) times, and its standard error."""
    total = max(weight.sum(), 1e-300)
    mean = weight @ values / total
    return mean, np.sqrt(weight @ (values - mean) ** 2 / total / max(total, len(weight)))


def _fewest_rounds(likelihoods: Array, weight: Array, problem: RobustProblem) -> int:
    """EM if it explains held-out labels best, beyond chance; else the fewest rounds that come close to the best."""
    rounds = likelihoods[: problem.config.max_rounds + 1]
    means, _ = mean_and_error(rounds.T, weight)
    if len(likelihoods) > len(rounds):
        gain, error = mean_and_error(likelihoods[-1] - rounds[means.argmax()], weight)
        if gain > problem.config.em_standard_errors * error:
            return -1
    return int(np.flatnonzero(means >= means.max() - problem.config.rounds_must_gain)[0])
