"""Samples of labeled rows, wherever they are: whether a row or a label is drawn depends on its number and the seed."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from ..dataset.folds import hashed
from ..dataset.tree import Array, Pieces
from ..robust.labeled_rows import LabeledRows, OverRows, joined

# Rows and labels are drawn by different hashes.
_ROWS, _LABELS = 0x524F, 0x4C41


class Sizes(NamedTuple):
    n_rows: Array
    n_labels: Array  # (G + 1,) of each labeler; the last: unknown


def sizes_of(over_rows: OverRows) -> Sizes:
    sizes: Sizes = over_rows(_sizes)
    return sizes


def _sizes(rows: LabeledRows) -> Sizes:
    n_labels = np.bincount(rows.given.labeler, minlength=rows.given.n_labelers + 1)
    return Sizes(np.asarray(float(len(rows.log_prior))), n_labels.astype(float))


def some_rows(over_rows: OverRows, sizes: Sizes, most: int, seed: int) -> LabeledRows:
    """At most this many rows, drawn at random, in their order."""
    limit = _limits(np.array([float(most)]), np.asarray(sizes.n_rows)[None])[0]
    rows = joined(over_rows(partial(_rows_below, limit=limit, seed=seed ^ _ROWS)).items)
    if len(rows.log_prior) <= most:
        return rows
    kept = np.sort(np.argsort(hashed(seed ^ _ROWS, rows.numbers))[:most])
    return rows.take(kept, np.flatnonzero(np.isin(rows.given.row, kept)))


def some_labels(over_rows: OverRows, sizes: Sizes, most: int, seed: int) -> LabeledRows:
    """Rows and their labels: all, or an equal number per labeler with at most `most` labels in total."""
    share = _share(sizes.n_labels, most)
    limits = _limits(np.full(len(sizes.n_labels), share), sizes.n_labels)
    rows = joined(over_rows(partial(_labels_below, limits=limits, seed=seed ^ _LABELS)).items)
    labeler, keys = rows.given.labeler, rows.label_keys(seed ^ _LABELS)
    order = np.lexsort((keys, labeler))
    n_drawn = np.bincount(labeler)
    first = np.repeat(np.cumsum(n_drawn) - n_drawn, n_drawn)
    which = np.sort(order[np.arange(len(order)) - first < share])
    return rows.take(np.unique(rows.given.row[which]), which)


def _share(n_labels: Array, most: int) -> float:
    """The number of labels per labeler with which at most `most` are drawn in total."""
    if n_labels.sum() <= most:
        return float(n_labels.max())
    limit = np.sort(n_labels[n_labels > 0])
    kept = np.cumsum(limit) + limit * np.arange(len(limit) - 1, -1, -1)
    share = limit[np.searchsorted(kept, most) - 1] if kept[0] <= most else 1.0
    return max(float(share), float(most // len(limit)))


def _limits(wanted: Array, n: Array) -> Array:
    """uint64 below which almost surely enough of n random numbers are, but not many more."""
    share = (wanted + 6 * np.sqrt(wanted) + 10) / np.maximum(n, 1.0)
    return np.where(share < 1, (np.where(share < 1, share, 0.0) * 2.0**64).astype(np.uint64), np.uint64(2**64 - 1))


def _rows_below(rows: LabeledRows, limit: Array, seed: int) -> Pieces:
    kept = np.flatnonzero(hashed(seed, rows.numbers) <= limit)
    return Pieces([rows.take(kept, np.flatnonzero(np.isin(rows.given.row, kept)))])


def _labels_below(rows: LabeledRows, limits: Array, seed: int) -> Pieces:
    which = np.flatnonzero(rows.label_keys(seed) <= limits[rows.given.labeler])
    return Pieces([rows.take(np.unique(rows.given.row[which]), which)])
