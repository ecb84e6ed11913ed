"""A view of the words of a message: it refines the category and detects unfamiliar words.

Logistic regression over the features and the character n-grams. Its targets are half the given
labels and half the labels as corrected by the naive Bayes model of mislabeling.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from ..data.errors import InputError
from ..data.simulate import Array
from .ngrams import tfidf

_LARGEST_SIZE = 3  # characters of the longest n-gram
_LEAST_MESSAGES = 2  # minimum number of messages with an n-gram
_FAMILIAR_SHARE = 0.99  # quantile of the training messages, each compared with the others
_LEAST_LIMIT = 0.5
_NOT_ALLOWED = 1e-3  # weight of a category that does not match the meaning of the message
# Words in scripts with spaces, pairs of characters in others (Chinese). Numbers say nothing about the subject.
_RUNS = re.compile(r"[a-z\u00c0-\u052f']+|[^\W\d_a-z\u00c0-\u052f]+")
_LATIN = re.compile(r"[a-z\u00c0-\u052f']+")


class WordsView(NamedTuple):
    grams: dict[str, int]  # n-gram -> column
    idf: Array  # (V,)
    weights: Array  # (d + V, K)
    base: Array  # (K,)
    familiar: frozenset[str]  # words, and pairs of characters, of the training messages and of the dictionaries
    limit: float  # a message with a larger share of unfamiliar words is out of domain

    def posterior(self, features: Sequence[bool], text: str) -> Array:
        """(K,) posterior of one message; `text` must be folded and without contact details."""
        scores = self.base + self.weights[: len(features)][np.array(features, dtype=bool)].sum(axis=0)
        found = [self.grams[gram] for gram in _grams(text) if gram in self.grams]
        if found:
            places, values = tfidf(found, self.idf)
            scores = scores + values @ self.weights[len(features) :][places]
        scores = np.exp(scores - scores.max())
        return np.asarray(scores / scores.sum())

    def novelty(self, text: str) -> float:
        """Share of unfamiliar words; 0 for a text without words."""
        return _novelty(text, self.familiar)

    def save(self, path: Path) -> None:
        with path.open("wb") as file:
            np.savez_compressed(
                file, grams=np.array(list(self.grams)), idf=self.idf, weights=self.weights, base=self.base,
                familiar=np.array(sorted(self.familiar)), limit=self.limit,
            )  # fmt: skip

    @classmethod
    def load(cls, path: Path) -> Self:
        try:
            with np.load(path, allow_pickle=False) as kept:
                grams = {gram: place for place, gram in enumerate(kept["grams"].tolist())}
                arrays = (kept["idf"], kept["weights"], kept["base"])
                return cls(grams, *arrays, frozenset(kept["familiar"].tolist()), float(kept["limit"]))
        except (OSError, ValueError, KeyError, EOFError) as error:
            raise InputError(f"{path} cannot be read ({error}); train the bot again") from None


def restricted(posterior: Array, allowed: Array) -> Array:
    """The posterior with categories that are not allowed (0) down-weighted."""
    kept = posterior * np.maximum(allowed, _NOT_ALLOWED)
    return np.asarray(kept / kept.sum())


def fit_words(
    features: Array, texts: Sequence[str], labels: Array, classes: Sequence[str], corrected: Array, known: Iterable[str]
) -> WordsView:
    """`labels` (n,) keys or None; `corrected` (n, K): P(true label); `known`: words of dictionaries."""
    from sklearn.feature_extraction.text import TfidfVectorizer  # imported late: replying does not need it

    vectorizer = TfidfVectorizer(
        analyzer="char", ngram_range=(1, _LARGEST_SIZE), min_df=_LEAST_MESSAGES, sublinear_tf=True, lowercase=False
    )
    try:
        words = vectorizer.fit_transform(texts)
        grams, idf = {str(gram): int(i) for gram, i in vectorizer.vocabulary_.items()}, vectorizer.idf_
    except ValueError:  # no n-gram occurs in two messages
        words, grams, idf = sp.csr_matrix((len(texts), 0)), {}, np.zeros(0)
    given = np.array([[label == key for key in classes] for label in labels], dtype=float)
    unlabeled = given.sum(axis=1) == 0
    given[unlabeled] = corrected[unlabeled]
    coef, intercept = _regression(sp.hstack([sp.csr_matrix(features), words]).tocsr(), (given + corrected) / 2)
    order = sorted(grams, key=lambda gram: grams[gram])
    units = [set(_units(text)) for text in texts]
    familiar = frozenset().union(*units, *(_units(word) for word in known))
    return WordsView(
        {gram: place for place, gram in enumerate(order)}, np.asarray(idf), coef, intercept, familiar,
        _limit(texts, units, frozenset(unit for word in known for unit in _units(word))),
    )  # fmt: skip


def _regression(X: Any, target: Array) -> tuple[Array, Array]:
    """Weights (d, K) and base (K,) for soft labels: each row is repeated for each category that it may have."""
    from sklearn.linear_model import LogisticRegression

    K = target.shape[1]
    rows, keys = np.nonzero(target > 0.02)
    present = np.unique(keys)
    weights, base = np.zeros((X.shape[1], K)), np.full(K, -30.0)
    model = LogisticRegression(C=1.0, solver="newton-cg").fit(X[rows], keys, sample_weight=target[rows, keys])
    if len(present) == 2:  # scikit-learn keeps one column for two classes
        weights[:, present[1]], base[present] = model.coef_[0], (0.0, model.intercept_[0])
    else:
        weights[:, present], base[present] = model.coef_.T, model.intercept_
    return weights, base


def _limit(texts: Sequence[str], units: list[set[str]], dictionaries: frozenset[str]) -> float:
    """How unfamiliar messages of the domain are: each is compared with all others."""
    counts: dict[str, int] = {}
    for found in units:
        for unit in found:
            counts[unit] = counts.get(unit, 0) + 1
    often = dictionaries | {unit for unit, count in counts.items() if count > 1}
    shares = [_novelty(text, often) for text in texts]
    return max(float(np.quantile(shares, _FAMILIAR_SHARE)), _LEAST_LIMIT) if shares else 1.0


def _novelty(text: str, familiar: Iterable[str]) -> float:
    units = list(_units(text))
    return sum(unit not in familiar for unit in units) / len(units) if units else 0.0


def _grams(text: str) -> list[str]:
    return [text[i : i + size] for size in range(1, _LARGEST_SIZE + 1) for i in range(len(text) - size + 1)]


def _units(text: str) -> list[str]:
    found = []
    for run in _RUNS.findall(text.casefold()):
        if _LATIN.fullmatch(run) or len(run) == 1:
            found.append(run)
        else:
            found += [run[i : i + 2] for i in range(len(run) - 1)]
    return found
