"""Texts to word counts. Texts are tokenized once; a split then only selects columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from .tasks import Array

_MIN_ROWS = 2


def count_words(texts: list[str]) -> Any:
    """CSR counts of all words, tokenized as scikit-learn does by default."""
    return sparse.csr_array(CountVectorizer(dtype=np.float64).fit_transform(texts))


def vocabulary(counts: Any, limit: int | None = None) -> Array:
    """Columns of the words in at least two training rows; at most `limit`, those with the largest summed TF-IDF."""
    in_rows = np.bincount(counts.indices, minlength=counts.shape[1])
    columns = np.flatnonzero(in_rows >= _MIN_ROWS)
    if limit is None or len(columns) <= limit:
        return columns
    weight = np.asarray(TfidfTransformer().fit_transform(counts[:, columns]).sum(axis=0)).reshape(-1)
    return np.sort(columns[np.argsort(-weight, kind="stable")[:limit]])
