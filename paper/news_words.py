"""20 Newsgroups as binary features: the words with the highest TF-IDF, under several readings of that."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from benchmarks.data.datasets import newsgroups
from scipy import sparse
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer, TfidfTransformer

from .methods import Array

N_WORDS = 7_302
_QUICK_WORDS = 150
READINGS = {
    "sum": "summed over documents",
    "sum without stop words": "summed, English stop words left out",
    "raw sum": "summed, documents not scaled to one length",
    "mean": "mean over the documents that have it",
    "max": "greatest in any document",
}


@cache
def features(reading: str, quick: bool = False) -> tuple[Any, Array]:
    """CSR (n, words) of zeros and ones, and the group of each document. Loaded once in a process."""
    counts, words, labels = made_documents() if quick else documents()
    scores = word_scores(counts, words, reading)
    limit = _QUICK_WORDS if quick else N_WORDS
    columns = np.sort(np.argsort(-scores, kind="stable")[:limit])
    X = sparse.csr_array(counts[:, columns], dtype=np.float64)
    X.data[:] = 1.0
    return X, labels


def word_scores(counts: Any, words: Array, reading: str) -> Array:
    """One number per word from the TF-IDF of its documents. Labels are not used, so all documents may be."""
    tfidf = TfidfTransformer(norm=None if reading == "raw sum" else "l2").fit_transform(counts)
    if reading == "max":
        return np.asarray(tfidf.max(axis=0).todense()).reshape(-1)
    total = np.asarray(tfidf.sum(axis=0)).reshape(-1)
    if reading == "mean":
        return np.asarray(total / np.maximum(np.bincount(counts.indices, minlength=counts.shape[1]), 1))
    if reading == "sum without stop words":
        return np.where(np.isin(words, list(ENGLISH_STOP_WORDS)), 0.0, total)
    return total


@cache
def documents() -> tuple[Any, Array, Array]:
    """Counts in all documents of the words of the training part: 130,107 words, the paper's number."""
    vectorizer = CountVectorizer().fit(newsgroups("train").texts)
    data = newsgroups()
    labels = np.unique(data.labels, return_inverse=True)[1]
    return sparse.csr_matrix(vectorizer.transform(data.texts)), vectorizer.get_feature_names_out(), labels


@cache
def made_documents() -> tuple[Any, Array, Array]:
    """A stand-in that needs no files: 4 groups, 400 short documents of 300 words."""
    rng = np.random.default_rng(0)
    labels = rng.integers(4, size=400)
    weights = rng.gamma(0.3, size=(4, 300))
    weights /= weights.sum(axis=1, keepdims=True)
    counts = np.array([rng.multinomial(40, weights[label]) for label in labels])
    return sparse.csr_matrix(counts), np.array([f"w{i}" for i in range(300)]), labels
