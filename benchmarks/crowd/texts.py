"""Texts with known labels that simulated labelers label again, and methods that combine several labels into one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

from noisybayes import audit
from noisybayes._extras import require
from noisybayes.data.simulate import Array

from ..data.datasets import newsgroups, noisy_ag_news
from ..data.simulated_labelers import label_by, make_labelers
from ..result_files import Row

N_TRAIN, N_TEST = 2_000, 1_000
#: Numbers of labels per row, and the number of labelers.
N_LABELS, N_LABELERS = (1, 2, 3, 5), 20
DATASETS = ("20 Newsgroups", "NoisyAG-News", "the example data")
OURS = "noisybayes"


class Texts(NamedTuple):
    train: list[str]
    true: Array  # (n,) codes
    test: list[str]
    test_true: Array


@cache
def _source(name: str) -> tuple[list[str], Array]:
    if name == "20 Newsgroups":
        groups = newsgroups()
        return groups.texts, np.asarray(groups.labels)
    if name == "NoisyAG-News":
        news = noisy_ag_news()
        return news.texts + news.test_texts, np.concatenate([news.true, news.test_true])
    frame = pl.read_csv(Path("examples") / "dealership.csv")
    return frame["message"].to_list(), frame["true_label"].to_numpy()


def texts_of(name: str, seed: int) -> Texts:
    """A random part of the texts; a third of a smaller set is used for testing."""
    texts, labels = _source(name)
    order = np.random.default_rng(seed).permutation(len(texts))
    n_test = min(N_TEST, len(order) // 3)
    test, train = order[:n_test], order[n_test : n_test + N_TRAIN]
    codes = np.unique(labels, return_inverse=True)[1]
    return Texts([texts[i] for i in train], codes[train], [texts[i] for i in test], codes[test])


def words_of(data: Texts) -> tuple[Any, Any]:
    """TF-IDF of the training and of the test texts."""
    words = TfidfVectorizer(min_df=2, sublinear_tf=True).fit(data.train)
    return words.transform(data.train), words.transform(data.test)


def classifier() -> LogisticRegression:
    """The same for every method: the classifier that cleanlab uses, and that is trained on each consensus."""
    return LogisticRegression(max_iter=200, C=10.0)


# --- methods: labels (n, G) with -1 where there is none, texts and their features -> (n,) codes ----------------------


def ours(given: Array, texts: list[str], X: Any) -> Array:
    names = [f"labeler {g}" for g in range(given.shape[1])]
    columns = {name: [None if code < 0 else f"{code:04}" for code in given[:, g]] for g, name in enumerate(names)}
    frame = pl.DataFrame({"text": texts} | {name: pl.Series(codes, dtype=pl.String) for name, codes in columns.items()})
    consensus = audit(frame, label=names, text="text").consensus
    assert consensus is not None
    return consensus["consensus"].astype(int).to_numpy()


def majority_vote(given: Array, texts: list[str], X: Any) -> Array:
    """Ties go to the first label."""
    counts = np.stack([(given == k).sum(axis=1) for k in range(given.max() + 1)], axis=1)
    return np.asarray(counts.argmax(axis=1))


def cleanlab(given: Array, texts: list[str], X: Any) -> Array:
    """With out-of-fold probabilities of the classifier, trained on the majority vote."""
    library = require("cleanlab.multiannotator", extra="bench", purpose="the comparison with cleanlab")
    import pandas as pd

    vote = majority_vote(given, texts, X)
    if (given >= 0).sum(axis=1).max() == 1:  # as its documentation advises: there is nothing to agree on
        return vote
    proba = np.zeros((len(given), given.max() + 1))
    proba[:, np.unique(vote)] = cross_val_predict(classifier(), X, vote, method="predict_proba", cv=5)
    labels = pd.DataFrame(np.where(given >= 0, given, np.nan))
    quality = library.get_label_quality_multiannotator(labels, proba, verbose=False)
    return np.asarray(quality["label_quality"]["consensus_label"], dtype=int)


def _crowd_kit(name: str, **settings: Any) -> Callable[..., Array]:
    def consensus(given: Array, texts: list[str], X: Any) -> Array:
        library = require("crowdkit.aggregation", extra="crowd", purpose="the comparison with crowd-kit")
        import pandas as pd

        row, labeler = np.nonzero(given >= 0)
        lines = pd.DataFrame({"task": row, "worker": labeler, "label": given[row, labeler]})
        return np.asarray(getattr(library, name)(**settings).fit_predict(lines).sort_index(), dtype=int)

    return consensus


METHODS: dict[str, Callable[[Array, list[str], Any], Array]] = {
    OURS: ours,
    "majority vote": majority_vote,
    "Dawid-Skene (crowd-kit)": _crowd_kit("DawidSkene", n_iter=100),
    "GLAD (crowd-kit)": _crowd_kit("GLAD"),
    "MACE (crowd-kit)": _crowd_kit("MACE", random_state=0),
    "cleanlab": cleanlab,
}


def measure(name: str, methods: Sequence[str], seed: int) -> Iterator[Row]:
    """Rows of results/crowd.csv."""
    data, rng = texts_of(name, seed), np.random.default_rng(seed)
    matrices = make_labelers(N_LABELERS, int(data.true.max()) + 1, rng)
    X, test = words_of(data)
    for n_labels in N_LABELS:
        given = label_by(matrices, data.true, n_labels, rng)
        for method in methods:
            consensus = METHODS[method](given, data.train, X)
            predicted = classifier().fit(X, consensus).predict(test)
            yield {
                "dataset": name, "n_labels": n_labels, "seed": seed, "method": method,
                "consensus_accuracy": float(np.mean(consensus == data.true)),
                "test_accuracy": float(np.mean(predicted == data.test_true)),
            }  # fmt: skip
