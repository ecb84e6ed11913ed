"""Texts with vectors: the audit of the words alone and with the vectors, the mislabeling mechanism around logistic
regression on the vectors, and cleanlab on the same vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from noisybayes.auditing.pipeline import audit
from noisybayes.estimators import MislabelClassifier

from ..tasks import Array, Task
from . import audits, cleanlab, inb
from .audits import named
from .outcome import Features, Outcome, logistic_regression


def by_words(task: Task, **asked: Any) -> Outcome:
    """An audit saves naive Bayes on the words, whatever other views scored the labels."""
    columns = {"text": "text"} if not task.X.columns.shape[1] else {"binary": _columns(task.X)}
    result = audit(_frame(task.X, task.y), label="label", random_state=task.seed, **columns, **asked)
    return audits.outcome(result, _frame(task.X_test))


def by_words_and_vectors(task: Task) -> Outcome:
    return by_words(task, embeddings=task.X.vectors)


def mechanism_on_vectors(task: Task) -> Outcome:
    return inb.outcome(MislabelClassifier(logistic_regression()), _vectors(task), task.y)


def cleanlab_on_vectors(task: Task) -> Outcome:
    return cleanlab.outcome(logistic_regression(), _vectors(task), task.y, task.seed)


def _vectors(task: Task) -> Features:
    return Features(task.X.vectors.astype(np.float64), task.X_test.vectors.astype(np.float64))


def _columns(data: Any) -> list[str]:
    """Drop constant columns, which carry no information."""
    return [f"x{j}" for j in range(data.columns.shape[1]) if data.columns[:, j].min() < data.columns[:, j].max()]


def _frame(data: Any, y: Array | None = None) -> pl.DataFrame:
    frame = pl.DataFrame({"text": data.texts, **{f"x{j}": data.columns[:, j] for j in range(data.columns.shape[1])}})
    return frame if y is None else frame.with_columns(label=pl.Series(named(y)))
