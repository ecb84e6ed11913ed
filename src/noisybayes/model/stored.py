"""Rows that stay on disk: a design that is read block by block, and chunks that are read where they are used."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from .rows import Design, Rows, split
from .shards import Shards
from .tree import Array


class Stored:
    """Shards, and how a block of them is prepared for the model."""

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
    """One block of rows; small enough to be sent to whoever reads it."""

    design: Stored
    number: int
    observed: Array
    verified: Array | None
    weight: Array | None

    @property
    def n_rows(self) -> int:
        return len(self.observed)

    def load(self) -> Rows:
        return Rows(self.design.read(self.number), self.observed, self.verified, self.weight)


#: What is read where it is used: rows in memory, or one block on disk.
Chunk = Rows | StoredRows


def chunks_of(rows: Rows, n_components: int) -> Sequence[Chunk]:
    """Rows in memory are cut for the cache; stored ones are read block by block."""
    return _stored_chunks(rows, rows.X) if isinstance(rows.X, Stored) else split(rows, n_components)


class WhenLoaded(NamedTuple):
    """A function of rows as one of chunks."""

    fn: Callable[[Rows], Any]

    def __call__(self, chunk: Chunk) -> Any:
        return self.fn(chunk.load())


def _stored_chunks(rows: Rows, design: Stored) -> list[StoredRows]:

    def cut(values: Any, number: int) -> Any:
        return None if values is None else values[design.edges[number] : design.edges[number + 1]]

    return [
        StoredRows(design, number, *(cut(values, number) for values in rows[1:])) for number in range(design.n_blocks)
    ]
