"""Rows in folds, and what is believed of their labels."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from .calibration import Labels
from .rows import Rows
from .tree import Array


class Belief(NamedTuple):
    """What is taken as the true label of each row, and how far."""

    label: Array  # (n,) codes
    trust: Array  # (n,) between 0 and 1


def labels_of(parts: list[Rows]) -> Labels:
    observed = np.concatenate([part.observed for part in parts])
    verified = None if parts[0].verified is None else np.concatenate([part.verified for part in parts])
    weight = np.ones(len(observed)) if parts[0].weight is None else np.concatenate([part.weight for part in parts])
    return Labels(observed, verified, weight)


def into_folds(rows: Rows, n_folds: int, rng: np.random.Generator) -> tuple[Array, list[Rows]]:
    """Rows in random folds, each label dealt out evenly; the order of the rows that lays each fold in one piece."""
    shuffled = rng.permutation(rows.n_rows)
    by_label = shuffled[np.argsort(rows.observed[shuffled], kind="stable")]
    fold = np.empty(rows.n_rows, dtype=int)
    fold[by_label] = np.arange(rows.n_rows) % min(n_folds, rows.n_rows)
    order = shuffled[np.argsort(fold[shuffled], kind="stable")]
    ordered = rows.take(order)
    edges = np.searchsorted(fold[order], np.arange(fold.max() + 2))
    return order, [ordered.view(a, b) for a, b in pairwise(edges)]


def first_beliefs(parts: list[Rows], n_classes: int) -> list[Belief]:
    """Labels as given; verified ones where known; none where missing."""
    beliefs = []
    for part in parts:
        label = part.observed if part.verified is None else np.where(part.verified >= 0, part.verified, part.observed)
        present = label < n_classes
        beliefs.append(Belief(np.where(present, label, 0), present.astype(float)))
    return beliefs


def next_beliefs(parts: list[Rows], true: Array) -> list[Belief]:
    """Each label counts by the probability that it is right; a row without one counts as its most probable class."""
    n_classes = true.shape[1]
    edges = np.cumsum([0] + [part.n_rows for part in parts])
    beliefs = []
    for part, start, stop in zip(parts, edges[:-1], edges[1:], strict=True):
        probability = true[start:stop]
        label = np.where(part.observed < n_classes, part.observed, probability.argmax(axis=1))
        if part.verified is not None:
            label = np.where(part.verified >= 0, part.verified, label)
        beliefs.append(Belief(label, probability[np.arange(part.n_rows), label]))
    return beliefs
