"""Filters: labels that cross-validated classifiers reject are dropped, and naive Bayes learns from the other rows.

They need neither a noise rate nor clean rows, but assume that a wrong prediction means a wrong label: where classes are
hard to distinguish, right labels are dropped too.

Differences from all sources: rows are predicted from other folds; a class that would lose all of its rows keeps them:
a filter that cannot find a class says nothing about its labels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.naive_bayes import BernoulliNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from ..experiment import Array

_N_FOLDS = 5


class Filter(BernoulliNB):  # type: ignore[misc]
    """Naive Bayes that learns from the rows `kept_` (n,), bool. Subclasses name the classifiers that vote."""

    def __init__(self, needed_votes: int = 1, random_state: int = 0) -> None:
        super().__init__()
        self.needed_votes = needed_votes
        self.random_state = random_state

    def _voters(self) -> list[Any]:
        raise NotImplementedError

    def fit(self, X: Array, y: Array) -> Filter:
        folds, against = KFold(_N_FOLDS, shuffle=True, random_state=self.random_state), np.zeros(len(y))
        # on a busy machine, threads waiting for each other make fits this small ten times slower
        with threadpool_limits(1):
            for voter in self._voters():
                against += cross_val_predict(voter, X, y, cv=folds) != y
        self.kept_ = kept(against >= self.needed_votes, y)
        super().fit(X[self.kept_], y[self.kept_])
        return self


def kept(doubted: Array, labels: Array) -> Array:
    """(n,) bool: a class that would lose all of its rows keeps them."""
    return np.asarray(~doubted | ~np.isin(labels, labels[~doubted]))


class EnsembleFilter(Filter):
    """A decision tree, nearest neighbors and a linear machine vote on each label (Brodley and Friedl, 1999).

    `needed_votes` 2, a majority, or 3, a consensus, which drops few right labels but misses many wrong ones.

    Differences: the linear machine is fitted by least squares; the tree stops at leaves of 5 rows and is not pruned.
    """

    def _voters(self) -> list[Any]:
        tree = DecisionTreeClassifier(min_samples_leaf=5, random_state=self.random_state)
        return [tree, KNeighborsClassifier(n_neighbors=5), RidgeClassifier()]


class SVMFilter(Filter):
    """Drops the labels that a linear support vector machine does not predict.

    Source: J. Thongkam, G. Xu, Y. Zhang and F. Huang, Support vector machine for outlier detection in breast cancer
    survivability prediction, 2008, doi:10.1007/978-3-540-89376-9_10. The paper cites a filter as `SVM_2008`, but its
    list of references is not part of the published source: this is the filter of 2008 that fits its description.
    """

    def _voters(self) -> list[Any]:
        # "auto": primal or dual, whichever has fewer unknowns. A finer tolerance takes twice as long and changes hardly
        # any prediction.
        return [LinearSVC(dual="auto", tol=1e-2, random_state=self.random_state, max_iter=10_000)]


class NaiveBayesFilter(Filter):
    """Drops the labels that naive Bayes does not predict.

    Source: D. M. Farid, L. Zhang, C. M. Rahman, M. A. Hossain and R. Strachan, Hybrid decision tree and naive Bayes
    classifiers for multi-class classification tasks, 2014; there a decision tree learns from the remaining rows.
    """

    def _voters(self) -> list[Any]:
        return [BernoulliNB()]
