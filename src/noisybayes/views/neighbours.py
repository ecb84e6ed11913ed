"""Nearest neighbours: the labels of similar rows in other folds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..dataset.tree import Array
from .base import ViewRows, ViewScores, cross_fitted
from .dense_features import standardised

# Neighbours that vote.
_NEIGHBOURS = 15
# Prior votes of all classes together: a share of 0 of 15 is not a probability of 0.
_PRIOR_VOTES = 1.0


def scores(rows: ViewRows) -> ViewScores:
    """By the given vectors if there are any, else by the columns."""
    X = standardised(rows) if rows.given.embeddings is None else unit_length(rows.given.embeddings)
    nearest: dict[int, Array] = {}

    def fit(train: Array, label: Array, weight: Array | None) -> Any:
        from sklearn.neighbors import NearestNeighbors

        k = min(_NEIGHBOURS, len(train))
        index = NearestNeighbors(n_neighbors=k).fit(X[train])
        each = np.ones(len(train)) if weight is None else weight
        shares = np.bincount(label, each, minlength=rows.n_classes) / each.sum()

        def predict(test: Array) -> tuple[Array, Array]:
            neighbours = index.kneighbors(X[test], return_distance=False)
            nearest.update(zip(test.tolist(), train[neighbours], strict=True))
            votes = np.zeros((len(test), rows.n_classes))
            for column in neighbours.T:
                np.add.at(votes, (np.arange(len(test)), label[column]), each[column])
            votes += _PRIOR_VOTES * shares
            return np.arange(rows.n_classes), votes / votes.sum(axis=1, keepdims=True)

        return predict

    values = cross_fitted(rows, fit)

    def sentences(numbers: Array, component: Array, names: Sequence[str]) -> list[str]:
        lines = []
        for number, suggested in zip(numbers.tolist(), component.tolist(), strict=True):
            neighbours = nearest.get(number, np.zeros(0, dtype=np.intp))
            count = int((rows.label[neighbours] == suggested).sum())
            lines.append(f"{count} of {len(neighbours)} similar rows are labeled {names[suggested]}")
        return lines

    return ViewScores(values, sentences=sentences)


def unit_length(vectors: Array) -> Array:
    """After this, the nearest by distance are the nearest by angle."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(length > 0, length, 1.0))
