"""Nearest neighbours: the labels of similar rows in other folds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..dataset.tree import Array
from .base import ViewRows, ViewScores, cross_fitted
from .matrices import standardised

# Neighbours that vote.
_NEIGHBOURS = 15
# Prior votes of all classes together: a share of 0 of 15 is not a probability of 0.
_PRIOR_VOTES = 1.0


def scores(rows: ViewRows) -> ViewScores:
    """By the given vectors if there are any, else by the columns."""
    X = standardised(rows) if rows.given.embeddings is None else unit_length(rows.given.embeddings)
    nearest: dict[int, Array] = {}

    def fit(kept: Array, label: Array, weight: Array | None) -> Any:
        from sklearn.neighbors import NearestNeighbors

        k = min(_NEIGHBOURS, len(kept))
        index = NearestNeighbors(n_neighbors=k).fit(X[kept])
        each = np.ones(len(kept)) if weight is None else weight
        shares = np.bincount(label, each, minlength=rows.n_classes) / each.sum()

        def predict(here: Array) -> tuple[Array, Array]:
            found = index.kneighbors(X[here], return_distance=False)
            nearest.update(zip(here.tolist(), kept[found], strict=True))
            votes = np.zeros((len(here), rows.n_classes))
            for column in found.T:
                np.add.at(votes, (np.arange(len(here)), label[column]), each[column])
            votes += _PRIOR_VOTES * shares
            return np.arange(rows.n_classes), votes / votes.sum(axis=1, keepdims=True)

        return predict

    values = cross_fitted(rows, fit)

    def sentences(numbers: Array, component: Array, names: Sequence[str]) -> list[str]:
        said = []
        for number, suggested in zip(numbers.tolist(), component.tolist(), strict=True):
            found = nearest.get(number, np.zeros(0, dtype=np.intp))
            count = int((rows.label[found] == suggested).sum())
            said.append(f"{count} of {len(found)} similar rows are labeled {names[suggested]}")
        return said

    return ViewScores(values, sentences=sentences)


def unit_length(vectors: Array) -> Array:
    """After this, the nearest by distance are the nearest by angle."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(length > 0, length, 1.0))
