"""Numeric tables: data sets shipped with scikit-learn, and simulated ones, with injected label noise."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache, partial
from typing import Any

import numpy as np

from noisybayes.data.simulate import corrupt

from ...data.noise import boundary_noise, uniform_noise
from ...data.simulated_tables import simulate_table
from ..methods.outcome import logistic_regression, out_of_fold
from ..tasks import Array, MakeTask, Task, generator, random_split

NOISES = ("class", "boundary")
RATES = (10, 20, 40)
#: Cache of the tables of one seed: each is classified once for all kinds of noise.
_KEPT = 8


@cache
def _shipped(name: str) -> tuple[Array, Array]:
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{name}")()
    return np.asarray(bunch.data, dtype=np.float64), bunch.target


def _of_package(name: str, seed: int) -> tuple[Array, Array]:
    return _shipped(name)


def _simulated(n: int, n_features: int, n_classes: int, seed: int) -> tuple[Array, Array]:
    table = simulate_table(
        n, n_features=n_features, n_classes=n_classes, random_state=generator(f"table {n_features}", seed)
    )
    return table.X, table.true


SOURCES: dict[str, Callable[[int], tuple[Array, Array]]] = {
    "breast-cancer": partial(_of_package, "breast_cancer"),
    "wine": partial(_of_package, "wine"),
    "digits": partial(_of_package, "digits"),
    "curved-2c": partial(_simulated, 1_000, 6, 2),
    "curved-4c": partial(_simulated, 2_000, 15, 4),
}


@lru_cache(maxsize=_KEPT)
def _clean(source: str, seed: int) -> Task:
    """The same rows for all kinds of noise, so that their results can be compared row by row."""
    X, true = SOURCES[source](seed)
    train, test = random_split(len(X), len(X) * 4 // 5, generator(f"table-{source}", seed))
    return Task(source, "numbers", X[train], true[train], true[train], X[test], true[test], seed)


@lru_cache(maxsize=_KEPT)
def _hesitation(source: str, seed: int) -> Array:
    """Out-of-fold P(class | x) of classifiers trained on the true labels: the mean of a linear one and a forest, so
    that the noise favours neither."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    task = _clean(source, seed)
    models: list[Any] = [
        make_pipeline(StandardScaler(), logistic_regression()),
        RandomForestClassifier(random_state=seed),
    ]
    return np.asarray(np.mean([out_of_fold(model, task.X, task.y, seed) for model in models], axis=0))


def make(name: str, source: str, noise: str, rate: float, seed: int) -> Task:
    task, rng = _clean(source, seed), generator(name, seed)
    K = int(task.y.max()) + 1
    if noise == "class":
        y = corrupt(task.y, uniform_noise(K, rate), rng)
    else:
        y = boundary_noise(task.y, _hesitation(source, seed), rate, rng)
    return task._replace(name=name, y=y)


def datasets() -> dict[str, MakeTask]:
    tasks: dict[str, MakeTask] = {}
    for source in SOURCES:
        for noise in NOISES:
            for percent in RATES:
                name = f"table-{source}-{noise}-{percent}"
                tasks[name] = partial(make, name, source, noise, percent / 100)
    return tasks
