"""The SVM filter (Thongkam and others, 2008): rows that a linear support vector machine misclassifies are dropped."""

from __future__ import annotations

from sklearn.svm import LinearSVC

from . import left_out
from .base import About
from .filters import FilterClassifier, Verdict
from .inputs import Array, Rows


class SVMFilter(FilterClassifier):
    """Drops the labels that a linear support vector machine does not predict, and learns from the others.

    It needs neither a noise rate nor clean rows, but assumes that a wrong prediction means a wrong label.

    Parameters
    ----------
    estimator : scikit-learn classifier, optional
        Classifier for the remaining rows. None is BernoulliNB, for which a feature is present if it is above 0.
    n_folds : int, default 5
        Each row is predicted from the rows of the other folds. 1: by the machine fitted to all rows, including this
        one, as published; if features outnumber rows, that machine misclassifies nothing, and nothing is dropped.
    random_state : int or generator, optional
        None is 0. It determines the folds.

    Attributes
    ----------
    classes_ : labels, sorted
    kept_ : (n,) bool, the rows used for training
    suspicion_ : (n,) the best score of another class minus that of the given label: above 0 where they differ
    estimator_ : the classifier that predicts
    n_parameters_ : fitted numbers of the classifier and of the machine of one fold

    Source: J. Thongkam, G. Xu, Y. Zhang and F. Huang, Support vector machine for outlier detection in breast cancer
    survivability prediction, Advanced Web and Network Technologies, and Applications (APWeb 2008), Lecture Notes in
    Computer Science 4977, Springer, doi:10.1007/978-3-540-89376-9_10. The paper behind this package cites a filter as
    `SVM_2008`, but its list of references is not part of the published source: this is the filter of 2008 that fits
    its description.

    Differences from the paper: folds; the machine is linear; a class that would lose all of its rows keeps them.
    """

    about = About(
        "Thongkam and others, 2008",
        "drops the labels that a linear support vector machine misclassifies",
        "nothing",
    )

    def _doubt(self, rows: Rows, fold: Array, seed: int) -> Verdict:
        # "auto": primal or dual, whichever has fewer unknowns. A finer tolerance takes twice as long and changes hardly
        # any prediction.
        machine = LinearSVC(dual="auto", tol=1e-2, random_state=seed, max_iter=10_000)
        found, size = left_out.scores(machine, left_out.by_distance, rows.X, rows.labels, rows.possible.shape[1], fold)
        suspicion = left_out.margin(found, rows.labels)
        return Verdict(suspicion, suspicion > 0, size)
