"""Texts to a matrix of word counts, against CountVectorizer, which returns the same matrix."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import polars as pl
from sklearn.feature_extraction.text import CountVectorizer

from noisybayes.text.counts import count_all
from noisybayes.text.tokens import Tokenizer

from ..result_files import Row, table
from .clock import grouped, median, ratio, seconds, shown

VOCABULARY = 20_000


class Case(NamedTuple):
    n_texts: int
    words: int

    def __str__(self) -> str:
        return f"{self.n_texts:,} texts of {self.words} words"


CASES = (Case(1_000_000, 12), Case(50_000, 200))


def measure(reps: int, seed: int = 0) -> Iterator[Row]:
    for case in CASES:
        texts = random_messages(np.random.default_rng(seed), *case)
        series = pl.Series(texts)
        for rep in range(reps):
            yield {
                "case": str(case),
                "rep": rep,
                "n_texts": case.n_texts,
                "ours_s": seconds(count_all, series, Tokenizer("words")),
                "sklearn_s": seconds(CountVectorizer().fit_transform, texts),
            }


def random_messages(rng: np.random.Generator, n_texts: int, words: int) -> list[str]:
    """Realistic word frequencies: that of the k-th word is proportional to about 1 / k."""
    known = np.array([f"w{rng.integers(10**6)}x{i}" for i in range(VOCABULARY)])
    ranks = np.exp(rng.random((n_texts, words)) * np.log(VOCABULARY)).astype(int) - 1
    return [" ".join(row) for row in known[ranks]]


def page(rows: list[Row]) -> str:
    lines = []
    for case, mine in grouped(rows, "case").items():
        ours, theirs = median(mine, "ours_s"), median(mine, "sklearn_s")
        lines.append([case, shown(ours), shown(theirs), f"{ratio(mine, 'sklearn_s', 'ours_s'):.1f} x",
                      f"{mine[0]['n_texts'] / ours:,.0f}"])  # fmt: skip
    return f"""## Texts to features

Counts of all words of the texts: the same matrix that `CountVectorizer()` returns.

{table(["texts", "noisybayes", "CountVectorizer", "faster", "texts per second"], lines)}
"""
