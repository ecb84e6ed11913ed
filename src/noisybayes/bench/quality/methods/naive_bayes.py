"""Plain naive Bayes: on the observed labels, and on the true ones as a bound that no method can know of."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.naive_bayes import BernoulliNB, MultinomialNB

from ..tasks import Array, Task
from .outcome import Outcome, n_parameters, of_given, out_of_fold, tfidf


def noisy(task: Task) -> Outcome:
    return _outcome(task, task.y)


def clean(task: Task) -> Outcome:
    if task.true is None:
        raise ValueError("naive Bayes on clean labels needs the true labels")
    return _outcome(task, task.true)


def classifier(task: Task) -> Any:
    return MultinomialNB() if task.kind == "text" else BernoulliNB()


def _outcome(task: Task, labels: Array) -> Outcome:
    """A label is taken for wrong where naive Bayes, fitted without the row's fold, says another one."""
    features = tfidf(task)
    classes = np.unique(labels)
    proba = out_of_fold(classifier(task), features.train, labels, task.seed)
    suggested = classes[proba.argmax(axis=1)]
    flagged = suggested != task.y
    model = classifier(task).fit(features.train, labels)
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
