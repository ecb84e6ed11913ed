"""Plain naive Bayes: on the observed labels, and on the true ones as an upper bound."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.naive_bayes import BernoulliNB, MultinomialNB

from ..tasks import Array, Task
from .outcome import Features, Outcome, n_parameters, of_given, out_of_fold, tfidf


def noisy(task: Task) -> Outcome:
    return believing(classifier(task), tfidf(task), task, task.y)


def clean(task: Task) -> Outcome:
    return believing(classifier(task), tfidf(task), task, true_labels(task))


def true_labels(task: Task) -> Array:
    if task.true is None:
        raise ValueError("a bound needs the true labels")
    return task.true


def classifier(task: Task) -> Any:
    return MultinomialNB() if task.kind == "text" else BernoulliNB()


def believing(model: Any, features: Features, task: Task, labels: Array) -> Outcome:
    """A label is flagged where the out-of-fold prediction of a classifier trained on `labels` differs from it."""
    classes = np.unique(labels)
    proba = out_of_fold(model, features.train, labels, task.seed)
    suggested = classes[proba.argmax(axis=1)]
    flagged = suggested != task.y
    model = clone(model).fit(features.train, labels)
    return Outcome(
        p_wrong=1.0 - of_given(proba, classes, task.y),
        flagged=flagged,
        review=flagged,
        suggested=suggested,
        noise_rate=float(flagged.mean()),
        test_pred=model.predict(features.test),
        calibrated=False,
        n_parameters=n_parameters(model),
    )
