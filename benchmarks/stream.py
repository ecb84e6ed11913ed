"""A stream read once and three times, against the batch fit that sees all rows at once."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import CountVectorizer

from noisybayes.data.simulate import simulate
from noisybayes.estimators import BernoulliINB, MultinomialINB
from noisybayes.model.mislabel import IdentifiabilityWarning

from .data.datasets import noisy_ag_news
from .result_files import Row, table

BATCH = 1_000
PASSES = 3
N_TRAIN, N_TEST = 5_000, 4_000


class Task(NamedTuple):
    X: Any
    y: Any
    X_test: Any
    true_test: Any


def measure(reps: int = 5, seed: int = 0) -> Iterator[Row]:
    for rep in range(seed, seed + reps):
        for data, task in (("simulation", _simulation(rep)), ("NoisyAG-News", _news())):
            for estimator in (BernoulliINB,) if data == "simulation" else (BernoulliINB, MultinomialINB):
                yield {"data": data, "classifier": estimator.__name__, "seed": rep, **_compare(estimator, task, rep)}


def _simulation(seed: int) -> Task:
    data = simulate(N_TRAIN + N_TEST, n_features=500, n_classes=5, diagonal=(0.55, 0.65), random_state=seed)
    return Task(data.X[:N_TRAIN], data.y[:N_TRAIN], data.X[N_TRAIN:], data.true[N_TRAIN:])


def _news() -> Task:
    data = noisy_ag_news()
    vectorizer = CountVectorizer(min_df=2, dtype=np.float64)
    X = vectorizer.fit_transform(data.texts)
    return Task(X, data.observed, vectorizer.transform(data.test_texts), data.test_true)


def _compare(estimator: Any, task: Task, seed: int) -> Row:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", IdentifiabilityWarning)
        batch = estimator(method="em").fit(task.X, task.y)
        accuracies: Row = {"batch": _accuracy(batch, task)}
        streamed, rng = estimator(), np.random.default_rng(seed)
        for number in range(1, PASSES + 1):
            order = rng.permutation(len(task.y))
            for start in range(0, len(order), BATCH):
                some = order[start : start + BATCH]
                streamed.partial_fit(task.X[some], task.y[some], classes=np.unique(task.y))
            accuracies[f"pass_{number}"] = _accuracy(streamed, task)
    return accuracies


def _accuracy(model: Any, task: Task) -> float:
    return float((model.predict(task.X_test) == task.true_test).mean())


def page(rows: list[Row]) -> str:
    lines = []
    for data, classifier in dict.fromkeys((row["data"], row["classifier"]) for row in rows):
        mine = [row for row in rows if (row["data"], row["classifier"]) == (data, classifier)]
        batch = 100 * np.mean([row["batch"] for row in mine])
        gaps = [100 * np.array([row[f"pass_{i}"] - row["batch"] for row in mine]) for i in range(1, PASSES + 1)]
        shown = [f"{gap.mean():+.2f} ({gap.min():+.2f})".replace("-", "−") for gap in gaps]
        lines.append([data, classifier, len(mine), f"{batch:.1f}", *shown])
    header = ["data", "classifier", "orders", "batch EM, %", *(f"after pass {i}" for i in range(1, PASSES + 1))]
    return f"""## A stream

`partial_fit` on batches of {BATCH:,} rows against EM on all rows at once: accuracy on new rows with right labels, and
the difference of the stream in points after each pass over the rows, on average (and for the worst order).

{table(header, lines)}

Repeat with `noisybayes bench stream`.
"""
