"""Why a row is suspected: what each column adds to the log-odds of the suggested label against the given one.

    log P(suggested | x, y) / P(given | x, y) = sum of the columns' terms + rest + label

`rest` are the columns that have no term of their own (words that are absent); `label` is what the given label itself,
the class shares and verified rows say, mostly how seldom the one label stands where the other should.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..estimators.folds import FoldFits
from ..model.tree import Array
from .judge import Judged

_LEAST = 1e-12


class Evidence(NamedTuple):
    row: int
    columns: Array  # the most telling ones first
    weights: Array  # what each adds
    rest: float
    label: float
    log_odds: float


def evidence(judged: Judged, rows: Array, suggested: Array, given: Array, most: int) -> list[Evidence]:
    """Of each of `rows`, for class codes `suggested` against `given`."""
    rows, suggested, given = (np.asarray(values, dtype=np.intp) for values in (rows, suggested, given))
    if not len(rows):
        return []
    every, scores = np.arange(len(rows)), judged.scores.take(rows)
    true = np.maximum(judged.true(rows, scores), _LEAST)
    log_odds = np.log(true[every, suggested]) - np.log(true[every, given])
    by_class = np.tensordot(judged.calibration.temperature, scores, axes=1)
    by_features = by_class[every, suggested] - by_class[every, given]
    terms = _terms(judged, rows, suggested, given)
    if terms is None:
        none = np.zeros(0)
        return [
            Evidence(int(row), none.astype(int), none, float(features), float(total - features), float(total))
            for row, features, total in zip(rows, by_features, log_odds, strict=True)
        ]
    found = []
    for i, row in enumerate(rows):
        columns, weights = _largest(terms, i, most)
        rest = float(by_features[i] - weights.sum())
        found.append(
            Evidence(int(row), columns, weights, rest, float(log_odds[i] - by_features[i]), float(log_odds[i]))
        )
    return found


def _terms(judged: Judged, rows: Array, suggested: Array, given: Array) -> object | None:
    fits: FoldFits | None = judged.fits
    if fits is None or fits.found.choice.variant.scores[0].family is None:
        return None
    terms: object = fits.terms(judged.design, rows, suggested, given)
    return terms


def _largest(terms: object, row: int, most: int) -> tuple[Array, Array]:
    """The columns with the largest terms, either way, of one row of a CSR array."""
    start, stop = terms.indptr[row], terms.indptr[row + 1]  # type: ignore[attr-defined]
    columns, weights = terms.indices[start:stop], terms.data[start:stop]  # type: ignore[attr-defined]
    chosen = np.argsort(-np.abs(weights), kind="stable")[:most]
    return np.asarray(columns[chosen]), np.asarray(weights[chosen])
