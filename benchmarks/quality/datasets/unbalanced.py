"""Unbalanced texts: classes of 20 Newsgroups and of NoisyAG-News subsampled to given shares, with injected label noise.

The classes of 20 Newsgroups are the first parts of the groups' names. Of NoisyAG-News the true labels are used, for
its training and test texts alike; the annotators' labels are not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache, partial
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from noisybayes.data.simulate import corrupt

from ...data.datasets import newsgroups, noisy_ag_news
from ...data.noise import boundary_noise, majority_noise, uniform_noise
from ..methods.outcome import logistic_regression, out_of_fold, tfidf
from ..tasks import Array, MakeTask, Task, generator
from ..word_counts import count_words, vocabulary

N_TRAIN, N_TEST, N_WORDS = 3_000, 1_000, 7_302
#: Shares of the classes, the largest first; the name contains the number of classes and the largest share.
SHARES = {"2c-90": (0.9, 0.1), "2c-75": (0.75, 0.25), "3c-60": (0.6, 0.3, 0.1)}
NOISES = ("class", "boundary", "majority")
RATES = (10, 20)
#: Cache of the texts of one seed: each set is counted and classified once for all kinds of noise.
_KEPT = 6


class Texts(NamedTuple):
    texts: list[str]
    labels: Array  # (n,) names of the classes
    classes: tuple[str | int, ...]  # in the order of their shares


@cache
def _newsgroups() -> Texts:
    data = newsgroups()
    return Texts(data.texts, np.array([group.partition(".")[0] for group in data.labels]), ("comp", "sci", "rec"))


@cache
def _ag_news() -> Texts:
    data = noisy_ag_news()
    business, technology, world = 2, 3, 0
    labels = np.concatenate([data.true, data.test_true])
    return Texts(data.texts + data.test_texts, labels, (business, technology, world))


SOURCES: dict[str, Callable[[], Texts]] = {"newsgroups": _newsgroups, "ag-news": _ag_news}


def thin(labels: Array, classes: Sequence[str | int], shares: Sequence[float], n: int, rng: Generator) -> Array:
    """Row numbers in random order, n in all, with these shares of the classes."""
    chosen = []
    for name, share in zip(classes, shares, strict=True):
        rows, count = np.flatnonzero(labels == name), round(share * n)
        if len(rows) < count:
            raise ValueError(f"the class {name} has {len(rows)} texts, but {count} are needed")
        chosen.append(rng.choice(rows, size=count, replace=False))
    return rng.permutation(np.concatenate(chosen))


@lru_cache(maxsize=_KEPT)
def _clean(source: str, shares: str, seed: int) -> Task:
    """The same rows for all kinds of noise, so that their results can be compared row by row."""
    pool = SOURCES[source]()
    classes = pool.classes[: len(SHARES[shares])]
    name = f"unbalanced-{source}-{shares}"
    rows = thin(pool.labels, classes, SHARES[shares], N_TRAIN + N_TEST, generator(name, seed))
    counts = count_words([pool.texts[row] for row in rows])
    counts = counts[:, vocabulary(counts[:N_TRAIN], N_WORDS)]
    labels = np.argmax(pool.labels[rows, None] == np.array(classes), axis=1)
    return Task(
        name=name,
        kind="text",
        X=counts[:N_TRAIN],
        y=labels[:N_TRAIN],
        true=labels[:N_TRAIN],
        X_test=counts[N_TRAIN:],
        y_test=labels[N_TRAIN:],
        seed=seed,
    )


@lru_cache(maxsize=_KEPT)
def _hesitation(source: str, shares: str, seed: int) -> Array:
    """Out-of-fold P(class | x) of a classifier trained on the true labels.

    Logistic regression, which a peer also ranks with, so this noise does not favour our method. Classes are weighted
    equally; otherwise it would be uncertain about every row of a rare class.
    """
    task = _clean(source, shares, seed)
    model = logistic_regression().set_params(class_weight="balanced")
    return out_of_fold(model, tfidf(task).train, task.y, seed)


def make(name: str, source: str, shares: str, noise: str, rate: float, seed: int) -> Task:
    task, rng = _clean(source, shares, seed), generator(name, seed)
    class_shares, true = SHARES[shares], task.y
    if noise == "class":
        y = corrupt(true, uniform_noise(len(class_shares), rate), rng)
    elif noise == "majority":
        y = corrupt(true, majority_noise(class_shares, rate), rng)
    else:
        y = boundary_noise(true, _hesitation(source, shares, seed), rate, rng)
    return task._replace(name=name, y=y)


def datasets() -> dict[str, MakeTask]:
    tasks: dict[str, MakeTask] = {}
    for source in SOURCES:
        for shares in SHARES:
            for noise in NOISES:
                for percent in RATES:
                    name = f"unbalanced-{source}-{shares}-{noise}-{percent}"
                    tasks[name] = partial(make, name, source, shares, noise, percent / 100)
    return tasks
