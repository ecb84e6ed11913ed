"""Rows in memory for selection and calibration: all of them, if there are few."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..dataset import Dataset, Rows
from ..dataset.tree import Array
from .constants import Config


class SampledRows(NamedTuple):
    rows: Rows  # in the order of their folds
    rank: Array  # (m,) position of each row in the order of the draw

    def first(self, size: int) -> Array:
        """Positions of the rows drawn first: a smaller sample."""
        return np.flatnonzero(self.rank < size)


class Sample:
    def __init__(self, data: Dataset, sampled: Rows) -> None:
        self.is_complete = sampled.n_rows == data.n_rows
        self._sampled = sampled
        self._data = data
        self._by_size: dict[int, SampledRows] = {}

    @classmethod
    def of(cls, data: Dataset, config: Config, seed: int) -> Sample:
        entries_per_row = max(data.n_entries / data.n_rows, 1e-9)
        size = min(data.n_rows, config.sample_rows, int(config.max_sample_entries / entries_per_row) + 1)
        return cls(data, data.sample(size, seed))

    def smaller(self, size: int) -> Sample:
        """The rows drawn first, as a smaller sample."""
        return self if size >= self.n_rows else Sample(self._data, self._sampled.take(np.arange(size)))

    @property
    def n_rows(self) -> int:
        return self._sampled.n_rows

    @property
    def n_counted(self) -> float:
        """Rows of the whole table, by weight."""
        return self._data.n_counted

    def first(self, size: int) -> SampledRows:
        """The rows drawn first, at most `size`."""
        size = min(size, self.n_rows)
        if size not in self._by_size:
            order = np.argsort(self._sampled.fold[:size], kind="stable")
            self._by_size[size] = SampledRows(self._sampled.take(order), order)
        return self._by_size[size]

    def dataset(self, n_classes: int) -> Dataset:
        """The sample as a data set: the data themselves if the sample is complete. Selection takes so many passes that
        rows of a cluster are processed here."""
        if self.is_complete and not self._data.is_remote:
            return self._data
        from ..engines import ENGINES  # rows in memory are processed by local threads

        assert self._data.folds is not None
        whole = Dataset.of(self._sampled._replace(fold=None), ENGINES["local"](-1), n_classes)
        return whole.with_folds(self._data.folds, n_classes)
