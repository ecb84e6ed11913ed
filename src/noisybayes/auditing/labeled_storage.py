"""Where labels and P(true | x) of all rows are while the labelers' matrices are fitted, which takes many passes: in
memory if the features are, in files next to the shards, or in the folders of the workers. Rows are scored only once.
"""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .._files import told_if_full
from ..dataset import Dataset, Rows
from ..dataset.tree import Array, summed
from ..engines import ENGINES
from ..robust.labeled_rows import LabeledRows, OverRows, ToLabeledRows, held_here
from .partition_rows import PartitionRows

_NAME = "labeled"


@contextmanager
def labeled_rows(data: Dataset, to_labeled: ToLabeledRows, place: Path | None) -> Iterator[OverRows]:
    """place : a folder for the files of rows on disk"""
    if data.is_remote:
        yield _OnWorkers(data, to_labeled)
    elif data.rows is not None:
        yield held_here(data, to_labeled)
    else:
        with tempfile.TemporaryDirectory(dir=place, prefix=_NAME) as folder:
            data.map_sum(_Write(Path(folder), to_labeled))
            yield _InFiles(tuple(sorted(Path(folder).iterdir())))


@dataclass(frozen=True)
class _OnWorkers:
    data: Dataset
    to_labeled: ToLabeledRows

    def __call__(self, fn: Callable[[LabeledRows], Any]) -> Any:
        return self.data.engine(_OverPartition(self.to_labeled, fn), self.data.parts)


@dataclass(frozen=True)
class _OverPartition:
    to_labeled: ToLabeledRows
    fn: Callable[[LabeledRows], Any]

    def __call__(self, part: PartitionRows) -> Any:
        return summed(map(self.fn, part.results(_NAME, self.to_labeled)))


@dataclass(frozen=True)
class _Write:
    folder: Path
    to_labeled: ToLabeledRows

    def __call__(self, rows: Rows) -> Array:
        with told_if_full(self.folder), (self.folder / f"{rows.number.min():020d}").open("wb") as file:
            pickle.dump(self.to_labeled(rows), file, protocol=5)
        return np.zeros(())


@dataclass(frozen=True)
class _InFiles:
    files: tuple[Path, ...]

    def __call__(self, fn: Callable[[LabeledRows], Any]) -> Any:
        return ENGINES["local"](-1)(_OverFile(fn), self.files)


@dataclass(frozen=True)
class _OverFile:
    fn: Callable[[LabeledRows], Any]

    def __call__(self, path: Path) -> Any:
        with path.open("rb") as file:
            return self.fn(pickle.load(file))
