"""The input and output of a view, and how classifiers are fitted without each fold in turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..dataset.tree import Array

#: A probability of zero could never be corrected, and forests and neighbours often return it.
LEAST_PROBABILITY = 1e-4


class Given(NamedTuple):
    """Inputs provided by the user."""

    pred_probs: Array | None = None  # (n, K) out-of-sample probabilities, in the order of the classes
    embeddings: Array | None = None  # (n, p)
    estimator: Any = None  # a scikit-learn classifier or pipeline
    estimator_rows: Any = None  # what it is fitted to: a data frame, or a list of texts


class ViewRows(NamedTuple):
    """All rows of a table."""

    X: Any  # (n, d) features, CSR or dense
    scaled: Array  # (d,) bool: numeric columns, which have a unit; the others are words, 0 or 1
    label: Array  # (n,) codes of the labels to learn from
    weight: Array  # (n,) weight of each label; 0 if there is none
    fold: Array  # (n,)
    n_classes: int
    seed: int = 0
    given: Given = Given()


class ViewScores(NamedTuple):
    values: Array  # (n, K) logarithms of probabilities, out of fold
    #: (row indices, classes, other classes) -> (m, d) CSR: the contribution of each column to the log-odds
    terms: Callable[[Array, Array, Array], Any] | None = None
    #: (row indices, classes, names of all classes) -> the evidence for these classes, in words
    sentences: Callable[[Array, Array, Sequence[str]], list[str]] | None = None


#: Rows to learn from, their labels and weights (None: all 1) -> a function from rows to (classes, probabilities).
FitPart = Callable[[Array, Array, "Array | None"], Callable[[Array], tuple[Array, Array]]]


def cross_fitted(rows: ViewRows, fit: FitPart) -> Array:
    """(n, K) out-of-fold log-probabilities of every row. `fit` takes positions of rows."""
    scores = np.zeros((len(rows.label), rows.n_classes))
    for fold in np.unique(rows.fold).tolist():
        test, train = np.flatnonzero(rows.fold == fold), np.flatnonzero((rows.fold != fold) & (rows.weight > 0))
        label, weight = rows.label[train], rows.weight[train]
        if not len(train) or label.min() == label.max():  # nothing to distinguish: all classes are equally probable
            continue
        classes, proba = fit(train, label, None if (weight == 1.0).all() else weight)(test)
        of_all = np.zeros((len(test), rows.n_classes))
        of_all[:, np.asarray(classes, dtype=np.intp)] = proba
        scores[test] = np.log(np.maximum(of_all, LEAST_PROBABILITY))
    return scores
