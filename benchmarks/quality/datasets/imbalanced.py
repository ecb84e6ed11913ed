"""Six classes, from half of all rows down to one row in fifty."""

from __future__ import annotations

from functools import partial

from ..tasks import MakeTask
from .synthetic_texts import Shape, make

SHAPE = Shape(
    class_shares=(0.50, 0.20, 0.15, 0.08, 0.05, 0.02),
    n_train=4_000,
    n_test=2_000,
    n_words=3_000,
    mean_length=30.0,
    topic_share=0.2,
    noise=0.15,
)


def datasets() -> dict[str, MakeTask]:
    return {"imbalanced": partial(make, "imbalanced", SHAPE)}
