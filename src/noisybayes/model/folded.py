"""Rows in folds, read block by block in threads; and the scores of every row by what was learned without its fold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np

from .._threads import in_threads
from .calibration import Labels, Scores, centred
from .rows import Design, Rows, row_slice, split
from .short_rows import pieces_of
from .stored import Stored
from .tree import Array, add_into

#: Scores of more bytes than this are not kept, but found anew in every pass.
KEPT_BYTES = 256 << 20

Result = TypeVar("Result")
Item = TypeVar("Item")


class Block(NamedTuple):
    rows: Array  # (m,) which of all rows these are; those of one fold side by side
    runs: tuple[tuple[int, int, int], ...]  # fold, start, stop
    load: Callable[[], Design]


class Folded(NamedTuple):
    """Rows with a fold for each; `labels`, `fold` and whatever is found for all rows are in the order of the rows."""

    design: Design  # of these rows and maybe others, in memory or stored
    where: Array | None  # (n,) which rows of the design these are; None: all of them
    labels: Labels
    fold: Array  # (n,)
    n_folds: int
    blocks: list[Block]

    @property
    def n_rows(self) -> int:
        return len(self.fold)

    def take(self, rows: Array) -> Design:
        """The features of some rows, in memory."""
        return take_rows(self.design, rows if self.where is None else self.where[rows])

    def rows(self, rows: Array) -> Rows:
        """Some rows, in memory."""
        return Rows(self.take(rows), *self.labels.take(rows))

    def in_block_order(self) -> Array:
        return np.concatenate([block.rows for block in self.blocks])

    def without(self, fold: int) -> Folded:
        """The rows of the other folds; blocks must be of one fold each, as they are in memory."""
        kept = np.flatnonzero(self.fold != fold)
        number = np.empty(self.n_rows, dtype=np.intp)
        number[kept] = np.arange(len(kept))
        blocks = [
            block._replace(rows=number[block.rows], runs=((own - (own > fold), start, stop),))
            for block in self.blocks
            for own, start, stop in block.runs
            if own != fold
        ]
        folds = self.fold[kept]
        return Folded(
            self.design,
            kept if self.where is None else self.where[kept],
            self.labels.take(kept),
            folds - (folds > fold),
            self.n_folds - 1,
            blocks,
        )


def deal_folds(observed: Array, n_folds: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """(n,) a random fold for each row, each label dealt out evenly; and the rows in random order."""
    n = len(observed)
    shuffled = rng.permutation(np.arange(n, dtype=np.int32 if n < 2**31 else np.int64))
    fold = np.empty(n, dtype=np.int16)
    fold[shuffled[np.argsort(observed[shuffled], kind="stable")]] = np.arange(n) % min(n_folds, n)
    return fold, shuffled


def into_folds(rows: Rows, fold: Array, order: Array, n_classes: int) -> Folded:
    """`order`: in memory the rows of a fold are laid side by side, in this order."""
    n_folds = int(fold.max()) + 1
    labels = labels_of(rows)
    make = _stored_blocks if isinstance(rows.X, Stored) else _blocks
    return Folded(rows.X, None, labels, fold, n_folds, make(rows, fold, order, n_classes))


def labels_of(rows: Rows) -> Labels:
    # one number that looks like many: of millions of rows, ones would take megabytes
    weight = np.broadcast_to(1.0, rows.n_rows) if rows.weight is None else rows.weight
    return Labels(rows.observed, rows.verified, weight)


def _blocks(rows: Rows, fold: Array, order: Array, n_classes: int) -> list[Block]:
    """Chunks of one fold each, views of one copy of all rows."""
    order = order[np.argsort(fold[order], kind="stable")]
    ordered = rows.take(order)
    blocks = []
    edges = np.searchsorted(fold[order], np.arange(int(fold.max()) + 2))
    for f, (start, stop) in enumerate(pairwise(edges)):
        for chunk in split(ordered.view(start, stop), n_classes):
            ids = order[start : start + chunk.n_rows]
            blocks.append(Block(ids, ((f, 0, chunk.n_rows),), partial(_same, chunk.X)))
            start += chunk.n_rows
    return blocks


def _same(design: Design) -> Design:
    return design


def _stored_blocks(rows: Rows, fold: Array, order: Array, n_classes: int) -> list[Block]:
    """Blocks as they are on disk, each put in the order of the folds when it is read."""
    design: Stored = rows.X
    blocks = []
    for number, (start, stop) in enumerate(zip(design.edges[:-1], design.edges[1:], strict=True)):
        inside = np.argsort(fold[start:stop], kind="stable")
        edges = np.searchsorted(fold[start:stop][inside], np.arange(int(fold.max()) + 2))
        runs = tuple((f, int(a), int(z)) for f, (a, z) in enumerate(pairwise(edges)) if z > a)
        ids = (start + inside).astype(np.min_scalar_type(rows.n_rows))
        blocks.append(Block(ids, runs, partial(_read_sorted, design, number, ids)))
    return blocks


def _read_sorted(design: Stored, number: int, ids: Array) -> Design:
    return take_rows(design.read(number), ids - ids.dtype.type(design.edges[number]))


def take_rows(design: Design, rows: Array) -> Design:
    """Rows of a matrix, or of a tuple of blocks."""
    return tuple(block[rows] for block in design) if isinstance(design, tuple) else design[rows]


class KeptScores:
    """Scores (B, n, K), with mean 0 over the classes."""

    def __init__(self, values: Array, n_threads: int = 1) -> None:
        self.values, self.n_threads = values, n_threads

    @property
    def n_rows(self) -> int:
        return int(self.values.shape[1])

    def take(self, rows: Array) -> Array:
        return np.asarray(self.values[:, rows], dtype=np.float64)

    def weighed(self, temperature: Array) -> KeptScores:
        return KeptScores(np.tensordot(temperature, self.values, axes=1)[None], self.n_threads)

    def kept_if_small(self) -> KeptScores:
        return self

    def map(self, fn: Callable[[Any, Array], Result]) -> Iterator[tuple[Any, Result]]:
        """fn(rows, their scores (B, m, K)) over all rows, piece by piece, each with the rows that it is of."""

        def of_piece(rows: slice) -> tuple[Any, Result]:
            return rows, fn(rows, self.values[:, rows])

        pieces = pieces_of(*self.values.shape[1:])
        yield from in_threads(of_piece, pieces, self.n_threads if len(pieces) > 1 else 1)


#: (fold, features) -> scores (B, n, K)
ScoreFold = Callable[[int, Design], Array]


class LazyScores:
    """The same, found anew in every pass by scoring block after block. `weigh`: from temperatures to their sum."""

    def __init__(self, folded: Folded, score: ScoreFold, n_threads: int, weigh: Callable[[Array], ScoreFold]) -> None:
        self.folded, self.score, self.n_threads, self.weigh = folded, score, n_threads, weigh

    @property
    def n_rows(self) -> int:
        return self.folded.n_rows

    def kept_if_small(self) -> Scores:
        one = self._take(np.arange(1))
        if one.nbytes * self.n_rows > KEPT_BYTES:
            return self
        return KeptScores(self.all(), self.n_threads)

    def weighed(self, temperature: Array) -> LazyScores:
        return LazyScores(self.folded, self.weigh(temperature), self.n_threads, self.weigh)

    def all(self) -> Array:
        """(B, n, K)"""
        one = self._take(np.arange(1))
        values = np.empty((len(one), self.n_rows, one.shape[2]), dtype=one.dtype)

        def put(rows: Array, scores: Array) -> None:
            for whole, part in zip(values, scores, strict=True):  # thrice as fast as values[:, rows] = scores
                whole[rows] = part

        for _ in self.map(put):
            pass
        return values

    def take(self, rows: Array) -> Array:
        """Scores of some rows, each without its fold."""
        return self._take(rows).astype(np.float64, copy=False)

    def _take(self, rows: Array) -> Array:
        fold = self.folded.fold[rows]
        parts = [np.flatnonzero(fold == f) for f in np.unique(fold)]
        designs = (self.folded.take(rows[part]) for part in parts)
        scores = [self.score(int(fold[part[0]]), design) for part, design in zip(parts, designs, strict=True)]
        return centred(np.concatenate(scores, axis=1)[:, np.argsort(np.concatenate(parts), kind="stable")])

    def map(self, fn: Callable[[Any, Array], Result]) -> Iterator[tuple[Any, Result]]:
        def of_block(block: Block) -> tuple[Any, Result]:
            return block.rows, fn(block.rows, centred(self._block(block)))

        yield from in_threads(of_block, self.folded.blocks, self.n_threads)

    def _block(self, block: Block) -> Array:
        design = block.load()
        scores = [self.score(f, row_slice(design, start, stop)) for f, start, stop in block.runs]
        return scores[0] if len(scores) == 1 else np.concatenate(scores, axis=1)


def gathered_rows(n_rows: int, parts: Iterable[tuple[Any, Sequence[Array]]]) -> list[Array]:
    """Arrays with one entry per row from the pieces of a `map` that returns several of them."""
    found: list[Array] = []
    for rows, values in parts:
        found = found or [np.empty((n_rows, *np.shape(value)[1:]), dtype=np.asarray(value).dtype) for value in values]
        for whole, value in zip(found, values, strict=True):
            whole[rows] = value
    return found


def sum_by_fold(folded: Folded, fn: Callable[[Design, Array], Any], n_threads: int) -> list[Any]:
    """fn(features, rows) of the rows of each fold, added up."""

    def of_block(block: Block) -> list[tuple[int, Any]]:
        design = block.load()
        return [(f, fn(row_slice(design, start, stop), block.rows[start:stop])) for f, start, stop in block.runs]

    sums: list[Any] = [None] * folded.n_folds
    for parts in in_threads(of_block, folded.blocks, n_threads):
        for f, part in parts:
            sums[f] = part if sums[f] is None else add_into(sums[f], part)
    return sums
