"""The robust fit: cross-fitted scores, calibrated on the labels, and labels that count as far as they are believed.

Naive Bayes is sure of itself far beyond its merits, and EM that believes it drifts away from the labels. Here a row is
scored by statistics without its own fold, `calibration` finds out how much those scores are worth, and a label that
looks wrong loses weight in the next round, but is never replaced by the model's own guess: a model cannot feed on its
guesses. How many rounds are made, none included, is decided by the likelihood of labels that were left out altogether.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from .beliefs import Belief
from .calibration import Calibration, Labels, Scores, label_counts, matrix_of, posterior, total
from .checkpoint import NO_CHECKPOINT, Checkpoint
from .folded import Folded, KeptScores, deal_folds, gathered_rows, into_folds, labels_of
from .mislabel import Structure
from .rows import Rows, n_entries
from .stages import Fitter, Learner, Round, Stage
from .stored import Stored
from .tree import Array
from .variants import Choice

FOLDS = 5
#: Four fifths of few rows learn visibly worse than all of them: left-out labels would judge another, weaker fit.
FEW_ROWS = 500
MORE_FOLDS = 10
#: Rounds of reweighting that may be made; their effect is all but over after the second.
MOST_ROUNDS = 3
#: Honest likelihoods of rounds differ by hundredths of a nat per row: this many left-out rows tell them apart.
_ROWS_LEFT_OUT = 3_000
#: Rounds must explain the labels better, by this many nats per row: what they take is not given back.
ROUNDS_MUST_EARN = 0.005
#: How to fit is decided on a sample of the rows if there are more than these, or more entries; the fit takes all. A
#: sample of this size tells variants and rounds apart as well as millions of rows do.
ROWS_TO_DECIDE = 100_000
ENTRIES_TO_DECIDE = 20_000_000


class CrossFit(NamedTuple):
    choice: Choice
    settled: bool
    gathered: Any
    predictor: Any
    left_out: list[Any]  # for each fold what is learned from the others
    learner: Learner
    belief: Belief  # that the scores were learned from
    fold: Array  # (n,) of each row
    calibration: Calibration
    out_of_fold: Array  # (n,) class that naive Bayes of the observed labels gives each row, out of fold
    rounds: int  # -1: the generative EM was better than any number of rounds
    honest: Array  # log-likelihood per left-out label: after 0, 1, ... rounds, and of the generative EM if it was tried
    review_count: int


#: The labels of rows as some other algorithm believes them (the generative EM, say).
Generative = Callable[[Rows], Belief]


class Plan(NamedTuple):
    """How to fit."""

    choice: Choice
    rounds: int  # one more than may be made: the generative EM
    honest: Array


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
    checkpoint: Checkpoint = NO_CHECKPOINT,
) -> tuple[CrossFit, Scores]:
    """Choose a variant, choose the number of rounds on left-out labels, fit on all rows; also their weighed scores."""
    tell = report or (lambda news: None)
    fitter = Fitter(learner, structure, n_classes, rng, most_rounds)
    size = _rows_to_decide(rows)
    if size == rows.n_rows and isinstance(rows.X, Stored):
        rows = rows.take(np.arange(size))  # so few fit into memory
    folded = _dealt(rows, n_folds, n_classes, rng) if size == rows.n_rows else None
    plan = _resumed(checkpoint, "plan", rng)
    if plan is None:
        plan = _decide(fitter, folded or _sampled(rows, size, n_folds, n_classes, rng), believe, tell)
        _save(checkpoint, "plan", plan, rng)
    if folded is None:
        folded = _dealt(rows, n_folds, n_classes, rng)
    tell("fitting")
    as_given, last = _fit(fitter, folded, plan, believe, rows, checkpoint)
    choice = plan.choice
    found = CrossFit(
        choice,
        last.settled,
        last.gathered,
        learner.predictor(last.gathered, choice.variant, last.settled),
        learner.left_out(last.gathered, choice.variant, last.settled),
        learner,
        last.belief,
        folded.fold,
        last.calibration,
        as_given,
        plan.rounds if plan.rounds <= most_rounds else -1,
        plan.honest,
        _review_count(last, folded.labels, structure, rng),
    )
    return found, last.scores


def _dealt(rows: Rows, n_folds: int | None, n_classes: int, rng: np.random.Generator) -> Folded:
    fold, shuffled = deal_folds(rows.observed, n_folds or _folds_for(rows.n_rows), rng)
    # to compare variants, the first rows of a fold must be any; many rows are copied faster in their own order
    order = shuffled if rows.n_rows <= ROWS_TO_DECIDE else np.arange(rows.n_rows)
    return into_folds(rows, fold, order, n_classes)


def _sampled(rows: Rows, size: int, n_folds: int | None, n_classes: int, rng: np.random.Generator) -> Folded:
    """A random sample of the rows, in memory."""
    sample = rows.take(np.sort(rng.choice(rows.n_rows, size, replace=False)))
    return _dealt(sample, n_folds, n_classes, rng)


def _rows_to_decide(rows: Rows) -> int:
    """All rows, unless they are many."""
    return min(rows.n_rows, ROWS_TO_DECIDE, int(ENTRIES_TO_DECIDE * rows.n_rows / max(n_entries(rows.X), 1)))


def _decide(fitter: Fitter, folded: Folded, believe: Generative | None, tell: Callable[[str], None]) -> Plan:
    tell("comparing scores")
    choice = fitter.choose(folded)
    tell("counting rounds")
    honest = _honest_likelihoods(fitter, folded, choice, believe)
    return Plan(choice, _fewest_rounds(honest, fitter.most_rounds), honest)


def _fit(
    fitter: Fitter, folded: Folded, plan: Plan, believe: Generative | None, rows: Rows, checkpoint: Checkpoint
) -> tuple[Array, Stage]:
    """The classes that naive Bayes of the labels as given predicts, and the last stage."""
    generative = plan.rounds > fitter.most_rounds
    as_given: Any
    as_given, resumed = _resumed(checkpoint, "round", fitter.rng) or (None, None)
    for stage in fitter.rounds(folded, plan.choice, 0 if generative else plan.rounds, resumed):
        as_given = _predicted(stage) if as_given is None else as_given
        _save(checkpoint, "round", (as_given, Round(stage.number, stage.belief, stage.calibration)), fitter.rng)
    if generative:
        assert believe is not None
        stage = fitter.generative(folded, plan.choice, believe(rows))
    return as_given, stage


def _resumed(checkpoint: Checkpoint, name: str, rng: np.random.Generator) -> Any:
    """What was saved, with the random numbers that come after it; or None."""
    stored = checkpoint.load(name)
    if stored is None:
        return None
    value, rng.bit_generator.state = stored
    return value


def _save(checkpoint: Checkpoint, name: str, value: Any, rng: np.random.Generator) -> None:
    checkpoint.save(name, (value, rng.bit_generator.state))


def _predicted(stage: Stage) -> Array:
    """(n,) the most probable class of each row, from its features alone."""
    parts = stage.scores.map(
        lambda rows, scores: (stage.calibration.of_weighed.log_joint(scores).argmax(axis=1).astype(np.int32),)
    )
    return gathered_rows(stage.scores.n_rows, parts)[0]


def _folds_for(n_rows: int) -> int:
    return MORE_FOLDS if n_rows < FEW_ROWS else FOLDS


def _fewest_rounds(honest: Array, most_rounds: int) -> int:
    """The generative EM if it explains left-out labels best, else the fewest rounds that come close to the best."""
    rounds = honest[: most_rounds + 1]
    if len(honest) > len(rounds) and honest[-1] > rounds.max():
        return most_rounds + 1
    return int(np.flatnonzero(rounds >= rounds.max() - ROUNDS_MUST_EARN)[0])


def _honest_likelihoods(fitter: Fitter, folded: Folded, choice: Choice, believe: Generative | None) -> Array:
    """Mean log-likelihood of left-out labels after 0, 1, ... rounds (and under `believe`), over enough folds."""
    n_left_out = min(folded.n_folds, -(-_ROWS_LEFT_OUT * folded.n_folds // folded.n_rows))
    totals, weight = np.zeros(fitter.most_rounds + 1 + (believe is not None)), 0.0
    for f in range(n_left_out):
        rest, held = folded.without(f), folded.rows(np.flatnonzero(folded.fold == f))
        stages = fitter.rounds(rest, choice, fitter.most_rounds)
        if believe is not None:
            belief = believe(rest.rows(np.arange(rest.n_rows)))
            stages = chain(stages, [fitter.generative(rest, choice, belief)])
        held_weight = labels_of(held).weight
        totals += [fitter.likelihood(stage, choice, held) @ held_weight for stage in stages]
        weight += held_weight.sum()
    return totals / max(weight, 1e-300)


def _review_count(last: Stage, labels: Labels, structure: Structure, rng: np.random.Generator) -> int:
    """How many labels to look at if mistakes sit on ambiguous rows: the expected number of wrong ones when the scores
    are believed three times as much. A work list: it is too long where labels are right."""
    scores, share = last.scores, 1.0
    if scores.n_rows > ROWS_TO_DECIDE:
        some, share = rng.choice(scores.n_rows, ROWS_TO_DECIDE, replace=False), ROWS_TO_DECIDE / scores.n_rows
        scores, labels = KeptScores(scores.take(some)), labels.take(some)
    sharp = last.calibration._replace(temperature=np.array([3.0]))

    def counts(rows: Any, some: Array) -> Array:
        here = labels.take(rows)
        return label_counts(posterior(sharp, some, here).true, here)

    def wrong(rows: Any, some: Array) -> Array:
        here = labels.take(rows)
        true = posterior(sharp, some, here).true
        labeled = np.flatnonzero(here.observed < true.shape[1])
        return np.array([(1.0 - true[labeled, here.observed[labeled]]).sum()])

    for _ in range(3):
        sharp = sharp._replace(mislabel=matrix_of(total(scores.map(counts)), structure))
    return round(float(total(scores.map(wrong))[0]) / share)
