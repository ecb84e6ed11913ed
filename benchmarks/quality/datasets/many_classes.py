"""A hundred and twenty classes of short texts, about fifty rows each."""

from __future__ import annotations

from functools import partial

from ..tasks import MakeTask
from .synthetic_texts import Shape, make

SHAPE = Shape(
    class_shares=(1.0,) * 120,
    n_train=6_000,
    n_test=3_000,
    n_words=5_000,
    mean_length=12.0,
    topic_share=0.5,
    noise=0.15,
)


def datasets() -> dict[str, MakeTask]:
    return {"many-classes": partial(make, "many-classes", SHAPE)}
