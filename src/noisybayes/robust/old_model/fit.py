"""From rows to a fitted model: start, EM, the strength of the prior, and matching classes to labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from ...dataset import Dataset
from ...dataset.checkpoint import NO_CHECKPOINT, Checkpoint
from ...dataset.tree import Array, summed, take_components, tree_map
from .em import Model, Params, Run, Stats, expect, run_em
from .families import Family
from .mislabel import Structure, matching
from .start import PAPER_INTERVALS, paper_params, random_statistics, statistics_of_labels

# The first EM runs with one pseudo-row: classes mixed by wrong labels look alike, and a strength estimated from them
# would keep them together.
_FIRST_STRENGTH = 1.0


@dataclass(frozen=True)
class Settings:
    alpha: float | Literal["auto"] = "auto"
    start: str = "labels"
    n_init: int = 1
    max_iter: int = 300
    tol: float = 1e-5

    @property
    def n_starts(self) -> int:
        """Number of fits in one batch."""
        return 1 if self.start == "labels" else self.n_init


@dataclass(frozen=True)
class Problem:
    """What to learn from the rows, and the settings of EM."""

    family: Family
    structure: Structure
    n_classes: int
    class_prior: Array | None = None  # (K,) if it is known
    settings: Settings = Settings()

    def anchored(self, data: Dataset) -> Problem:
        """With the constants that the family takes from some rows before the first sum."""
        return replace(self, family=self.family.anchor(data.first_rows().X))


class Fit(NamedTuple):
    model: Model
    params: Params
    stats: Stats
    objective: Array  # (steps,)
    strengths: list[tuple[int, Any]]  # the step from which each strength applied
    converged: bool


def fit(
    data: Dataset,
    problem: Problem,
    rng: np.random.Generator,
    report: Callable[[int, float], None] | None = None,
    checkpoint: Checkpoint = NO_CHECKPOINT,
) -> Fit:
    settings = problem.settings
    labels = statistics_of_labels(data, problem.family, problem.n_classes)
    model = first_model(problem, labels)
    params = _start_params(model, labels, settings, rng)
    del labels
    em = partial(_em, data, settings, report, checkpoint)
    run = em(model, params, settings.max_iter, "em")
    run = run.restart(int(run.objective[-1].argmax()))
    strengths: list[tuple[int, Any]] = [(0, settings.alpha)]
    if settings.alpha == "auto":
        model, run, strengths = _tune(model, run, em, settings.max_iter)
    # the paper has no such step: it relies on the classes keeping the labels of its starting matrix
    is_papers_start = settings.start in PAPER_INTERVALS
    if problem.structure.exchangeable and problem.class_prior is None and not data.has_verified and not is_papers_start:
        run = _match_classes(run)
    return Fit(model, run.params, run.stats, run.objective[:, 0], strengths, run.converged)


def _start_params(model: Model, labels: Stats, settings: Settings, rng: np.random.Generator) -> Params:
    if settings.start in PAPER_INTERVALS:
        return paper_params(model, labels, settings.start, settings.n_init, rng)
    return first_params(
        model, labels if settings.start == "labels" else random_statistics(labels, settings.n_init, rng)
    )


def fit_leaving_out(data: Dataset, fitted: Fit, problem: Problem, left_out: Array) -> Params:
    """Fits that leave out one fold each, in one batch; each is one restart.

    They start where the fit to all rows ended, without the sums of their fold, so they converge quickly.
    """
    model, settings = fitted.model, problem.settings
    e_step = partial(expect, family=model.family, **model.scores(fitted.params, data.dtype))
    start = model.maximize(leave_out_each(data.map_sum(e_step, by="fold"), left_out))
    return run_em(model, start, data, settings.max_iter, settings.tol, left_out=left_out).params


def leave_out_each(by_fold: tuple[Stats | None, ...], left_out: Array) -> Stats:
    """The sums without one fold each, as restarts of one batch."""
    total = summed(by_fold)
    rest = [total if by_fold[fold] is None else tree_map(np.subtract, total, by_fold[fold]) for fold in left_out]
    stats: Stats = tree_map(lambda *leaves: np.concatenate(leaves), *rest)
    return stats


def _em(
    data: Dataset,
    settings: Settings,
    report: Callable[[int, float], None] | None,
    checkpoint: Checkpoint,
    model: Model,
    params: Params,
    max_iter: int,
    name: str,
) -> Run:
    return run_em(model, params, data, max_iter, settings.tol, report, checkpoint, name)


def first_model(problem: Problem, labels: Stats) -> Model:
    prior = first_prior(problem.family, problem.settings.alpha, labels)
    return Model(problem.family, problem.structure, prior, problem.class_prior)


def first_params(model: Model, stats: Stats) -> Params:
    """Features and class shares from the starting sums; the same probability of a right label in every class."""
    K = stats.joint.shape[2]
    params = model.maximize(stats)
    return params._replace(mislabel=np.broadcast_to(model.structure.start(K), params.mislabel.shape))


def first_prior(family: Family, alpha: float | str, labels: Stats) -> Any:
    if alpha == "auto":
        return family.pooled_prior(labels.features, labels.component_weight, _FIRST_STRENGTH)
    return family.fixed_prior(float(alpha), labels.features, labels.component_weight)


def _tune(model: Model, run: Run, em: Callable[..., Run], max_iter: int) -> tuple[Model, Run, list[tuple[int, Any]]]:
    """The strength of the feature prior by marginal likelihood, from the classes that EM found; then EM again with it.

    Only once: a greater strength blurs the classes, blurred classes lead to a greater strength, and with weak features
    this would continue until only the labels are left.
    """
    steps = len(run.objective)
    strengths = [(0, model.family.strength(model.feature_prior))]
    if steps > max_iter:
        return model, run, strengths
    prior = model.family.pooled_prior(run.stats.features, run.stats.component_weight)
    model = replace(model, feature_prior=prior)
    rerun = em(model, model.maximize(run.stats), max_iter - steps, "em_with_prior")
    run = rerun._replace(objective=np.concatenate([run.objective, rerun.objective]))
    return model, run, [*strengths, (steps, model.family.strength(prior))]


def _match_classes(run: Run) -> Run:
    """Match each latent class to the observed label that it is given most often."""
    order = matching(run.params.mislabel[0])
    params, stats = run.params, run.stats
    return run._replace(
        params=Params(params.prior[:, order], params.mislabel[:, :, order], take_components(params.features, order)),
        stats=Stats(stats.joint[:, :, order], take_components(stats.features, order), stats.log_likelihood),
    )
