"""The SVM filter (Thongkam and others, 2008): what a linear support vector machine misclassifies is dropped."""

from __future__ import annotations

from sklearn.svm import LinearSVC

from . import left_out
from .base import About
from .filters import FilterClassifier, Verdict
from .settings import Array, Rows


class SVMFilter(FilterClassifier):
    """Drops the labels that a linear support vector machine does not predict, and learns from the others.

    It assumes no noise rate and no clean rows, but that a wrong prediction means a wrong label.

    Parameters
    ----------
    estimator : scikit-learn classifier, optional
        What learns from the rows that are left. None is BernoulliNB, for which a feature is there if it is above 0.
    n_folds : int, default 5
        Each row is predicted from the rows of the other folds. 1: by the machine that was fitted to the row itself, as
        published; where features outnumber rows, that machine misclassifies nothing, and nothing is dropped.
    random_state : int or generator, optional
        None is 0. It decides the folds.

    Attributes
    ----------
    classes_ : labels, sorted
    kept_ : (n,) bool, the rows that were learned from
    suspicion_ : (n,) the best score of another class minus that of the given label: above 0 where they differ
    estimator_ : the classifier that predicts
    n_parameters_ : fitted numbers: of the classifier, and of the machine of one fold

    Source: J. Thongkam, G. Xu, Y. Zhang and F. Huang, Support vector machine for outlier detection in breast cancer
    survivability prediction, Advanced Web and Network Technologies, and Applications (APWeb 2008), Lecture Notes in
    Computer Science 4977, Springer, doi:10.1007/978-3-540-89376-9_10. The paper of this package cites a filter as
    `SVM_2008`, and its list of references is not part of the published source: this is the one of 2008 that fits what
    it says of it.

    Differences from the paper: folds; the machine is linear; a class that would lose all of its rows keeps them.
    """

    about = About(
        "Thongkam and others, 2008",
        "drops the labels that a linear support vector machine misclassifies",
        "nothing",
    )

    def _doubt(self, rows: Rows, fold: Array, seed: int) -> Verdict:
        # "auto": of two ways to state the problem the one with fewer unknowns. A finer tolerance takes twice as long
        # and changes next to no prediction.
        machine = LinearSVC(dual="auto", tol=1e-2, random_state=seed, max_iter=10_000)
        found, size = left_out.scores(machine, left_out.by_distance, rows.X, rows.labels, rows.possible.shape[1], fold)
        suspicion = left_out.margin(found, rows.labels)
        return Verdict(suspicion, suspicion > 0, size)
