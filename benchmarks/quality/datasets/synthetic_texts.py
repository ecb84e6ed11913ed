"""Simulated word counts that resemble texts: common words, and the words of topics, of which each class has a few.

A text has one topic of its class, so its words are not independent given the class: naive Bayes is misspecified here,
as it is on real texts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from noisybayes.data.simulate import corrupt

from ...data.noise import structured_noise
from ..tasks import Array, Task, generator

_TOPICS_PER_CLASS = 3
_WORDS_PER_TOPIC = 60


class Shape(NamedTuple):
    class_shares: tuple[float, ...]
    n_train: int
    n_test: int
    n_words: int
    mean_length: float
    topic_share: float  # the share of a text's words that come from its topic
    noise: float


def make(name: str, shape: Shape, seed: int) -> Task:
    rng = generator(name, seed)
    shares = np.asarray(shape.class_shares)
    K = len(shares)
    true = rng.choice(K, size=shape.n_train + shape.n_test, p=shares / shares.sum())
    X = _texts(true, K, shape, rng)
    n = shape.n_train
    return Task(
        name=name,
        kind="text",
        X=X[:n],
        y=corrupt(true[:n], structured_noise(K, shape.noise, rng), rng),
        true=true[:n],
        X_test=X[n:],
        y_test=true[n:],
        seed=seed,
    )


def _texts(true: Array, n_classes: int, shape: Shape, rng: np.random.Generator) -> Any:
    # Zipf's law, as in real texts
    common = 1.0 / (rng.permutation(shape.n_words) + 3.0)
    common /= common.sum()
    topics = np.array(
        [rng.choice(shape.n_words, size=_WORDS_PER_TOPIC, replace=False) for _ in range(n_classes * _TOPICS_PER_CLASS)]
    )
    topic = true * _TOPICS_PER_CLASS + rng.integers(_TOPICS_PER_CLASS, size=len(true))
    length = 1 + rng.poisson(shape.mean_length * rng.gamma(4.0, 0.25, size=len(true)))
    row = np.repeat(np.arange(len(true)), length)
    of_topic = rng.random(len(row)) < shape.topic_share
    words = rng.choice(shape.n_words, size=len(row), p=common)
    # the first words of a topic are its commonest
    rank = (rng.random(of_topic.sum()) ** 2 * _WORDS_PER_TOPIC).astype(np.intp)
    words[of_topic] = topics[topic[row[of_topic]], rank]
    counts = sparse.coo_array((np.ones(len(row)), (row, words)), shape=(len(true), shape.n_words)).tocsr()
    counts.sum_duplicates()
    return counts
