"""Stepwise EM: one E-step per batch of a stream, on the same statistics as the batch algorithm.

The statistics are those of all rows seen so far, but early rows, whose soft labels came from a poor model, are
discounted: a batch of weight w among W seen so far enters with the share (w / W) ** DECAY instead of w / W.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ...dataset import Dataset
from ...dataset.tree import add_into, blend, scale
from .em import Model, Params, Stats, expect
from .families import Family
from .fit import Problem, first_model, first_params
from .start import statistics_of_labels

# Between 1/2 and 1 stepwise EM converges (Cappe & Moulines 2009); the lower, the faster it forgets its start.
DECAY = 0.65
# Features estimated from a handful of rows are overconfident: until this many rows per class have been seen, the
# labels are taken as given.
WARM_UP = 50


def begin(data: Dataset, problem: Problem) -> tuple[Model, Params, Stats]:
    """Naive Bayes on the labels of the first batch, and an EM step if that is large enough."""
    problem = problem.anchored(data)
    labels = statistics_of_labels(data, problem.family, problem.n_classes)
    model = first_model(problem, labels)
    params = first_params(model, labels)
    if _warming_up(labels):
        return model, params, labels
    stats = _soft_statistics(model, params, data)
    return model, _maximize(model, stats), stats


def advance(model: Model, params: Params, seen: Stats, data: Dataset, alpha: Any) -> tuple[Model, Params, Stats]:
    """One step: soft labels for this batch, its sums blended into the previous ones, new parameters."""
    if _warming_up(seen):
        labels = statistics_of_labels(data, model.family, seen.joint.shape[2])
        stats = add_into(labels, seen)
        return model, first_params(model, stats), stats
    batch = _soft_statistics(model, params, data)
    old, new = seen.joint.sum(), batch.joint.sum()
    share = (new / (old + new)) ** DECAY
    stats = scale(blend(scale(seen, 1 / old), scale(batch, 1 / new), share), old + new)
    # the prior is estimated again each time the rows have doubled
    if int(np.log2(old + new)) > int(np.log2(old)):
        model = replace(model, feature_prior=_prior(model.family, alpha, stats))
    return model, _maximize(model, stats), stats


def _maximize(model: Model, stats: Stats) -> Params:
    """The M-step with one extra row of every class, labeled as at the start: a class may appear late."""
    n_classes = stats.joint.shape[2]
    pseudo = np.vstack([model.structure.start(n_classes), np.zeros(n_classes)])
    return model.maximize(stats._replace(joint=stats.joint + pseudo))


def _warming_up(seen: Stats) -> bool:
    return bool(seen.joint.sum() < WARM_UP * seen.joint.shape[2])


def _soft_statistics(model: Model, params: Params, data: Dataset) -> Stats:
    stats: Stats = data.map_sum(partial(expect, family=model.family, **model.scores(params, data.dtype)))
    return stats


def _prior(family: Family, alpha: Any, stats: Stats) -> Any:
    if alpha == "auto":
        return family.pooled_prior(stats.features, stats.component_weight)
    return family.fixed_prior(float(alpha), stats.features, stats.component_weight)
