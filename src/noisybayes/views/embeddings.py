"""Logistic regression on vectors that the user has, such as sentence embeddings."""

from __future__ import annotations

from .base import ViewRows, ViewScores
from .linear import linear_scores
from .neighbours import unit_length


def scores(rows: ViewRows) -> ViewScores:
    assert rows.given.embeddings is not None
    vectors = unit_length(rows.given.embeddings)
    spread = vectors.std()  # of all numbers together: directions with little spread say little
    return linear_scores(rows, vectors / (spread if spread > 0 else 1.0))._replace(terms=None)
