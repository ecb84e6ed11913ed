"""A stream read once and three times, against the batch fit that sees all rows at once."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import CountVectorizer

from noisybayes import BernoulliINB, MultinomialINB, simulate
from noisybayes.model.matrix import IdentifiabilityWarning

from .data.datasets import noisy_ag_news
from .result_files import Row, table

BATCH = 1_000
PASSES = 3
N_TRAIN, N_TEST = 5_000, 4_000


def measure(reps: int = 5, seed: int = 0) -> Iterator[Row]:
    data = noisy_ag_news()
    vectorizer = CountVectorizer(min_df=2, dtype=np.float64)
    news = vectorizer.fit_transform(data.texts), data.observed, vectorizer.transform(data.test_texts), data.test_true
    for rep in range(seed, seed + reps):
        made = simulate(N_TRAIN + N_TEST, n_features=500, n_classes=5, diagonal=(0.55, 0.65), random_state=rep)
        simulated = made.X[:N_TRAIN], made.y[:N_TRAIN], made.X[N_TRAIN:], made.true[N_TRAIN:]
        yield {
            "data": "simulation",
            "classifier": "BernoulliINB",
            "seed": rep,
            **_compare(BernoulliINB, *simulated, rep),
        }
        for estimator in (BernoulliINB, MultinomialINB):
            found = _compare(estimator, *news, rep)
            yield {"data": "NoisyAG-News", "classifier": estimator.__name__, "seed": rep, **found}


def _compare(estimator: Any, X: Any, y: Any, X_test: Any, true_test: Any, seed: int) -> Row:
    """Accuracies on the test rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", IdentifiabilityWarning)
        batch = estimator(method="em").fit(X, y)
        accuracies: Row = {"batch": float((batch.predict(X_test) == true_test).mean())}
        streamed, rng = estimator(), np.random.default_rng(seed)
        for number in range(1, PASSES + 1):
            order = rng.permutation(len(y))
            for start in range(0, len(order), BATCH):
                some = order[start : start + BATCH]
                streamed.partial_fit(X[some], y[some], classes=np.unique(y))
            accuracies[f"pass_{number}"] = float((streamed.predict(X_test) == true_test).mean())
    return accuracies


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

Repeat with `python -m benchmarks stream`.
"""
