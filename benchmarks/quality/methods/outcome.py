"""The result of a method, and helpers shared by several methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from paper.baselines.left_out import fitted_numbers
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from ..tasks import Array, Task

N_FOLDS = 5


class Outcome(NamedTuple):
    p_wrong: Array  # (n,) higher: more suspicious
    flagged: Array  # (n,) bool: flagged as wrong
    review: Array  # (n,) bool: the rows to review; `flagged` if a method has only one list
    suggested: Array  # (n,) the label that each row should have
    noise_rate: float  # estimated share of wrong labels
    test_pred: Array  # labels of the test rows
    calibrated: bool  # whether p_wrong is meant as a probability
    n_parameters: float = np.nan  # fitted numbers


Method = Callable[[Task], Outcome]


class Features(NamedTuple):
    train: Any
    test: Any


def tfidf(task: Task) -> Features:
    """Text: sublinear TF-IDF with rows of length 1; table: the columns as they are."""
    if task.kind == "table":
        return Features(task.X, task.X_test)
    transformer = TfidfTransformer(sublinear_tf=True)
    return Features(transformer.fit_transform(task.X), transformer.transform(task.X_test))


def binary(task: Task) -> Features:
    """Text: whether a word is present; table: the columns as they are."""
    if task.kind == "table":
        return Features(task.X, task.X_test)
    return Features((task.X > 0).astype(np.float64), (task.X_test > 0).astype(np.float64))


def centred(task: Task) -> Features:
    """For logistic regression. Text: as `tfidf`; table: each column minus its mean in the training rows.

    The intercept is not penalised, so the model is the same, but the solver needs a tenth of the steps.
    """
    features = tfidf(task)
    if task.kind == "text":
        return features
    mean = features.train.mean(axis=0)
    return Features(features.train - mean, features.test - mean)


def n_parameters(fitted: Any) -> int:
    """Number of fitted parameters of a classifier, including its mislabeling matrix."""
    if hasattr(fitted, "n_parameters_"):
        return int(fitted.n_parameters_)
    K = len(fitted.classes_)
    mechanism = K * (K - 1) if hasattr(fitted, "mislabel_matrix_") else 0
    if hasattr(fitted, "feature_prob_"):
        return int(fitted.feature_prob_.size) + K - 1 + mechanism
    return fitted_numbers(getattr(fitted, "estimator_", fitted)) + mechanism


def logistic_regression() -> LogisticRegression:
    # scikit-learn's default of 100 iterations cuts some fits short; peers are measured after convergence
    return LogisticRegression(max_iter=1_000)


def out_of_fold(model: Any, X: Any, y: Array, seed: int) -> Array:
    """Out-of-fold P(label | x) for the sorted labels of y."""
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed)
    return np.asarray(cross_val_predict(model, X, y, cv=folds, method="predict_proba"))


def of_given(proba: Array, classes: Array, y: Array) -> Array:
    """The probability of the given label; 0 for a label that is not among the classes."""
    place = np.searchsorted(classes, y).clip(max=len(classes) - 1)
    return np.where(classes[place] == y, proba[np.arange(len(y)), place], 0.0)
