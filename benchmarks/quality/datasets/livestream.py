"""The paper's Live Streaming Dialog Dataset: volunteers' labels, tested on the experts' labels."""

from __future__ import annotations

from functools import cache, partial

import numpy as np

from ...data.datasets import LiveStreaming, live_streaming
from ..tasks import MakeTask, Task, generator, random_split

_load = cache(live_streaming)


def make(name: str, clean: bool, seed: int) -> Task:
    data: LiveStreaming = _load()
    X = data.table.to_numpy(np.float64)
    train, test = random_split(len(X), len(X) * 4 // 5, generator("livestream", seed))
    true = data.true[train]
    return Task(
        name=name,
        kind="table",
        X=X[train],
        y=true.copy() if clean else data.observed[train],
        true=true,
        X_test=X[test],
        y_test=data.true[test],
        seed=seed,
    )


def datasets() -> dict[str, MakeTask]:
    return {name: partial(make, name, clean) for name, clean in (("livestream", False), ("livestream-clean", True))}
