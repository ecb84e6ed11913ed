"""Rows that stay on disk: a design that is read block by block, where it is used."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from .folds import Folds
from .rows import Design, Rows
from .shards import Shards
from .tree import Array


class StoredDesign:
    """Shards, and the function that prepares a block of them for the model."""

    def __init__(self, shards: Shards, prepare: Callable[[Any], Design]) -> None:
        self.shards, self.prepare = shards, prepare
        self.dtype: np.dtype[Any] = shards.dtype
        self.shape, self.nnz = shards.shape, shards.nnz

    def __len__(self) -> int:
        return len(self.shards)

    def __getitem__(self, rows: Array) -> Design:
        """Some rows, in memory."""
        return self.prepare(self.shards.take(np.asarray(rows)))

    @property
    def edges(self) -> Array:
        return self.shards.edges

    @property
    def n_blocks(self) -> int:
        return len(self.shards.blocks)

    def read(self, number: int) -> Design:
        return self.prepare(self.shards.read(number))

    def __iter__(self) -> Iterator[Design]:
        return map(self.read, range(self.n_blocks))


class StoredRows(NamedTuple):
    """A description of one block of rows; small enough to be sent to the process that reads it."""

    design: StoredDesign
    block: int
    first: int  # the number of its first row
    observed: Array
    verified: Array | None
    weight: Array | None
    folds: Folds | None
    groups: Array | None = None

    @property
    def n_rows(self) -> int:
        return len(self.observed)

    @property
    def has_verified(self) -> bool:
        return self.verified is not None

    def load(self) -> Rows:
        number = np.arange(self.first, self.first + self.n_rows)
        rows = Rows(self.design.read(self.block), self.observed, self.verified, self.weight, number, None, self.groups)
        return rows if self.folds is None else rows.in_folds(self.folds)

    def with_folds(self, folds: Folds) -> StoredRows:
        return self._replace(folds=folds)

    def with_groups(self, groups: Array) -> StoredRows:
        """groups : (n, C) of all rows"""
        return self._replace(groups=groups[self.first : self.first + self.n_rows])


def stored_parts(rows: Rows, folds: Folds | None) -> list[StoredRows]:
    """Rows whose X is `StoredDesign`, block by block."""
    design: StoredDesign = rows.X

    def block_of(values: Any, block: int) -> Any:
        return None if values is None else values[design.edges[block] : design.edges[block + 1]]

    def part(block: int) -> StoredRows:
        observed, verified, weight = (block_of(values, block) for values in (rows.observed, rows.verified, rows.weight))
        return StoredRows(design, block, int(design.edges[block]), observed, verified, weight, folds)

    return [part(block) for block in range(design.n_blocks)]
