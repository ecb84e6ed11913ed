"""Weights of n-grams, the same in both views of a message."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from ..data.simulate import Array


def tfidf(found: list[int], idf: Array) -> tuple[Array, Array]:
    """Columns of the n-grams in a text, given with repetitions, and their tf-idf, scaled to length 1."""
    counts = Counter(found)
    places = np.array(list(counts), dtype=np.intp)
    values = idf[places]
    if len(counts) < len(found):
        values = (1 + np.log(np.array(list(counts.values()), dtype=float))) * values
    return places, values / (math.sqrt(values @ values) or 1.0)
