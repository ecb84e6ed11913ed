"""Ours: the audit of a numeric table, by naive Bayes alone and by all views, and of labels on a scale."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from noisybayes.auditing.pipeline import audit
from noisybayes.auditing.result import Audit

from ..tasks import Array, Task
from .outcome import Outcome


def by_views(task: Task, **asked: Any) -> Outcome:
    result = audit(_frame(task.X, task.y), label="label", numeric=_columns(task.X), random_state=task.seed, **asked)
    return outcome(result, _frame(task.X_test))


def outcome(result: Audit, test: Any) -> Outcome:
    """The findings of an audit, and the predictions of its model for other rows."""
    table = result.table
    flagged = table["suspect"].to_numpy()
    X_test = result.recipe.transform(test)  # type: ignore[union-attr]
    return Outcome(
        p_wrong=table["p_wrong"].to_numpy(),
        flagged=flagged,
        review=flagged,
        suggested=codes(table["suggested"]),
        noise_rate=result.noise_rate,
        test_pred=codes(result.model.predict(X_test)),
        calibrated=True,
    )


def by_naive_bayes(task: Task) -> Outcome:
    return by_views(task, views=("naive-bayes",))


def by_ordinal(task: Task) -> Outcome:
    return by_views(task, mislabel="ordinal")


def _columns(X: Array) -> list[str]:
    """Drop constant columns, which carry no information."""
    return [f"x{j}" for j in range(X.shape[1]) if X[:, j].min() < X[:, j].max()]


def _frame(X: Array, y: Array | None = None) -> pl.DataFrame:
    frame = pl.DataFrame({f"x{j}": X[:, j] for j in range(X.shape[1])})
    return frame if y is None else frame.with_columns(label=pl.Series(named(y)))


def named(y: Array) -> list[str]:
    """Labels whose order is that of their codes."""
    return [f"class {code:03d}" for code in y.tolist()]


def codes(labels: Any) -> Array:
    return np.array([int(str(label).removeprefix("class ")) for label in labels])
