"""Are the parameters recovered? The paper's simulation, with a test set large enough to resolve half a point."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.naive_bayes import BernoulliNB

from noisybayes.data.simulate import Simulation, simulate
from noisybayes.estimators import BernoulliINB

from .result_files import Row, table

#: Sizes as in the paper: 80 % of n is for training.
SIZES = (500, 1_000, 5_000)
DIAGONAL = (0.55, 0.65)
#: The paper tests on the other 20 % (100 rows at n = 500: a standard error of 3.5 points per repetition).
N_TEST = 4_000
METHODS: dict[str, Callable[[], Any]] = {
    "NB": BernoulliNB,
    "INB (paper)": BernoulliINB.paper,
    "INB (em)": partial(BernoulliINB, method="em"),
    "INB": BernoulliINB,
}


def measure(reps: int = 30, seed: int = 0) -> Iterator[Row]:
    for n in SIZES:
        for rep in range(reps):
            n_train = n * 4 // 5
            data = simulate(n_train + N_TEST, diagonal=DIAGONAL, random_state=seed + rep)
            for method, make in METHODS.items():
                yield {"n": n, "seed": seed + rep, "method": method, **score(make(), data, n_train)}
            yield {"n": n, "seed": seed + rep, "method": "true parameters", **_score_truth(data, n_train)}


def score(model: Any, data: Simulation, n_train: int) -> Row:
    """Mean squared error of the feature probabilities, and accuracy on unseen rows."""
    model.fit(data.X[:n_train], data.y[:n_train])
    prob = model.feature_prob_ if hasattr(model, "feature_prob_") else np.exp(model.feature_log_prob_)
    right = model.predict(data.X[n_train:]) == data.true[n_train:]
    return {"mse": float(((prob - data.feature_prob) ** 2).mean()), "accuracy": float(right.mean())}


def _score_truth(data: Simulation, n_train: int) -> Row:
    log_p, log_q = np.log(data.feature_prob), np.log1p(-data.feature_prob)
    scores = data.X[n_train:] @ (log_p - log_q).T + log_q.sum(axis=1) + np.log(data.class_prior)
    return {"mse": 0.0, "accuracy": float((scores.argmax(axis=1) == data.true[n_train:]).mean())}


def page(rows: list[Row]) -> str:
    lines, n_seeds = [], len({row["seed"] for row in rows})
    for n in SIZES:
        for method in (*METHODS, "true parameters"):
            mine = [row for row in rows if row["n"] == n and row["method"] == method]
            mse, accuracy = (np.array([row[key] for row in mine]) for key in ("mse", "accuracy"))
            error = 100 * accuracy.std(ddof=1) / np.sqrt(len(mine))
            lines.append([f"{n:,}", method, f"{1000 * mse.mean():.2f}", f"{100 * accuracy.mean():.1f} ± {error:.1f}"])
    header = ["n", "method", "MSE of the probabilities x 1000", "test accuracy, % (± standard error)"]
    return f"""## Recovery of the parameters

The paper's simulation: 500 binary features, 5 classes, P(right label) drawn from [{DIAGONAL[0]}, {DIAGONAL[1]}), 80 %
of n for training. {n_seeds} seeds; every method sees the same rows and the same wrong labels. Accuracy is measured
on {N_TEST:,} further rows. "INB (paper)" is `BernoulliINB.paper()`, "INB (em)" is
`BernoulliINB(method="em")` and "INB" is `BernoulliINB()`.

{table(header, lines)}

Repeat with `python -m benchmarks recovery`.
"""
