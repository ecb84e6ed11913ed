"""Logistic regression on vectors provided by the user, such as sentence embeddings."""

from __future__ import annotations

from .base import ViewRows, ViewScores
from .linear import linear_scores
from .neighbours import unit_length


def scores(rows: ViewRows) -> ViewScores:
    assert rows.given.embeddings is not None
    return linear_scores(rows, unit_length(rows.given.embeddings))._replace(terms=None)
