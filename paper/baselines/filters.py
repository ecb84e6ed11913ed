"""Base class of all filters: suspect rows are dropped, and an ordinary classifier learns from the others."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.naive_bayes import BernoulliNB
from threadpoolctl import threadpool_limits

from . import left_out
from .base import Baseline
from .inputs import Array, RandomState, Rows, seed, whole_number


class Verdict(NamedTuple):
    suspicion: Array  # (n,) higher: more suspicious
    doubted: Array  # (n,) bool: whether to drop the row
    n_numbers: int  # fitted numbers of the filter


class FilterClassifier(Baseline):
    """Subclasses decide which rows are suspect."""

    def __init__(self, *, estimator: Any = None, n_folds: int = 5, random_state: RandomState = None) -> None:
        self.estimator = estimator
        self.n_folds = n_folds
        self.random_state = random_state

    def _doubt(self, rows: Rows, fold: Array, seed: int) -> Verdict:
        """`fold` (n,): the fold of each row."""
        raise NotImplementedError

    def _check_own(self) -> None:
        whole_number("n_folds", self.n_folds)

    def _classifier(self) -> Any:
        return BernoulliNB() if self.estimator is None else self.estimator

    def _learn_rows(self, rows: Rows) -> None:
        chosen_seed = seed(self.random_state)
        fold = left_out.folds(rows.labels, self.n_folds, np.random.default_rng(chosen_seed))
        # on a busy machine, threads waiting for each other make fits this small ten times slower
        with threadpool_limits(1):
            verdict = self._doubt(rows, fold, chosen_seed)
            self.suspicion_, self.kept_ = suspicion(verdict, rows), kept(verdict, rows)
            chosen = np.flatnonzero(self.kept_)
            self.estimator_ = clone(self._classifier()).fit(rows.X[chosen], rows.labels[chosen])
        self.n_parameters_ = verdict.n_numbers + left_out.fitted_numbers(self.estimator_)

    def _proba(self, X: Any) -> Array:
        proba = np.zeros((X.shape[0], len(self.classes_)))
        proba[:, self.estimator_.classes_] = self.estimator_.predict_proba(X)
        return proba


def kept(verdict: Verdict, rows: Rows) -> Array:
    """(n,) bool. A verified row is kept.

    A class that would lose all of its rows keeps them: a filter that cannot find a class says nothing about its labels,
    and a classifier that never saw it could not predict it.
    """
    believed = ~verdict.doubted | (rows.verified >= 0)
    n_believed = np.bincount(rows.labels[believed], minlength=rows.possible.shape[1])
    return np.asarray(believed | (n_believed[rows.labels] == 0))


def suspicion(verdict: Verdict, rows: Rows) -> Array:
    """(n,) A verified row gets the highest suspicion if its observed label was wrong, and otherwise the lowest."""
    found = verdict.suspicion
    of_verified = np.where(rows.verified == rows.observed, found.min(), found.max())
    return np.where(rows.verified >= 0, of_verified, found)
