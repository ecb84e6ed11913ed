"""Ensemble filters: different classifiers vote on each label (Brodley and Friedl, 1999)."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from . import left_out
from .base import About
from .filters import FilterClassifier, Verdict
from .inputs import Array, RandomState, Rows

VOTES = ("majority", "consensus")


class EnsembleFilter(FilterClassifier):
    """Drops the labels that a decision tree, nearest neighbours and a linear machine vote against.

    Each of the three predicts the rows of a fold from the rows of the other folds. A row is dropped if most of them
    ("majority") or all of them ("consensus") predict a label other than the given one. Then an ordinary classifier
    learns from the remaining rows.

    It needs neither a noise rate nor clean rows, but assumes that a wrong prediction means a wrong label: where classes
    are hard to distinguish, right labels are dropped too.

    Parameters
    ----------
    vote : "majority" (default) or "consensus"
        Consensus drops few right labels but misses many wrong ones; majority does the opposite.
    estimator : scikit-learn classifier, optional
        Classifier for the remaining rows. None is BernoulliNB, for which a feature is present if it is above 0.
    n_folds : int, default 5
    random_state : int or generator, optional
        None is 0. It determines the folds, and how the tree breaks ties between splits.

    Attributes
    ----------
    classes_ : labels, sorted
    kept_ : (n,) bool, the rows used for training
    suspicion_ : (n,) share of the votes against the given label
    estimator_ : the classifier that predicts
    n_parameters_ : fitted numbers of the classifier, and of the largest tree (one per node) and linear machine of a
        fold; nearest neighbours keep the rows instead

    Differences from the paper: the linear machine is fitted by least squares; the tree stops at leaves of 5 rows and is
    not pruned; there are 5 neighbours; a class that would lose all of its rows keeps them.
    """

    about = About(
        "Brodley and Friedl, 1999",
        "drops the labels that a tree, nearest neighbours and a linear machine, cross-validated, vote against",
        "nothing",
    )

    def __init__(
        self,
        *,
        vote: str = "majority",
        estimator: Any = None,
        n_folds: int = 5,
        random_state: RandomState = None,
    ) -> None:
        super().__init__(estimator=estimator, n_folds=n_folds, random_state=random_state)
        self.vote = vote

    def _check_own(self) -> None:
        super()._check_own()
        if self.vote not in VOTES:
            raise ValueError(f"vote must be one of {', '.join(map(repr, VOTES))}, got {self.vote!r}")

    def _doubt(self, rows: Rows, fold: Array, seed: int) -> Verdict:
        n_rows, n_classes = rows.possible.shape
        voters = _voters(n_rows - int(np.bincount(fold).max()), seed)
        against, n_numbers = np.zeros(n_rows), 0
        for voter in voters:
            found, size = left_out.scores(voter, left_out.by_prediction, rows.X, rows.labels, n_classes, fold)
            against += found.argmax(axis=1) != rows.labels
            n_numbers += size
        needed = len(voters) if self.vote == "consensus" else len(voters) // 2 + 1
        return Verdict(against / len(voters), against >= needed, n_numbers)


def _voters(n_rows: int, seed: int) -> list[Any]:
    """For fits to at least `n_rows` rows."""
    return [
        DecisionTreeClassifier(min_samples_leaf=5, random_state=seed),
        KNeighborsClassifier(n_neighbors=max(1, min(5, n_rows))),
        RidgeClassifier(),
    ]
