"""Results for single rows as one table, if all rows are in this process."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from ..audit.columns import Array
from ..audit.rows import Results, rows_frame
from .columns import Columns


@dataclass(frozen=True, eq=False)
class RowTable:
    results: Results
    n_changed: int  # number of corrected labels

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The one frame of results."""
        return rows_frame(self.results)

    @property
    def labeled(self) -> Array:
        """(n,) bool"""
        return np.asarray(self.results.observed < len(self.results.classes))

    @property
    def n_rows(self) -> int:
        return len(self.results.observed)

    @property
    def n_labeled(self) -> int:
        return int(self.labeled.sum())

    @property
    def n_verified(self) -> int:
        return int(self.results.verified.sum())

    @property
    def n_suspects(self) -> int:
        return int(self.results.suspect.sum())

    @property
    def table(self) -> Columns:
        """One row per example."""
        return Columns(dict(zip(self.frame.columns, self.frame.get_columns(), strict=True)))

    @property
    def suspects(self) -> Columns:
        return self.table.take(self.most_suspicious(self.n_rows))

    def most_suspicious(self, most: int) -> Array:
        """Positions of the most suspicious rows, in order."""
        rows = np.flatnonzero(self.results.suspect)
        return np.asarray(rows[np.argsort(-self.results.p_wrong[rows], kind="stable")][:most])

    def further(self, most: int) -> Array:
        """The next ones, which are no suspects."""
        rows = np.flatnonzero(self.labeled & ~self.results.suspect)
        return np.asarray(rows[np.argsort(-self.results.p_wrong[rows], kind="stable")][:most])

    @property
    def suspects_by(self) -> Array:
        """(K, K) number of suspects by given and suggested label."""
        rows = np.flatnonzero(self.results.suspect)
        counts = np.zeros((len(self.results.classes), len(self.results.classes)), dtype=int)
        np.add.at(counts, (self.results.observed[rows], self.results.suggested[rows]), 1)
        return counts

    def frame_of(self, rows: Array) -> pl.DataFrame:
        """The frame of some rows."""
        return self.frame[rows]

    def labels_of(self, rows: Array) -> tuple[Array, Array]:
        """Codes of the given and the suggested labels of some rows, which must have a label."""
        given = self.results.observed[rows]
        if (given == len(self.results.classes)).any():
            row = rows[np.argmax(given == len(self.results.classes))]
            raise ValueError(f"row {row} has no label, so there is nothing to explain; leave it out")
        return given, self.results.suggested[rows]
