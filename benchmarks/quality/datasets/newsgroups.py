"""20 Newsgroups with the paper's numbers of documents and words; clean, or with injected label noise."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np

from noisybayes.data.simulate import corrupt

from ...data.datasets import newsgroups
from ...data.noise import pair_noise, structured_noise, uniform_noise
from ..tasks import Array, MakeTask, Task, generator, random_split
from ..word_counts import count_words, vocabulary

N_TRAIN, N_WORDS = 15_076, 7_302
RATES = (10, 20, 40)


@cache
def _documents() -> tuple[Any, Array]:
    data = newsgroups()
    return count_words(data.texts), np.unique(data.labels, return_inverse=True)[1]


def make(name: str, kind: str, rate: float, seed: int) -> Task:
    counts, labels = _documents()
    # one split for all kinds of noise, so that their results can be compared row by row
    train, test = random_split(len(labels), N_TRAIN, generator("newsgroups", seed))
    words = vocabulary(counts[train], N_WORDS)
    true = labels[train]
    return Task(
        name=name,
        kind="text",
        X=counts[train][:, words],
        y=_observed(true, kind, rate, generator(name, seed)),
        true=true,
        X_test=counts[test][:, words],
        y_test=labels[test],
        seed=seed,
    )


def _observed(true: Array, kind: str, rate: float, rng: np.random.Generator) -> Array:
    K = int(true.max()) + 1
    if kind == "clean":
        return true.copy()
    if kind == "uniform":
        return corrupt(true, uniform_noise(K, rate), rng)
    if kind == "pair":
        return corrupt(true, pair_noise(K, rate), rng)
    return corrupt(true, structured_noise(K, rate, rng), rng)


def datasets() -> dict[str, MakeTask]:
    tasks: dict[str, MakeTask] = {"newsgroups-clean": partial(make, "newsgroups-clean", "clean", 0.0)}
    for kind in ("uniform", "pair", "structured"):
        for percent in RATES:
            name = f"newsgroups-{kind}-{percent}"
            tasks[name] = partial(make, name, kind, percent / 100)
    return tasks
