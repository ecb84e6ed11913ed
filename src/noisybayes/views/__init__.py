"""Views: whatever scores rows beside naive Bayes. One file each, and one line here.

A view is a function from rows and label weights to scores (n, K), each row scored by what was learned without its fold.
`auditing.joined_views` weighs the views by what their scores are worth. Modules here import scikit-learn inside their
functions: it takes a second, and naive Bayes alone does without it.
"""

from __future__ import annotations

from collections.abc import Callable

from . import embeddings, estimator, linear, neighbours, pred_probs, trees
from .base import Given, ViewRows, ViewScores

View = Callable[[ViewRows], ViewScores]

#: The view that every audit has learned anyway.
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
