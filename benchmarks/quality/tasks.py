"""The input of a method: training rows with observed labels, and test rows."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class Task(NamedTuple):
    name: str
    kind: Literal["text", "table", "numbers", "embedded"]
    X: Any  # (n, d) text: CSR word counts; table: zeros and ones; numbers: numeric columns;
    # embedded: texts, vectors and columns
    y: Array  # (n,) observed labels, 0..K-1
    true: Array | None  # (n,) true labels; None when passed to a method
    X_test: Any
    y_test: Array | None  # true labels of the test rows; None when passed to a method
    seed: int

    def without_truth(self) -> Task:
        return self._replace(true=None, y_test=None)


MakeTask = Callable[[int], Task]


def generator(name: str, seed: int) -> np.random.Generator:
    """Random numbers that depend only on data set and repetition, so that all methods see the same wrong labels."""
    return np.random.default_rng([zlib.crc32(name.encode()), seed])


def random_split(n: int, n_train: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Row numbers for training and for testing."""
    order = rng.permutation(n)
    return order[:n_train], order[n_train:]
