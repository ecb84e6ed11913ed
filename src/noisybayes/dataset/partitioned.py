"""A design whose rows stay where they are read: what is known about it without them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .dataset import Dataset, MapSum


@dataclass(frozen=True, eq=False)
class Partitioned:
    """parts : each has `prepared(prepare)`, a `Part` whose design went through `prepare`"""

    parts: Sequence[Any]
    shape: tuple[int, int]
    nnz: int
    dtype: np.dtype[Any]

    def dataset(self, prepare: Callable[[Any], Any], engine: MapSum) -> Dataset:
        parts = [part.prepared(prepare) for part in self.parts]
        return Dataset(parts, engine, self.shape[0], self.nnz, self.dtype, is_remote=True)
