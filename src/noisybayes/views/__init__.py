"""Views: classifiers that score rows in addition to naive Bayes. One file each, and one line here.

A view is a function from rows and label weights to out-of-fold scores (n, K). `auditing.joined_views` weights the views
by the reliability of their scores. Modules here import scikit-learn inside their functions: it takes a second, and
naive Bayes alone does not need it.
"""

from __future__ import annotations

from collections.abc import Callable

from . import embeddings, estimator, linear, neighbours, pred_probs, trees
from .base import Given, ViewRows, ViewScores

View = Callable[[ViewRows], ViewScores]

#: The view that every audit fits anyway.
NAIVE_BAYES = "naive-bayes"

VIEWS: dict[str, View] = {
    "linear": linear.scores,
    "neighbours": neighbours.scores,
    "trees": trees.scores,
    "embeddings": embeddings.scores,
    "estimator": estimator.scores,
    "pred-probs": pred_probs.scores,
}

__all__ = ["NAIVE_BAYES", "VIEWS", "Given", "View", "ViewRows", "ViewScores"]
