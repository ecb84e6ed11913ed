"""Rows of results/crowd.csv: one for each data set, number of labels per row, seed and method."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from ..data.simulated_labelers import label_by, make_labelers
from ..result_files import Row
from .labeled_texts import Texts, texts_of
from .methods import METHODS, classifier

#: Numbers of labels per row, and the number of labelers.
N_LABELS, N_LABELERS = (1, 2, 3, 5), 20


def measure(datasets: Sequence[str], methods: Sequence[str], seeds: range) -> Iterator[Row]:
    for name in datasets:
        for seed in seeds:
            yield from _of_data(name, texts_of(name, seed), methods, seed)


def _of_data(name: str, data: Texts, methods: Sequence[str], seed: int) -> Iterator[Row]:
    rng = np.random.default_rng(seed)
    matrices = make_labelers(N_LABELERS, int(data.true.max()) + 1, rng)
    words = TfidfVectorizer(min_df=2, sublinear_tf=True).fit(data.train)
    X, test = words.transform(data.train), words.transform(data.test)
    for n_labels in N_LABELS:
        given = label_by(matrices, data.true, n_labels, rng)
        for method in methods:
            started = time.perf_counter()
            consensus = METHODS[method](given, data.train, X)
            seconds = time.perf_counter() - started
            predicted = classifier().fit(X, consensus).predict(test)
            yield {
                "dataset": name, "n_labels": n_labels, "seed": seed, "method": method,
                "consensus_accuracy": float(np.mean(consensus == data.true)),
                "test_accuracy": float(np.mean(predicted == data.test_true)), "seconds": seconds,
            }  # fmt: skip
