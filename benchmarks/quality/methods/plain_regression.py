"""Plain logistic regression: on the observed labels, and on the true ones as an upper bound."""

from __future__ import annotations

from ..tasks import Task
from .naive_bayes import believing, true_labels
from .outcome import Outcome, centred, logistic_regression


def noisy(task: Task) -> Outcome:
    return believing(logistic_regression(), centred(task), task, task.y)


def clean(task: Task) -> Outcome:
    return believing(logistic_regression(), centred(task), task, true_labels(task))
