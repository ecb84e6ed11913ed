"""Small tasks that every method can answer within a fraction of a second."""

from __future__ import annotations

from benchmarks.quality.datasets.synthetic_texts import Shape, make
from benchmarks.quality.tasks import Task
from noisybayes import simulate

SHAPE = Shape((0.5, 0.3, 0.2), n_train=150, n_test=60, n_words=200, mean_length=15.0, topic_share=0.5, noise=0.2)


def text(seed: int = 0) -> Task:
    return make("small-text", SHAPE, seed)


def table(seed: int = 0) -> Task:
    data = simulate(210, n_features=20, n_classes=3, diagonal=(0.8, 0.8), random_state=seed)
    return Task(
        "small-table", "table", data.X[:150], data.y[:150], data.true[:150], data.X[150:], data.true[150:], seed
    )
