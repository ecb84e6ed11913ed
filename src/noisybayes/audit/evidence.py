"""Why a row is suspected: what its columns add to the log-odds of one label against another.

    log P(a | x, y) / P(b | x, y) = mean over the voices of  temperature * (score[a] - score[b])  + the label's part

Scores of naive Bayes and ridge are sums over columns; those of a forest, of vectors and of curves are not sums over
columns that a reader knows, and count as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .columns import CURVES, PROBABILITIES, VECTORS, Block
from .pool import Pool
from .scores import Learned, Linear

Array = NDArray[Any]

_DESCRIBED = {
    CURVES: "the numbers together", VECTORS: "embeddings", PROBABILITIES: "given probabilities",
    None: "the columns together",
}  # fmt: skip


class Evidence(NamedTuple):
    row: int
    columns: Array  # largest weights first
    weights: Array  # weight of each
    rest: float
    label: float
    log_odds: float
    others: tuple[tuple[str, float], ...] = ()  # what is no sum over the columns: description and weight


class Terms(NamedTuple):
    of_columns: Any  # (m, d) CSR over the columns of the recipe
    together: dict[str, Array]  # description -> (m,)
    by_features: Array  # (m,) their sum, and what has no column, such as absent words


def terms_of(
    pool: Pool, columns: Sequence[Block], n_features: int, rows: Array, first: Array, second: Array
) -> Terms:  # fmt: skip
    """For some rows, class codes `first` against `second`; each row under what was learned without its fold."""
    place = np.empty(len(pool.order), dtype=np.intp)
    place[pool.order] = np.arange(len(pool.order))
    at = place[rows]
    fold = np.searchsorted(pool.starts, at, side="right") - 1
    of_columns, by_features = sparse.csr_array((len(rows), n_features)), np.zeros(len(rows))
    together: dict[str, Array] = {}
    for voice in pool.voices:
        shares = voice.reading.temperature / len(pool.voices)
        for temperature, scores, models in zip(shares, voice.learned.values, _models(voice.learned), strict=True):
            added = temperature * (scores[first, at] - scores[second, at]).astype(np.float64)
            by_features += added
            if not models:
                together[_DESCRIBED[None]] = together.get(_DESCRIBED[None], 0.0) + added
                continue
            for part, number in enumerate(models[0].blocks):
                block, weights = columns[number], [model.weights[part] for model in models]
                terms = _products(block.values[rows], weights, fold, first, second, temperature)
                if block.at is not None:
                    of_columns = of_columns + _at_columns(terms, block.at, n_features)
                else:
                    name = _DESCRIBED[block.kind]
                    together[name] = together.get(name, 0.0) + np.asarray(terms.sum(axis=1)).ravel()
    return Terms(sparse.csr_array(of_columns), together, by_features)


def _models(learned: Learned) -> list[list[Linear]]:
    """For each kind of score the sums over columns of each fold, or of all rows; an empty list if it is none."""
    by_fold = learned.by_fold or (learned.full(),)
    layers = [[one if isinstance(one, Linear) else None for one in layer] for layer in zip(*by_fold, strict=True)]
    return [[one for one in layer if one is not None] for layer in layers]


def _products(values: Any, weights: Sequence[Array], fold: Array, first: Array, second: Array, factor: float) -> Any:
    """(m, d) CSR: each value of a row times the difference of its weights, under the model of its fold."""
    values = sparse.csr_array(values)
    row = np.repeat(np.arange(values.shape[0]), np.diff(values.indptr))
    difference = np.empty(len(values.data))
    model = fold if len(weights) > 1 else np.zeros_like(fold)
    for number in np.unique(model).tolist():
        mine = np.flatnonzero(model[row] == number)
        column, of_row = values.indices[mine], row[mine]
        difference[mine] = weights[number][column, first[of_row]] - weights[number][column, second[of_row]]
    return sparse.csr_array((factor * values.data * difference, values.indices, values.indptr), shape=values.shape)


def _at_columns(values: Any, at: Any, n_columns: int) -> Any:
    """The same at the columns `at` of a matrix of `n_columns`."""
    columns = np.arange(n_columns)[at][values.indices]
    return sparse.csr_array((values.data, columns, values.indptr), shape=(values.shape[0], n_columns))


def largest(terms: Any, row: int, most: int) -> tuple[Array, Array]:
    """The columns with the largest terms in absolute value, in one row of a CSR array."""
    start, stop = terms.indptr[row], terms.indptr[row + 1]
    columns, weights = terms.indices[start:stop], terms.data[start:stop]
    chosen = np.argsort(-np.abs(weights), kind="stable")[:most]
    return np.asarray(columns[chosen]), np.asarray(weights[chosen])
