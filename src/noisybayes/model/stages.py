"""The stages of a robust fit: scores learned from what is believed of the labels, and calibrated on the labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from .beliefs import Belief, first_belief, next_belief
from .calibration import Calibration, Labels, Scores, centred, posterior
from .climbing import calibrate, finished
from .folded import Folded, KeptScores, LazyScores, gathered_rows, labels_of
from .mislabel import Structure
from .rows import Rows
from .tree import Array
from .variants import Choice, Offsets, Variant, combine

#: Offsets other than the first must explain the labels better, by this many nats per row: labelers who favour a label
#: make its class look large, and free offsets would learn the habit.
OFFSETS_MUST_EARN = 0.01
#: A variant takes the place of the first one if it explains the labels better by this many standard errors.
STANDARD_ERRORS = 2.0
#: A class keeps at least this share of its labels; if every label has at least this share of an equal part of the rows,
#: the true classes may be equal, and the shares no more than a habit of the labelers.
LEAST_KEPT = 0.6
_ROWS_TO_COMPARE = 10_000


class Learner(Protocol):
    """What learns scores from beliefs: naive Bayes from sums, or any classifier from weighted rows."""

    blocks: Sequence[Sequence[Variant]]  # for each block of columns the variants that may score it
    additive: bool  # whether to gather is to sum over rows, which is cheap
    n_threads: int

    def in_one_thread(self) -> Learner:
        """The same, for somebody who runs several at once."""
        ...

    def gather(self, folded: Folded, belief: Belief) -> Any:
        """What all variants need, fold by fold."""
        ...

    def left_out(self, gathered: Any, variant: Variant, settled: bool) -> list[Any]:
        """What `score` needs, for each fold learned from all the others."""
        ...

    def predictor(self, gathered: Any, variant: Variant, settled: bool) -> Any:
        """What `score` needs, learned from all folds."""
        ...

    def score(self, predictor: Any, variant: Variant, X: Any) -> Array:
        """(B, n, K)"""
        ...

    def weighed(self, predictor: Any, variant: Variant, temperature: Array) -> Callable[[Any], Array]:
        """A function from X to the sum (n, K) of its scores times temperatures."""
        ...

    def shares(self, gathered: Any) -> Array:
        """(K,) log class shares."""
        ...


class Round(NamedTuple):
    """What a stage can be made from again in one pass over the rows."""

    number: int
    belief: Belief
    calibration: Calibration


class Stage(NamedTuple):
    """Scores learned from a belief, and what they are worth."""

    number: int  # rounds before it
    belief: Belief
    gathered: Any
    calibration: Calibration
    scores: Scores  # out of fold, weighed

    @property
    def settled(self) -> bool:
        """Whether labels have been weighted, so that the strength of the prior can be found from them."""
        return self.number > 0


def out_of_fold(learner: Learner, left_out: list[Any], variant: Variant, folded: Folded) -> LazyScores:
    """Every row scored by what was learned without its fold."""

    def score(fold: int, design: Any) -> Array:
        return learner.score(left_out[fold], variant, design)

    def weigh(temperature: Array) -> Callable[[int, Any], Array]:
        each = [learner.weighed(predictor, variant, temperature) for predictor in left_out]
        return lambda fold, design: each[fold](design)[None]

    return LazyScores(folded, score, learner.n_threads, weigh)


class Fitter:
    """The steps of a fit."""

    def __init__(
        self,
        learner: Learner,
        structure: Structure,
        n_classes: int,
        rng: np.random.Generator,
        most_rounds: int,
    ) -> None:
        self.learner, self.structure, self.n_classes = learner, structure, n_classes
        self.rng, self.most_rounds = rng, most_rounds

    def scores(self, gathered: Any, variant: Variant, settled: bool, folded: Folded) -> LazyScores:
        return out_of_fold(self.learner, self.learner.left_out(gathered, variant, settled), variant, folded)

    def base(self, gathered: Any, offsets: Offsets) -> Array:
        return self.learner.shares(gathered) if offsets.from_shares else np.zeros(self.n_classes)

    def stage(
        self,
        folded: Folded,
        belief: Belief,
        choice: Choice,
        start: Calibration | None,
        number: int,
        last: bool = True,
    ) -> Stage:
        """`last`: whether the calibration is an end, not only the way to the next belief."""
        gathered, scores = self._learned(folded, belief, choice, number)
        base, labels = self.base(gathered, choice.offsets), folded.labels
        calibration = calibrate(
            scores, labels, self.structure, choice.offsets.penalty, base, start, self.rng, fine=last
        )
        weighed = scores.weighed(calibration.temperature).kept_if_small()
        return Stage(number, belief, gathered, finished(calibration, weighed, labels, self.structure), weighed)

    def again(self, folded: Folded, choice: Choice, made: Round) -> Stage:
        """The stage that was made before."""
        gathered, scores = self._learned(folded, made.belief, choice, made.number)
        weighed = scores.weighed(made.calibration.temperature).kept_if_small()
        return Stage(made.number, made.belief, gathered, made.calibration, weighed)

    def _learned(self, folded: Folded, belief: Belief, choice: Choice, number: int) -> tuple[Any, Scores]:
        gathered = self.learner.gather(folded, belief)
        scores = self.scores(gathered, choice.variant, number > 0, folded)
        # sums score rows so fast that only the weighed scores are worth their memory
        return gathered, scores if self.learner.additive else scores.kept_if_small()

    def rounds(self, folded: Folded, choice: Choice, most: int, resumed: Round | None = None) -> Iterator[Stage]:
        """The stages after 0, 1, ... rounds of reweighting, or from an earlier one on."""
        belief, start = first_belief(folded.labels, self.n_classes), None
        for number in range(0 if resumed is None else resumed.number, most + 1):
            if resumed is not None and resumed.number == number:
                stage = self.again(folded, choice, resumed)
            else:
                stage = self.stage(folded, belief, choice, start, number, last=number == most)
            yield stage
            start = stage.calibration
            if number < most:
                belief = believed(stage, folded.labels)

    def generative(self, folded: Folded, choice: Choice, belief: Belief) -> Stage:
        return self.stage(folded, belief, choice, None, number=1)

    def likelihood(self, stage: Stage, choice: Choice, rows: Rows) -> Array:
        """(n,) log P(label | x) of rows that had no part in the stage."""
        predictor = self.learner.predictor(stage.gathered, choice.variant, stage.settled)
        scores = centred(self.learner.score(predictor, choice.variant, rows.X))
        return posterior(stage.calibration, scores, labels_of(rows)).log_likelihood

    def choose(self, folded: Folded) -> Choice:
        """For each block the variant, and for all of them the offsets, that explain the observed labels best."""
        blocks = self.learner.blocks
        gathered = (
            self.learner.gather(folded, first_belief(folded.labels, self.n_classes)) if _is_open(blocks) else None
        )
        some = _first_of_folds(folded, _ROWS_TO_COMPARE)
        variant = combine([self._best(gathered, variants, folded, some) for variants in blocks])
        offsets = self._in_order(gathered, variant.offsets)
        choices = [Choice(variant, each) for each in offsets]
        if len(choices) == 1:
            return choices[0]
        means = np.array([self._explained(gathered, choice, folded, some).mean() for choice in choices])
        means[1:] -= OFFSETS_MUST_EARN
        return choices[int(np.argmax(means))]

    def _in_order(self, gathered: Any, offsets: Sequence[Offsets]) -> Sequence[Offsets]:
        """The one to beat first: offsets from zero where mistakes alone could have made the shares of the labels."""
        if len(offsets) == 1:
            return offsets
        least = self.n_classes * np.exp(self.learner.shares(gathered).min())
        return sorted(offsets, key=lambda each: each.from_shares) if least >= LEAST_KEPT else offsets

    def _best(self, gathered: Any, variants: Sequence[Variant], folded: Folded, some: Array) -> Variant:
        """The first, unless another explains the labels better beyond chance."""
        if len(variants) == 1:
            return variants[0]
        explained = np.array([self._explained(gathered, Choice(v, v.offsets[0]), folded, some) for v in variants])
        gain = explained - explained[0]
        chance = gain.std(axis=1) / np.sqrt(gain.shape[1])
        means = gain.mean(axis=1)
        return variants[int(np.argmax(np.where(means > STANDARD_ERRORS * chance, means, 0.0)))]

    def _explained(self, gathered: Any, choice: Choice, folded: Folded, some: Array) -> Array:
        """(len(some),) log-likelihood of the labels of some rows, times their weights."""
        scores = KeptScores(self.scores(gathered, choice.variant, False, folded).take(some))
        base, labels = self.base(gathered, choice.offsets), folded.labels.take(some)
        calibration = calibrate(scores, labels, self.structure, choice.offsets.penalty, base, None, self.rng)
        calibration = finished(calibration, scores.weighed(calibration.temperature), labels, self.structure)
        likelihood = posterior(calibration, scores.values, labels).log_likelihood
        return np.asarray(likelihood * (labels.weight / labels.weight.mean()))


def believed(stage: Stage, labels: Labels) -> Belief:
    """What the stage makes of the labels."""

    def of_rows(rows: Any, scores: Array) -> Belief:
        here = labels.take(rows)
        return next_belief(here, posterior(stage.calibration.of_weighed, scores, here).true)

    return Belief(*gathered_rows(stage.scores.n_rows, stage.scores.map(of_rows)))


def _is_open(blocks: Sequence[Sequence[Variant]]) -> bool:
    return any(len(variants) > 1 or len(variants[0].offsets) > 1 for variants in blocks)


def _first_of_folds(folded: Folded, n_rows: int) -> Array:
    """Some rows of every fold, together about so many."""
    each = -(-n_rows // folded.n_folds)
    ordered = folded.in_block_order()
    fold = folded.fold[ordered]
    return np.concatenate([ordered[np.flatnonzero(fold == f)[:each]] for f in range(folded.n_folds)])
