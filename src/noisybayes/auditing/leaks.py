"""Columns that give the label away: an audit that learns from one finds that nearly no label is wrong.

A column that was made from the label repeats its mistakes, which no other column can know. So it predicts the labels of
rows that it was not fitted on nearly perfectly, by a single value or word per class, and all other columns together
predict them clearly worse. A column that only describes the rows well fails in one of the two: a long text needs many
words, and mistakes in the labels look the same to all columns.
"""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import polars as pl
from scipy import sparse

from .._shares import whole_percent
from ..audit.columns import Array
from ..data.cells import as_text
from ..text.features import Recipe, feature_columns
from .table import Table

_ROWS, _LEAST_ROWS, _MOST_CELLS = 2_000, 50, 400_000
_LONGEST_CELL = 2_000
_MOST_NUMBERS = 50  # a number with more values is a measurement
_MOST_WRONG = 0.08  # share of the labels that a leak misses, at most,
_SKILL = 0.8  # and of the errors of the most frequent label that it avoids, at least
_WORSE = 2.0  # the other columns make at least this many times the errors,
_Z = 3.0  # and the difference is this many standard deviations


def leak_warnings(table: Table, recipe: Recipe, observed: Array, n_classes: int) -> tuple[str, ...]:
    """A warning for each column that gives the label away. observed : codes of the labels; n_classes where missing"""
    columns = feature_columns(table.roles)
    frame = next(iter(table.batches()), pl.DataFrame())
    labeled = np.flatnonzero(np.asarray(observed[: frame.height]) < n_classes)
    n_rows = min(_ROWS, _MOST_CELLS // max(len(columns), 1))
    rows = np.sort(np.random.default_rng(0).permutation(labeled)[:n_rows])
    y = np.asarray(observed)[rows]
    if len(columns) < 2 or len(rows) < _LEAST_ROWS or len(np.unique(y)) < 2:
        return ()
    frame = frame.select(columns)[rows]
    usual = float((y != np.bincount(y).argmax()).mean())
    wrong = {name: _wrong_by_one_value(frame[name], y) for name in columns if _is_code(frame[name])}
    most = min(_MOST_WRONG, (1 - _SKILL) * usual)
    wrong = {name: errors for name, errors in wrong.items() if errors.mean() < most}
    others = [i for block in recipe.blocks if block.column not in wrong for i in range(block.start, block.stop)]
    if not wrong or not others:
        return ()
    wrong_by_others = _wrong_by_model(recipe.transform(frame)[:, others], y)
    return tuple(
        f"The column {name!r} alone predicts {whole_percent(1 - errors.mean())} of the labels, all others together "
        f"{whole_percent(1 - wrong_by_others.mean())}: it seems to be made from the label, so it hides wrong "
        "labels, and their estimated number is too low. Name the columns to learn from, without this one."
        for name, errors in wrong.items()
        if _is_better(errors, wrong_by_others)
    )


def _is_code(column: pl.Series) -> bool:
    return not column.dtype.is_numeric() or column.n_unique() <= _MOST_NUMBERS


def _is_better(errors: Array, of_others: Array) -> bool:
    gained, lost = int((of_others & ~errors).sum()), int((errors & ~of_others).sum())
    return int(of_others.sum()) >= _WORSE * int(errors.sum()) and gained - lost > _Z * (gained + lost) ** 0.5


def _wrong_by_one_value(column: pl.Series, y: Array) -> Array:
    """(n,) whether each label is missed by the value or word that best stands for a class in the other half."""
    places: dict[str, int] = {}
    texts = as_text(column).fill_null("").to_list()
    found = {cell: {places.setdefault(value, len(places)) for value in _values(cell)} for cell in dict.fromkeys(texts)}
    cells = [found[cell] for cell in texts]
    ends = np.cumsum([0, *map(len, cells)])
    X = sparse.csr_array((np.ones(ends[-1]), [place for cell in cells for place in cell], ends))
    wrong, half = np.ones(len(y), dtype=bool), np.random.default_rng(1).permutation(len(y)) % 2
    is_class = sparse.csr_array((np.ones(len(y)), (np.arange(len(y)), y)))
    for part in (0, 1):
        fit, held_out = half != part, half == part
        f1 = (X[fit].T @ is_class[fit]).tocoo()
        f1.data *= 2 / (X[fit].sum(axis=0)[f1.row] + is_class[fit].sum(axis=0)[f1.col])
        best, height = f1.tocsc().argmax(axis=0), f1.tocsc().max(axis=0).toarray()
        scores = X[held_out][:, best].toarray() * height
        wrong[held_out] = (scores.argmax(axis=1) != y[held_out]) | (scores.max(axis=1) == 0)
    return wrong


def _values(cell: str) -> list[str]:
    """The cell itself, its words and pairs of words: a nested field is JSON."""
    words = re.findall(r"\w+", cell[:_LONGEST_CELL].casefold())
    return [f"={cell}", *words, *(f"{a} {b}" for a, b in pairwise(words))]


def _wrong_by_model(X: Array, y: Array) -> Array:
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import KFold, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(with_mean=False), LogisticRegression(C=0.1, max_iter=100))
    return np.asarray(cross_val_predict(model, X, y, cv=KFold(3, shuffle=True, random_state=0)) != y)
