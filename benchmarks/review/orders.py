"""The tables under review, and the orders in which to review their rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.naive_bayes import BernoulliNB, MultinomialNB

from noisybayes._extras import require
from noisybayes.data.simulate import corrupt
from noisybayes.estimators import BernoulliINB, MultinomialINB
from noisybayes.model.matrix import IdentifiabilityWarning

from ..data.datasets import live_streaming, newsgroups, noisy_ag_news
from ..data.noise import structured_noise
from ..quality.datasets import NEWS_WORDS
from ..quality.tasks import N_FOLDS, Array, count_words, generator, logistic_regression, of_given, vocabulary

REFIT_PERCENT = 2


class Table(NamedTuple):
    """A whole table, not split."""

    kind: Literal["text", "table"]
    X: Any  # (n, d) text: TF-IDF; table: zeros and ones
    y: Array  # (n,) observed labels, 0..K-1
    true: Array  # (n,) what the reviewer says


@cache
def _source(name: str) -> Table:
    if name == "livestream":
        live = live_streaming()
        return Table("table", live.table.to_numpy(np.float64), *_codes(live.observed, live.true))
    if name == "noisy-ag-news":
        news = noisy_ag_news()
        return Table("text", _tfidf(news.texts), *_codes(news.observed, news.true))
    groups = newsgroups()
    return Table("text", _tfidf(groups.texts, NEWS_WORDS), *_codes(groups.labels, groups.labels))


def _codes(observed: Array, true: Array) -> tuple[Array, Array]:
    classes = np.unique(np.concatenate([observed, true]))
    return np.searchsorted(classes, observed), np.searchsorted(classes, true)


def _tfidf(texts: list[str], limit: int | None = None) -> Any:
    counts = count_words(texts)
    return TfidfTransformer(sublinear_tf=True).fit_transform(counts[:, vocabulary(counts, limit)])


def _table(name: str, seed: int) -> Table:
    """In a random order: ties keep their order, which must not be that of the file."""
    table, rng = _source(name), generator(name, seed)
    if name == "newsgroups-structured-20":  # different wrong labels for each seed
        mistakes = structured_noise(int(table.true.max()) + 1, 0.2, rng)
        table = table._replace(y=corrupt(table.true, mistakes, rng))
    order = rng.permutation(len(table.y))
    return table._replace(X=table.X[order], y=table.y[order], true=table.true[order])


DATASETS: dict[str, Callable[[int], Table]] = {
    name: partial(_table, name) for name in ("livestream", "noisy-ag-news", "newsgroups-structured-20")
}

#: Positions of rows -> their true labels. An order has no other access to these.
Ask = Callable[[Array], Array]
#: (kind of the table, X, y, ask, seed) -> positions, each once
Order = Callable[[str, Any, Array, Ask, int], Iterator[Array]]


def inb(kind: str, X: Any, y: Array, ask: Ask, seed: int) -> Iterator[Array]:
    yield _falling(_p_wrong(kind, X, y, None, seed))


def inb_refit(kind: str, X: Any, y: Array, ask: Ask, seed: int) -> Iterator[Array]:
    """After each batch the model is refitted with the verdicts as verified labels, and the other rows are reranked."""
    n = len(y)
    verdicts = np.full(n, np.nan)
    for percent in range(0, 100, REFIT_PERCENT):
        batch = up_to(percent + REFIT_PERCENT, n) - up_to(percent, n)
        order = _falling(_p_wrong(kind, X, y, verdicts if percent else None, seed))
        rows = order[np.isnan(verdicts[order])][:batch]
        yield rows
        verdicts[rows] = ask(rows)


def cleanlab_nb(kind: str, X: Any, y: Array, ask: Ask, seed: int) -> Iterator[Array]:
    yield _cleanlab(MultinomialNB() if kind == "text" else BernoulliNB(), X, y, seed)


def cleanlab_lr(kind: str, X: Any, y: Array, ask: Ask, seed: int) -> Iterator[Array]:
    yield _cleanlab(logistic_regression(), X, y, seed)


ORDERS: dict[str, Order] = {
    "inb": inb, "inb-refit": inb_refit, "cleanlab-nb": cleanlab_nb, "cleanlab-lr": cleanlab_lr,
}  # fmt: skip
PEERS = ("cleanlab-nb", "cleanlab-lr")


def up_to(percent: int, n: int) -> int:
    """How many of n rows this is."""
    return round(percent * n / 100)


def _p_wrong(kind: str, X: Any, y: Array, verified: Array | None, seed: int) -> Array:
    model = (MultinomialINB if kind == "text" else BernoulliINB)(random_state=seed)
    with warnings.catch_warnings():  # a reviewer would still continue
        warnings.simplefilter("ignore", IdentifiabilityWarning)
        model.fit(X, y, verified=verified)
    return 1.0 - of_given(model.true_proba_, model.classes_, y)


def _cleanlab(classifier: Any, X: Any, y: Array, seed: int) -> Array:
    """The rows that cleanlab lists, in its order, then the others by its score of label quality."""
    cleanlab = require("cleanlab", extra="bench", purpose="the peer cleanlab")
    labels = np.unique(y, return_inverse=True)[1]  # it takes labels 0..K-1 without gaps
    proba = cleanlab.count.estimate_cv_predicted_probabilities(X, labels, classifier, cv_n_folds=N_FOLDS, seed=seed)
    # n_jobs: it would fork this process, which can hang a process with threads
    listed = cleanlab.filter.find_label_issues(
        labels, proba, return_indices_ranked_by="self_confidence", n_jobs=1
    ).astype(int)
    by_quality = _falling(-cleanlab.rank.get_label_quality_scores(labels, proba))
    return np.concatenate([listed, by_quality[~np.isin(by_quality, listed)]])


def _falling(score: Array) -> Array:
    return np.argsort(-score, kind="stable")
