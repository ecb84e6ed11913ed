"""The robust fit: cross-fitted scores, calibrated on the labels, and labels that count as far as they are believed.

Naive Bayes is sure of itself far beyond its merits, and EM that believes it drifts away from the labels. Here a row is
scored by statistics without its own fold, `calibration` finds out how much those scores are worth, and a label that
looks wrong loses weight in the next round, but is never replaced by the model's own guess: a model cannot feed on its
guesses. How many rounds are made, none included, is decided by the likelihood of labels that were left out altogether.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from .beliefs import Belief, first_beliefs, into_folds, labels_of, next_beliefs
from .calibration import Calibration, Labels, Posterior, calibrate, centred, estimate_matrix, posterior
from .mislabel import Structure
from .rows import Rows
from .tree import Array
from .variants import Choice, Variant, combine

FOLDS = 5
#: Four fifths of few rows learn visibly worse than all of them: left-out labels would judge another, weaker fit.
FEW_ROWS = 500
MORE_FOLDS = 10
#: Rounds of reweighting that may be made; their effect is all but over after the second.
MOST_ROUNDS = 3
#: Honest likelihoods of rounds differ by hundredths of a nat per row: this many left-out rows tell them apart.
_ROWS_LEFT_OUT = 3_000
#: What departs from the labels must explain them better, by this many nats per row. Free offsets: labelers who favour a
#: label make its class look large, and offsets would learn the habit.
OFFSETS_MUST_EARN = 0.01
#: Rounds: what they take from the labels is not given back.
ROUNDS_MUST_EARN = 0.005
#: A variant takes the place of the first one if it explains the labels better by this many standard errors.
STANDARD_ERRORS = 2.0
_ROWS_TO_COMPARE = 10_000


class Learner(Protocol):
    """What learns scores from beliefs: naive Bayes from sums, or any classifier from weighted rows."""

    blocks: Sequence[Sequence[Variant]]  # for each block of columns the variants that may score it
    additive: bool  # whether to gather is to sum over rows, which is cheap

    def gather(self, parts: list[Rows], beliefs: list[Belief]) -> Any:
        """What all variants need, fold by fold."""
        ...

    def out_of_fold(self, gathered: Any, variant: Variant, settled: bool, parts: list[Rows]) -> list[Array]:
        """(B, n_f, K) scores of each part, learned from all the others."""
        ...

    def left_out(self, gathered: Any, variant: Variant, settled: bool) -> list[Any]:
        """What `score` needs, for each part learned from all the others."""
        ...

    def predictor(self, gathered: Any, variant: Variant, settled: bool) -> Any:
        """What `score` needs, learned from all parts."""
        ...

    def score(self, predictor: Any, variant: Variant, X: Any) -> Array:
        """(B, n, K)"""
        ...

    def shares(self, gathered: Any) -> Array:
        """(K,) log class shares."""
        ...


class Stage(NamedTuple):
    """Scores learned from beliefs, and what they say of the labels."""

    beliefs: list[Belief]
    gathered: Any
    settled: bool
    calibration: Calibration
    posterior: Posterior


class CrossFit(NamedTuple):
    choice: Choice
    settled: bool
    gathered: Any
    predictor: Any
    left_out: list[Any]  # for each fold what is learned from the others
    learner: Learner
    beliefs: Belief  # that the scores were learned from, in the order of the rows
    fold: Array  # (n,) of each row
    calibration: Calibration
    posterior: (
        Array  # (n, K) P(true | x, observed label), out of fold, in the order of the rows; knows no verified label
    )
    out_of_fold: Array  # (n,) class that naive Bayes of the observed labels gives each row, out of fold
    rounds: int  # -1: the generative EM was better than any number of rounds
    honest: Array  # log-likelihood per left-out label: after 0, 1, ... rounds, and of the generative EM if it was tried
    review_count: int


#: Labels of the rows as some other algorithm believes them (the generative EM, say).
Generative = Callable[[list[Rows]], list[Belief]]


class Fitter:
    """The steps of a fit. Parts are the folds; the fit without fold f is the fit on the other parts."""

    def __init__(
        self,
        learner: Learner,
        structure: Structure,
        n_classes: int,
        rng: np.random.Generator,
        most_rounds: int = MOST_ROUNDS,
    ) -> None:
        self.learner, self.structure, self.n_classes = learner, structure, n_classes
        self.rng, self.most_rounds = rng, most_rounds

    def scores(self, gathered: Any, variant: Variant, settled: bool, parts: list[Rows]) -> Array:
        """(B, n, K), out of fold."""
        return centred(np.concatenate(self.learner.out_of_fold(gathered, variant, settled, parts), axis=1))

    def stage(
        self, parts: list[Rows], beliefs: list[Belief], choice: Choice, start: Calibration | None, settled: bool
    ) -> Stage:
        gathered = self.learner.gather(parts, beliefs)
        scores = self.scores(gathered, choice.variant, settled, parts)
        base = self.learner.shares(gathered) if choice.variant.shares else np.zeros(self.n_classes)
        calibration, found = calibrate(scores, labels_of(parts), self.structure, choice.penalty, base, start, self.rng)
        return Stage(beliefs, gathered, settled, calibration, found)

    def rounds(self, parts: list[Rows], choice: Choice, most: int) -> list[Stage]:
        """The stages after 0, 1, ... rounds of reweighting."""
        beliefs = first_beliefs(parts, self.n_classes)
        stages: list[Stage] = []
        for t in range(most + 1):
            start = stages[-1].calibration if stages else None
            stages.append(self.stage(parts, beliefs, choice, start, settled=t > 0))
            beliefs = next_beliefs(parts, stages[-1].posterior.true)
        return stages

    def generative(self, parts: list[Rows], choice: Choice, believe: Generative) -> Stage:
        return self.stage(parts, believe(parts), choice, None, settled=True)

    def likelihood(self, stage: Stage, choice: Choice, rows: Rows) -> Array:
        """(n,) log P(label | x) of rows that had no part in the stage."""
        predictor = self.learner.predictor(stage.gathered, choice.variant, stage.settled)
        scores = centred(self.learner.score(predictor, choice.variant, rows.X))
        return posterior(stage.calibration, scores, labels_of([rows])).log_likelihood

    def choose(self, parts: list[Rows]) -> Choice:
        """For each block the variant, and for all of them the penalty, that explain the observed labels best."""
        blocks = self.learner.blocks
        gathered = self.learner.gather(parts, first_beliefs(parts, self.n_classes)) if _is_open(blocks) else None
        some = [part.view(0, min(part.n_rows, -(-_ROWS_TO_COMPARE // len(parts)))) for part in parts]
        variant = combine([self._best(gathered, variants, some) for variants in blocks])
        choices = [Choice(variant, penalty) for penalty in variant.penalties]
        if len(choices) == 1:
            return choices[0]
        means = [self._explained(gathered, choice, some).mean() for choice in choices]
        return choices[int(np.argmax(means - OFFSETS_MUST_EARN * np.arange(len(choices))))]

    def _best(self, gathered: Any, variants: Sequence[Variant], parts: list[Rows]) -> Variant:
        """The first, unless another explains the labels better beyond chance."""
        if len(variants) == 1:
            return variants[0]
        explained = np.array([self._explained(gathered, Choice(v, v.penalties[0]), parts) for v in variants])
        gain = explained - explained[0]
        chance = gain.std(axis=1) / np.sqrt(gain.shape[1])
        means = gain.mean(axis=1)
        return variants[int(np.argmax(np.where(means > STANDARD_ERRORS * chance, means, 0.0)))]

    def _explained(self, gathered: Any, choice: Choice, parts: list[Rows]) -> Array:
        """(n,) log-likelihood of the labels of `parts`, times their weights."""
        scores = self.scores(gathered, choice.variant, False, parts)
        base = self.learner.shares(gathered) if choice.variant.shares else np.zeros(self.n_classes)
        labels = labels_of(parts)
        _, found = calibrate(scores, labels, self.structure, choice.penalty, base, None, self.rng)
        return np.asarray(found.log_likelihood * (labels.weight / labels.weight.mean()))


def _is_open(blocks: Sequence[Sequence[Variant]]) -> bool:
    return any(len(variants) > 1 or len(variants[0].penalties) > 1 for variants in blocks)


def crossfit(
    rows: Rows,
    learner: Learner,
    structure: Structure,
    n_classes: int,
    rng: np.random.Generator,
    believe: Generative | None = None,
    report: Callable[[str], None] | None = None,
    n_folds: int | None = None,
    most_rounds: int = MOST_ROUNDS,
) -> CrossFit:
    """Choose a variant, choose the number of rounds on left-out labels, and fit on all rows."""
    tell = report or (lambda news: None)
    order, parts = into_folds(rows, n_folds or _folds_for(rows.n_rows), rng)
    fitter = Fitter(learner, structure, n_classes, rng, most_rounds)
    tell("comparing scores")
    choice = fitter.choose(parts)
    tell("counting rounds")
    honest = _honest_likelihoods(fitter, parts, choice, believe)
    best = _fewest_rounds(honest, most_rounds)
    tell("fitting")
    if believe is not None and best > most_rounds:
        first, last = fitter.rounds(parts, choice, 0)[0], fitter.generative(parts, choice, believe)
    else:
        stages = fitter.rounds(parts, choice, best)
        first, last = stages[0], stages[-1]
    back = np.argsort(order)
    labels = labels_of(parts)
    scores = fitter.scores(last.gathered, choice.variant, last.settled, parts)
    return CrossFit(
        choice,
        last.settled,
        last.gathered,
        learner.predictor(last.gathered, choice.variant, last.settled),
        learner.left_out(last.gathered, choice.variant, last.settled),
        learner,
        Belief(*(np.concatenate(values)[back] for values in zip(*last.beliefs, strict=True))),
        np.repeat(np.arange(len(parts)), [part.n_rows for part in parts])[back],
        last.calibration,
        posterior(last.calibration, scores, labels._replace(verified=None)).true[back],
        first.posterior.prior.argmax(axis=1)[back],
        best if best <= most_rounds else -1,
        honest,
        _review_count(last.calibration, scores, labels, structure),
    )


def _folds_for(n_rows: int) -> int:
    return MORE_FOLDS if n_rows < FEW_ROWS else FOLDS


def _fewest_rounds(honest: Array, most_rounds: int) -> int:
    """The generative EM if it explains left-out labels best, else the fewest rounds that come close to the best."""
    rounds = honest[: most_rounds + 1]
    if len(honest) > len(rounds) and honest[-1] > rounds.max():
        return most_rounds + 1
    return int(np.flatnonzero(rounds >= rounds.max() - ROUNDS_MUST_EARN)[0])


def _honest_likelihoods(fitter: Fitter, parts: list[Rows], choice: Choice, believe: Generative | None) -> Array:
    """Mean log-likelihood of left-out labels after 0, 1, ... rounds (and under `believe`), over enough folds."""
    n = sum(part.n_rows for part in parts)
    n_left_out = min(len(parts), -(-_ROWS_LEFT_OUT * len(parts) // n))
    totals, weight = np.zeros(fitter.most_rounds + 1 + (believe is not None)), 0.0
    for f in range(n_left_out):
        rest, held = parts[:f] + parts[f + 1 :], parts[f]
        stages = fitter.rounds(rest, choice, fitter.most_rounds)
        if believe is not None:
            stages.append(fitter.generative(rest, choice, believe))
        held_weight = labels_of([held]).weight
        totals += [fitter.likelihood(stage, choice, held) @ held_weight for stage in stages]
        weight += held_weight.sum()
    return totals / max(weight, 1e-300)


def _review_count(calibration: Calibration, scores: Array, labels: Labels, structure: Structure) -> int:
    """How many labels to look at if mistakes sit on ambiguous rows: the expected number of wrong ones when the scores
    are believed three times as much. A work list: it is too long where labels are right."""
    sharp = calibration._replace(temperature=3.0 * calibration.temperature)
    for _ in range(3):
        found = posterior(sharp, scores, labels)
        sharp = sharp._replace(mislabel=estimate_matrix(found.true, labels, structure))
    found = posterior(sharp, scores, labels)
    labeled = np.flatnonzero(labels.observed < found.true.shape[1])
    return round(float((1.0 - found.true[labeled, labels.observed[labeled]]).sum()))
