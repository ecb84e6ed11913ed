"""The naive Bayes filter (Farid and others, 2014): rows whose label naive Bayes does not predict are dropped."""

from __future__ import annotations

from . import left_out
from .base import About
from .filters import FilterClassifier, Verdict
from .inputs import Array, Rows


class NaiveBayesFilter(FilterClassifier):
    """Drops the labels that naive Bayes does not predict, and refits naive Bayes on the others.

    It needs neither a noise rate nor clean rows, but assumes that a wrong prediction means a wrong label.

    Parameters
    ----------
    estimator : scikit-learn naive Bayes classifier, optional
        The filter, and the classifier for the remaining rows. None is BernoulliNB, for which a feature is present if it
        is above 0.
    n_folds : int, default 5
        Each row is predicted from the rows of the other folds. 1: by the fit to all rows, including its own label, as
        published; with many features it repeats wrong labels.
    random_state : int or generator, optional
        None is 0. It determines the folds.

    Attributes
    ----------
    classes_ : labels, sorted
    kept_ : (n,) bool, the rows used for training
    suspicion_ : (n,) log P(x, best other class) - log P(x, given label): above 0 where they differ
    estimator_ : the classifier that predicts
    n_parameters_ : fitted numbers of the filter and of the classifier

    Source: D. M. Farid, L. Zhang, C. M. Rahman, M. A. Hossain and R. Strachan, Hybrid decision tree and naive Bayes
    classifiers for multi-class classification tasks, Expert Systems with Applications 41 (2014), 1937-1946; there a
    decision tree learns from the remaining rows.

    Differences from the paper: folds; a class that would lose all of its rows keeps them.
    """

    about = About(
        "Farid, Zhang, Rahman, Hossain and Strachan, 2014",
        "drops the labels that naive Bayes does not predict",
        "nothing",
    )

    def _check_own(self) -> None:
        super()._check_own()
        if not hasattr(self._classifier(), "predict_joint_log_proba"):
            name = type(self.estimator).__name__
            raise ValueError(
                f"estimator must be a scikit-learn naive Bayes classifier, such as BernoulliNB, got {name}"
            )

    def _doubt(self, rows: Rows, fold: Array, seed: int) -> Verdict:
        found, size = left_out.scores(
            self._classifier(), left_out.by_joint_probability, rows.X, rows.labels, rows.possible.shape[1], fold
        )
        suspicion = left_out.margin(found, rows.labels)
        return Verdict(suspicion, suspicion > 0, size)
