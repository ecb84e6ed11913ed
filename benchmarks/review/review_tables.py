"""The tables under review: observed labels, and the true labels that the reviewer knows. Whole tables, not split."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer

from noisybayes.data.simulate import corrupt

from ..data.datasets import live_streaming, newsgroups, noisy_ag_news
from ..data.noise import structured_noise
from ..quality.tasks import Array, generator
from ..quality.word_counts import count_words, vocabulary

NEWSGROUPS_WORDS, NEWSGROUPS_NOISE = 7_302, 0.2


class Table(NamedTuple):
    kind: Literal["text", "table"]
    X: Any  # (n, d) text: TF-IDF; table: zeros and ones
    y: Array  # (n,) observed labels, 0..K-1
    true: Array  # (n,) what the reviewer says


MakeTable = Callable[[int], Table]


def livestream(seed: int) -> Table:
    return _shuffled(_livestream(), generator("livestream", seed))


def noisy_news(seed: int) -> Table:
    return _shuffled(_noisy_news(), generator("noisy-ag-news", seed))


def newsgroups_structured(seed: int) -> Table:
    """Different wrong labels for each seed."""
    table, rng = _newsgroups(), generator("newsgroups-structured-20", seed)
    mistakes = structured_noise(int(table.true.max()) + 1, NEWSGROUPS_NOISE, rng)
    return _shuffled(table._replace(y=corrupt(table.true, mistakes, rng)), rng)


DATASETS: dict[str, MakeTable] = {
    "livestream": livestream,
    "noisy-ag-news": noisy_news,
    "newsgroups-structured-20": newsgroups_structured,
}


@cache
def _livestream() -> Table:
    data = live_streaming()
    return Table("table", data.table.to_numpy(np.float64), *_codes(data.observed, data.true))


@cache
def _noisy_news() -> Table:
    data = noisy_ag_news()
    return Table("text", _tfidf(data.texts), *_codes(data.observed, data.true))


@cache
def _newsgroups() -> Table:
    data = newsgroups()
    return Table("text", _tfidf(data.texts, NEWSGROUPS_WORDS), *_codes(data.labels, data.labels))


def _codes(observed: Array, true: Array) -> tuple[Array, Array]:
    classes = np.unique(np.concatenate([observed, true]))
    return np.searchsorted(classes, observed), np.searchsorted(classes, true)


def _tfidf(texts: list[str], limit: int | None = None) -> Any:
    counts = count_words(texts)
    return TfidfTransformer(sublinear_tf=True).fit_transform(counts[:, vocabulary(counts, limit)])


def _shuffled(table: Table, rng: np.random.Generator) -> Table:
    """Shuffle the rows: ties keep their order, which must not be that of the file."""
    order = rng.permutation(len(table.y))
    return table._replace(X=table.X[order], y=table.y[order], true=table.true[order])
