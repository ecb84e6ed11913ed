"""Texts with known labels, which simulated labelers label again."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from noisybayes.data.simulate import Array

from ..data.datasets import newsgroups, noisy_ag_news

N_TRAIN, N_TEST = 2_000, 1_000


class Texts(NamedTuple):
    train: list[str]
    true: Array  # (n,) codes
    test: list[str]
    test_true: Array


class _Labeled(NamedTuple):
    texts: list[str]
    labels: Array


@cache
def _newsgroups() -> _Labeled:
    data = newsgroups()
    return _Labeled(data.texts, np.asarray(data.labels))


@cache
def _ag_news() -> _Labeled:
    data = noisy_ag_news()
    return _Labeled(data.texts + data.test_texts, np.concatenate([data.true, data.test_true]))


@cache
def _example() -> _Labeled:
    frame = pl.read_csv(Path("examples") / "dealership.csv")
    return _Labeled(frame["message"].to_list(), frame["true_label"].to_numpy())


DATASETS: dict[str, Callable[[], _Labeled]] = {
    "20 Newsgroups": _newsgroups,
    "NoisyAG-News, true labels": _ag_news,
    "the example data": _example,
}


def texts_of(name: str, seed: int) -> Texts:
    """A random part of the texts; a third of a smaller set is used for testing."""
    data = DATASETS[name]()
    order = np.random.default_rng(seed).permutation(len(data.texts))
    n_test = min(N_TEST, len(order) // 3)
    test, train = order[:n_test], order[n_test : n_test + N_TRAIN]
    _, codes = np.unique(data.labels, return_inverse=True)
    return Texts([data.texts[i] for i in train], codes[train], [data.texts[i] for i in test], codes[test])
