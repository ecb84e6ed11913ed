"""Ours: the mislabeling mechanism around logistic regression."""

from __future__ import annotations

import noisybayes

from ..tasks import Task
from .inb import outcome
from .outcome import Outcome, centred, logistic_regression


def with_logistic_regression(task: Task) -> Outcome:
    return outcome(noisybayes.MislabelClassifier(logistic_regression()), centred(task), task.y)
