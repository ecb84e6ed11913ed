"""Why a row is suspected: what each column adds to the log-odds of the suggested label against the given one.

    log P(suggested | x, y) / P(given | x, y) = sum of the columns' terms + rest + label

`rest` are the columns that have no term of their own (words that are absent); `label` is what the given label itself,
the class shares and verified rows say, mostly how seldom the one label stands where the other should.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..dataset.tree import Array
from .judged import Judged

# A probability of zero has no logarithm.
_LEAST = 1e-12


class Evidence(NamedTuple):
    row: int
    columns: Array  # those with the largest weights first
    weights: Array  # what each adds
    rest: float
    label: float
    log_odds: float


def evidence(judged: Judged, numbers: Array, suggested: Array, given: Array, most: int) -> list[Evidence]:
    """Of each of the rows `numbers`, for class codes `suggested` against `given`."""
    numbers, suggested, given = (np.asarray(values, dtype=np.intp) for values in (numbers, suggested, given))
    if not len(numbers):
        return []
    rows, order = judged.take(numbers)
    suggested, given = suggested[order], given[order]
    every, scores = np.arange(len(order)), judged.fitted.scorer.scores(rows)[0, :, 0]
    true = np.maximum(judged.true(rows), _LEAST)
    log_odds = np.log(true[every, suggested]) - np.log(true[every, given])
    by_features = (scores[every, suggested] - scores[every, given]).astype(np.float64)
    terms = None if judged.training is None else judged.training.terms(rows, suggested, given)
    found: list[Evidence] = [None] * len(order)  # type: ignore[list-item]
    for i, at in enumerate(order):
        columns, weights = _largest(terms, i, most)
        rest = float(by_features[i] - weights.sum())
        found[at] = Evidence(
            int(numbers[at]), columns, weights, rest, float(log_odds[i] - by_features[i]), float(log_odds[i])
        )
    return found


def _largest(terms: Any, row: int, most: int) -> tuple[Array, Array]:
    """The columns with the largest terms, either way, of one row of a CSR array."""
    if terms is None:
        return np.zeros(0, dtype=int), np.zeros(0)
    start, stop = terms.indptr[row], terms.indptr[row + 1]
    columns, weights = terms.indices[start:stop], terms.data[start:stop]
    chosen = np.argsort(-np.abs(weights), kind="stable")[:most]
    return np.asarray(columns[chosen]), np.asarray(weights[chosen])
