"""Rows in memory for selection and calibration: all of them, if there are few."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..dataset import Dataset, Rows
from ..dataset.tree import Array
from .config import Config


class Drawn(NamedTuple):
    rows: Rows  # in the order of their folds
    rank: Array  # (m,) in the order in which they were drawn

    def first(self, size: int) -> Array:
        """Positions of the rows drawn first: a smaller sample."""
        return np.flatnonzero(self.rank < size)


class Sample:
    def __init__(self, data: Dataset, drawn: Rows) -> None:
        self.is_all = drawn.n_rows == data.n_rows
        self._drawn = drawn
        self._data = data
        self._by_size: dict[int, Drawn] = {}

    @classmethod
    def of(cls, data: Dataset, config: Config, seed: int) -> Sample:
        per_row = max(data.n_entries / data.n_rows, 1e-9)
        size = min(data.n_rows, config.rows_to_decide, int(config.entries_to_decide / per_row) + 1)
        return cls(data, data.sample(size, seed))

    def smaller(self, size: int) -> Sample:
        """The rows drawn first, as a smaller sample."""
        return self if size >= self.n_rows else Sample(self._data, self._drawn.take(np.arange(size)))

    @property
    def n_rows(self) -> int:
        return self._drawn.n_rows

    @property
    def n_counted(self) -> float:
        """Rows of the whole table, by weight."""
        return self._data.n_counted

    def first(self, size: int) -> Drawn:
        """The first rows that were drawn, at most this many."""
        size = min(size, self.n_rows)
        if size not in self._by_size:
            order = np.argsort(self._drawn.fold[:size], kind="stable")
            self._by_size[size] = Drawn(self._drawn.take(order), order)
        return self._by_size[size]

    def dataset(self, n_classes: int) -> Dataset:
        """The sample as rows to pass over: the data themselves if it is all of them. But a choice takes so many passes
        that rows on a cluster, once they were drawn, are better passed over here."""
        if self.is_all and not self._data.is_remote:
            return self._data
        from ..engines import ENGINES  # rows in the memory of this process are passed over by its threads

        assert self._data.folds is not None
        whole = Dataset.of(self._drawn._replace(fold=None), ENGINES["local"](-1), n_classes)
        return whole.with_folds(self._data.folds, n_classes)
