"""The paper's EM as a candidate of the robust fit: its beliefs are taken if they explain left-out labels better."""

from __future__ import annotations

import numpy as np

from .beliefs import Belief
from .crossfit import Generative
from .em import MapSum, posterior
from .families import Family
from .fit import Settings, fit
from .mislabel import Structure
from .rows import Rows, score_dtype
from .stored import chunks_of
from .tree import Array


def em_beliefs(
    family: Family,
    structure: Structure,
    class_prior: Array | None,
    n_classes: int,
    settings: Settings,
    map_sum: MapSum,
) -> Generative:
    def believe(rows: Rows) -> Belief:
        fitted = fit(rows, family, structure, class_prior, n_classes, settings, map_sum, np.random.default_rng(0))
        scores = fitted.model.scores(fitted.params, score_dtype(rows.X))
        beliefs = [_most_probable(posterior(part.load(), **scores)[0][:, 0]) for part in chunks_of(rows, n_classes)]
        return Belief(*map(np.concatenate, zip(*beliefs, strict=True)))

    return believe


def _most_probable(true: Array) -> Belief:
    label = true.argmax(axis=1)
    return Belief(label, true[np.arange(len(true)), label])
