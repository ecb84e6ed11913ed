"""Partitions of a table on the workers of a cluster: read, coded, turned into rows and scored where they are.

The results for a partition are kept in a folder of the worker. A worker that does not find them there recomputes them
from the file, with the same result, so a worker may be lost at any time, and nothing has to fit into its memory.
"""

from __future__ import annotations

import pickle
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from .._files import told_if_full, whole_folder
from ..data.batches import Partition, of_size
from ..data.roles import LabelClasses
from ..dataset import Folds, Rows
from ..dataset.tree import Array
from ..text.coded_columns import Codes, positions
from ..text.column_coding import Coding, batch_matrix
from ..text.features import Recipe

_LABELS = "labels"


class Scratch(NamedTuple):
    """The folder of one audit on each worker."""

    name: str

    @property
    def folder(self) -> Path:
        return _local_folder() / self.name

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def _local_folder() -> Path:
    """The folder of this worker, which Dask removes when the worker ends; outside a cluster, a temporary folder."""
    try:
        from distributed import get_worker

        return Path(get_worker().local_directory)
    except (ImportError, ValueError):
        return Path(tempfile.gettempdir())


@dataclass(frozen=True, eq=False)
class Source:
    """One partition of the table, and how its columns are coded."""

    number: int
    partition: Partition
    coding: Coding
    scratch: Scratch
    first: int = 0  # the number of its first row, once known

    def load(self) -> Source:
        return self

    @property
    def folder(self) -> Path:
        return self.scratch.folder / f"{self.number:06d}"

    @property
    def coded_folder(self) -> Path:
        """Named after the tokenizers, since these may be chosen again after the first texts."""
        return self.folder / "-".join(["coded", *(tokenizer.kind for tokenizer in self.coding.tokenizers.values())])

    def frames(self) -> Iterator[pl.DataFrame]:
        """The blocks of rows as read from the file."""
        return (frame for frame in of_size(self.partition) if frame.height)

    def code(self, watch: Callable[[pl.DataFrame, list[Any], tuple[Codes, Codes | None]], None] | None = None) -> None:
        """Code all blocks. watch : called with each block as read, the results of the coders, and its labels"""

        def make(folder: Path) -> int:
            n_blocks, n_before, coders = 0, self.first, self.coding.coders()
            for block, frame in enumerate(self.frames()):
                values = []
                for i, coder in enumerate(coders):
                    coded, what = coder.code(frame[coder.column], n_before)
                    _write(folder / f"{block}.{i}", coded)
                    values.append(what)
                labels = self.coding.labels(frame)
                _write(folder / f"{block}.{_LABELS}", (frame.height, *labels))
                if watch is not None:
                    watch(frame, values, labels)
                n_blocks, n_before = n_blocks + 1, n_before + frame.height
            return n_blocks

        if watch is not None:
            shutil.rmtree(self.coded_folder, ignore_errors=True)
        kept(self.coded_folder, make)

    def coded(self, column: int | str) -> Iterator[Any]:
        """The blocks of one column, or the labels."""
        self.code()
        folder = self.coded_folder
        return (read(folder / f"{block}.{column}") for block in range(n_kept(folder)))


@dataclass(frozen=True, eq=False)
class PartitionRows:
    """The rows of one partition, in the form that the model uses."""

    source: Source
    recipe: Recipe
    classes: LabelClasses
    dtype: Any
    has_verified: bool
    prepare: Callable[[Any], Any] | None = None
    folds: Folds | None = None
    groups: Callable[[pl.DataFrame], Array] | None = None  # codes of labelers and sources

    def prepared(self, prepare: Callable[[Any], Any]) -> PartitionRows:
        return replace(self, prepare=prepare)

    def with_folds(self, folds: Folds) -> PartitionRows:
        return replace(self, folds=folds)

    def with_groups(self, groups: Callable[[pl.DataFrame], Array]) -> PartitionRows:
        return replace(self, groups=groups)

    def load(self) -> PartitionRows:
        """These rows, computed if they are not stored yet."""
        if self.folds is None:
            kept(self._rows, self._make_rows)
        else:
            kept(self._in_folds, self._make_in_folds)
        return self

    def blocks(self) -> Iterator[Rows]:
        blocks = self._blocks()
        if self.groups is None:
            return blocks
        kept(self._groups, self._make_groups)
        pairs = zip(blocks, read_all(self._groups), strict=True)
        return (rows._replace(groups=codes[rows.number - rows.number.min()]) for rows, codes in pairs)

    def _blocks(self) -> Iterator[Rows]:
        if self.folds is not None:
            return read_all(self.load()._in_folds)
        rows: Iterator[Rows] = read_all(self.load()._rows)
        if self.prepare is None:
            return rows
        return (block._replace(X=self.prepare(block.X)) for block in rows)

    def results(self, name: str, judge: Callable[[Rows], Any]) -> Iterator[Any]:
        """The results of `judge` for each block, stored here under a name specific to this judge."""

        def make(folder: Path) -> int:
            n_blocks = 0
            for block in self.blocks():
                _write(folder / str(n_blocks), judge(block))
                n_blocks += 1
            return n_blocks

        kept(self.source.folder / name, make)
        return read_all(self.source.folder / name)

    def frames(self) -> Iterator[pl.DataFrame]:
        return self.source.frames()

    @property
    def _rows(self) -> Path:
        return self.source.folder / "rows"

    @property
    def _in_folds(self) -> Path:
        return self.source.folder / "in_folds"

    @property
    def _groups(self) -> Path:
        return self.source.folder / "groups"

    def _make_groups(self, folder: Path) -> int:
        """In the order of the table; a block has the same rows as before they were sorted by fold."""
        assert self.groups is not None
        n_blocks = 0
        for frame in self.frames():
            _write(folder / str(n_blocks), self.groups(frame))
            n_blocks += 1
        return n_blocks

    def _make_rows(self, folder: Path) -> int:
        self.source.code()
        coded, columns = self.source.coded_folder, [coder.column for coder in self.source.coding.coders()]
        n_blocks, first, wanted = n_kept(coded), self.source.first, {part.column for part in self.recipe.parts}
        for block in range(n_blocks):
            cells = {name: read(coded / f"{block}.{i}") for i, name in enumerate(columns) if name in wanted}
            n_rows, labels, verified = read(coded / f"{block}.{_LABELS}")
            _write(folder / str(block), self._block(cells, labels, verified, np.arange(first, first + n_rows)))
            first += n_rows
        shutil.rmtree(coded, ignore_errors=True)  # only the rows are needed from now on
        return n_blocks

    def _block(self, cells: Mapping[str, Any], labels: Codes, verified: Codes | None, number: Array) -> Rows:
        observed = _class_codes(labels, self.classes)
        observed[observed < 0] = len(self.classes.classes)
        known = None if verified is None else _class_codes(verified, self.classes)
        return Rows(batch_matrix(self.recipe, cells, self.dtype), observed, known, None, number)

    def _make_in_folds(self, folder: Path) -> int:
        """Sort the rows once rather than in every pass."""
        assert self.folds is not None
        n_blocks = 0
        for block in replace(self, folds=None).blocks():
            _write(folder / str(n_blocks), block.in_folds(self.folds))
            n_blocks += 1
        shutil.rmtree(self._rows, ignore_errors=True)
        return n_blocks


def _class_codes(labels: Codes, known: LabelClasses) -> Array:
    """(n,) int32: positions in the classes, -1 where missing."""
    names = pl.Series(known.classes, dtype=pl.String)
    codes = np.append(positions(known.variants.applied(labels.values), names), -1)
    return np.asarray(codes[labels.codes].astype(np.int32))


def kept(folder: Path, make: Callable[[Path], int]) -> None:
    """A folder of numbered files, written by `make` unless it exists, all or nothing."""
    if not (folder / "done").exists():
        with told_if_full(folder.parent), whole_folder(folder) as made:
            n_blocks = make(made)
            (made / "done").write_text(str(n_blocks), encoding="ascii")


def n_kept(folder: Path) -> int:
    return int((folder / "done").read_text(encoding="ascii"))


def read_all(folder: Path) -> Iterator[Any]:
    return (read(folder / str(block)) for block in range(n_kept(folder)))


def read(path: Path) -> Any:
    with path.open("rb") as file:
        return pickle.load(file)


def _write(path: Path, value: Any) -> None:
    with path.open("wb") as file:
        pickle.dump(value, file, protocol=5)
