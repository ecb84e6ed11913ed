"""From rows to a fitted model: start, EM, the strength of the prior, and the names of the classes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from .checkpoint import NO_CHECKPOINT, Checkpoint
from .em import MapSum, Model, Params, Run, Stats, run_em
from .families import Family
from .mislabel import Structure, matching
from .rows import Rows, score_dtype
from .start import random_statistics, statistics_of_labels
from .stored import WhenLoaded, chunks_of
from .tree import Array, take_components

# The first EM runs with one pseudo-row: classes mixed by wrong labels look alike, and a strength estimated from them
# would pull them together for good.
_FIRST_STRENGTH = 1.0


class Fit(NamedTuple):
    model: Model
    params: Params
    stats: Stats
    objective: Array  # (steps,)
    strengths: list[tuple[int, Any]]  # the step from which on each strength held
    converged: bool


@dataclass(frozen=True)
class Settings:
    alpha: float | Literal["auto"] = "auto"
    start: str = "labels"
    n_init: int = 1
    max_iter: int = 300
    tol: float = 1e-5


def fit(
    rows: Rows,
    family: Family,
    structure: Structure,
    class_prior: Array | None,
    n_classes: int,
    settings: Settings,
    map_sum: MapSum,
    rng: np.random.Generator,
    report: Callable[[int, float], None] | None = None,
    checkpoint: Checkpoint = NO_CHECKPOINT,
) -> Fit:
    dtype = score_dtype(rows.X)
    n_starts = settings.n_init if settings.start == "random" else 1
    chunks = chunks_of(rows, n_starts * n_classes)
    map_sum = partial(_over_chunks, map_sum)
    family = family.anchor(chunks[0].load().X)
    labels = statistics_of_labels(chunks, family, n_classes, dtype, map_sum)
    model = Model(family, structure, first_prior(family, settings.alpha, labels), class_prior)
    params = first_params(model, labels if settings.start == "labels" else random_statistics(labels, n_starts, rng))
    del labels

    def em(model: Model, params: Params, max_iter: int, name: str) -> Run:
        passes = partial(map_sum, chunks=chunks)
        return run_em(model, params, passes, dtype, max_iter, settings.tol, report, checkpoint, name)

    run = em(model, params, settings.max_iter, "em")
    run = run.restart(int(run.objective[-1].argmax()))
    strengths: list[tuple[int, Any]] = [(0, settings.alpha)]
    if settings.alpha == "auto":
        model, run, strengths = _tune(model, run, em, settings.max_iter)
    if structure.exchangeable and class_prior is None and rows.verified is None:
        run = _aligned(run)
    return Fit(model, run.params, run.stats, run.objective[:, 0], strengths, run.converged)


def _over_chunks(map_sum: Any, fn: Callable[[Rows], Any], chunks: Any) -> Any:
    return map_sum(WhenLoaded(fn), chunks)


def first_params(model: Model, stats: Stats) -> Params:
    """Features and class shares from the start's sums; labels believed to the same degree in every class."""
    K = stats.joint.shape[2]
    params = model.maximize(stats)
    return params._replace(mislabel=np.broadcast_to(model.structure.start(K), params.mislabel.shape))


def first_prior(family: Family, alpha: float | str, labels: Stats) -> Any:
    if alpha == "auto":
        return family.pooled_prior(labels.features, labels.component_weight, _FIRST_STRENGTH)
    return family.fixed_prior(float(alpha), labels.features, labels.component_weight)


def _tune(model: Model, run: Run, em: Callable[..., Run], max_iter: int) -> tuple[Model, Run, list[tuple[int, Any]]]:
    """The strength of the feature prior by marginal likelihood, from the classes that EM found, and EM again under it.

    Once only: a greater strength blurs the classes, blurred classes ask for a greater strength, and where features are
    weak the two would go on until only the labels are left.
    """
    steps = len(run.objective)
    strengths = [(0, model.family.strength(model.feature_prior))]
    if steps > max_iter:
        return model, run, strengths
    prior = model.family.pooled_prior(run.stats.features, run.stats.component_weight)
    model = replace(model, feature_prior=prior)
    again = em(model, model.maximize(run.stats), max_iter - steps, "em_with_prior")
    run = again._replace(objective=np.concatenate([run.objective, again.objective]))
    return model, run, [*strengths, (steps, model.family.strength(prior))]


def _aligned(run: Run) -> Run:
    """Name the latent classes after the observed ones that they are given most."""
    order = matching(run.params.mislabel[0])
    params, stats = run.params, run.stats
    return run._replace(
        params=Params(params.prior[:, order], params.mislabel[:, :, order], take_components(params.features, order)),
        stats=Stats(stats.joint[:, :, order], take_components(stats.features, order), stats.log_likelihood),
    )
