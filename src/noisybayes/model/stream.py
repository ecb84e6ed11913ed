"""Stepwise EM: one E-step per batch of a stream, on the same statistics as the batch algorithm.

The statistics are those of all rows seen so far, but early rows, whose soft labels came from a poor model, fade:
a batch of weight w among W seen so far enters with the share (w / W) ** DECAY instead of w / W.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from .em import MapSum, Model, Params, Stats, expect
from .families import Family
from .fit import first_params, first_prior
from .mislabel import Structure
from .rows import Rows, score_dtype
from .start import statistics_of_labels
from .tree import Array, add_into, blend, scale

# Between 1/2 and 1 stepwise EM converges (Cappe & Moulines 2009); the lower, the faster it forgets its beginning.
DECAY = 0.65
# Features estimated from a handful of rows are sure of anything: until this many rows per class were seen, the labels
# are taken as given.
WARM_UP = 50


def begin(
    chunks: list[Rows],
    family: Family,
    structure: Structure,
    class_prior: Array | None,
    n_classes: int,
    alpha: Any,
    map_sum: MapSum,
) -> tuple[Model, Params, Stats]:
    """Naive Bayes on the labels of the first batch, and an EM step if that is large enough."""
    family = family.anchor(chunks[0].X)
    labels = statistics_of_labels(chunks, family, n_classes, score_dtype(chunks[0].X), map_sum)
    model = Model(family, structure, first_prior(family, alpha, labels), class_prior)
    params = first_params(model, labels)
    if _warming_up(labels):
        return model, params, labels
    stats = _soft_statistics(model, params, chunks, map_sum)
    return model, _maximize(model, stats), stats


def advance(
    model: Model, params: Params, seen: Stats, chunks: list[Rows], alpha: Any, map_sum: MapSum
) -> tuple[Model, Params, Stats]:
    """One step: soft labels for this batch, its sums blended into those seen, new parameters."""
    if _warming_up(seen):
        n_classes = seen.joint.shape[2]
        labels = statistics_of_labels(chunks, model.family, n_classes, score_dtype(chunks[0].X), map_sum)
        stats = add_into(labels, seen)
        return model, first_params(model, stats), stats
    batch = _soft_statistics(model, params, chunks, map_sum)
    old, new = seen.joint.sum(), batch.joint.sum()
    share = (new / (old + new)) ** DECAY
    stats = scale(blend(scale(seen, 1 / old), scale(batch, 1 / new), share), old + new)
    # the prior is taken anew each time the rows have doubled
    if int(np.log2(old + new)) > int(np.log2(old)):
        model = replace(model, feature_prior=_prior(model.family, alpha, stats))
    return model, _maximize(model, stats), stats


def _maximize(model: Model, stats: Stats) -> Params:
    """The M-step with one more row of every class, labeled as at the start: a class may come late."""
    n_classes = stats.joint.shape[2]
    pseudo = np.vstack([model.structure.start(n_classes), np.zeros(n_classes)])
    return model.maximize(stats._replace(joint=stats.joint + pseudo))


def _warming_up(seen: Stats) -> bool:
    return bool(seen.joint.sum() < WARM_UP * seen.joint.shape[2])


def _soft_statistics(model: Model, params: Params, chunks: list[Rows], map_sum: MapSum) -> Stats:
    dtype = score_dtype(chunks[0].X)
    stats: Stats = map_sum(partial(expect, family=model.family, **model.scores(params, dtype)), chunks)
    return stats


def _prior(family: Family, alpha: Any, stats: Stats) -> Any:
    if alpha == "auto":
        return family.pooled_prior(stats.features, stats.component_weight)
    return family.fixed_prior(float(alpha), stats.features, stats.component_weight)
