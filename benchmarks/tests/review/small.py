"""Small tables that every order can rank within a fraction of a second, and rows of reviews that never were."""

from __future__ import annotations

from benchmarks.quality.datasets.synthetic_texts import Shape, make
from benchmarks.review.review_tables import Table
from benchmarks.review.runner import PERCENTS
from noisybayes import simulate

SHAPE = Shape((0.5, 0.3, 0.2), n_train=200, n_test=1, n_words=200, mean_length=15.0, topic_share=0.5, noise=0.2)


def text(seed: int = 0) -> Table:
    task = make("small-text", SHAPE, seed)
    return Table("text", task.X, task.y, task.true)


def table(seed: int = 0) -> Table:
    data = simulate(200, n_features=200, n_classes=3, diagonal=(0.8, 0.8), random_state=seed)
    return Table("table", data.X, data.y, data.true)


TABLES = {"text": text, "table": table}


def rows(method: str, seed: int, pace: float, dataset: str = "livestream") -> list[dict]:
    """A review of a thousand rows, 200 of them wrong, that finds `pace` percent with every percent reviewed."""
    return [
        {
            "dataset": dataset, "method": method, "seed": seed, "rows": 1_000, "wrong": 200, "percent": percent,
            "found": pace * percent / 100, "precision": pace / 5, "seconds": 2.0,
        }
        for percent in PERCENTS
    ]  # fmt: skip
