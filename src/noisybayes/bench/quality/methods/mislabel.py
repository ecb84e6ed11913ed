"""Ours: the mislabeling mechanism around logistic regression."""

from __future__ import annotations

import noisybayes

from ..tasks import Task
from .inb import outcome
from .outcome import Outcome, logistic_regression, tfidf


def with_logistic_regression(task: Task) -> Outcome:
    return outcome(noisybayes.MislabelClassifier(logistic_regression()), tfidf(task), task.y)
