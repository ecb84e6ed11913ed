"""NoisyAG-News: mistakes of human annotators. The rows are fixed; a seed changes their order and thus the folds."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

from ...data.datasets import NoisyAGNews, noisy_ag_news
from ..tasks import MakeTask, Task, generator
from ..word_counts import count_words, vocabulary


@cache
def _documents() -> tuple[NoisyAGNews, Any, Any]:
    data = noisy_ag_news()
    counts = count_words(data.texts + data.test_texts)
    n = len(data.texts)
    words = vocabulary(counts[:n])
    return data, counts[:n][:, words], counts[n:][:, words]


def make(name: str, clean: bool, seed: int) -> Task:
    data, train, test = _documents()
    order = generator("noisy-ag-news", seed).permutation(train.shape[0])
    true = data.true[order]
    return Task(
        name=name,
        kind="text",
        X=train[order],
        y=true.copy() if clean else data.observed[order],
        true=true,
        X_test=test,
        y_test=data.test_true,
        seed=seed,
    )


def datasets() -> dict[str, MakeTask]:
    return {
        name: partial(make, name, clean) for name, clean in (("noisy-ag-news", False), ("noisy-ag-news-clean", True))
    }
