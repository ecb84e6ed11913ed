"""Input of a baseline: rows with encoded labels, and checked constructor arguments."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
RandomState = int | np.random.Generator | np.random.RandomState | None


class Rows(NamedTuple):
    X: Any  # (n, d) an array or CSR
    observed: Array  # (n,) codes 0..K-1 of the given labels
    verified: Array  # (n,) codes of the verified labels, -1 where there is none
    possible: Array  # (n, K) whether the true label may be k; only one class if it is verified

    @property
    def labels(self) -> Array:
        """(n,) the best known label of each row: the verified one, or else the given one."""
        return np.where(self.verified >= 0, self.verified, self.observed)


class Settings(NamedTuple):
    hidden_layer_sizes: tuple[int, ...]
    dropout: float
    learning_rate: float
    batch_size: int
    max_epochs: int
    patience: int
    validation_fraction: float
    seed: int
    centred: bool = True  # subtract the means of the features


def checked(estimator: Any) -> Settings:
    """The constructor arguments shared by all networks; an error names the argument and its valid values."""
    sizes = estimator.hidden_layer_sizes
    sizes = tuple(sizes) if np.ndim(sizes) else (sizes,)
    if not sizes:
        raise ValueError("hidden_layer_sizes must name at least one layer, such as (100,), got ()")
    for size in sizes:
        whole_number("hidden_layer_sizes", size)
    for name in ("batch_size", "max_epochs", "patience"):
        whole_number(name, getattr(estimator, name))
    between("dropout", estimator.dropout, 0.0, 0.95)
    between("validation_fraction", estimator.validation_fraction, 0.01, 0.5)
    between("learning_rate", estimator.learning_rate, 1e-8, 10.0)
    return Settings(
        tuple(int(size) for size in sizes),
        float(estimator.dropout),
        float(estimator.learning_rate),
        int(estimator.batch_size),
        int(estimator.max_epochs),
        int(estimator.patience),
        float(estimator.validation_fraction),
        seed(estimator.random_state),
        not published(estimator),
    )


def published(estimator: Any) -> bool:
    """Whether a method should run as its authors describe it, without our changes."""
    wanted = getattr(estimator, "as_published", False)
    if not isinstance(wanted, bool | np.bool_):
        raise ValueError(f"as_published must be True or False, got {wanted!r}")
    return bool(wanted)


def whole_number(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}")


def between(name: str, value: Any, low: float, high: float) -> None:
    if not isinstance(value, int | float | np.number) or not low <= value <= high:
        raise ValueError(f"{name} must be a number from {low:g} to {high:g}, got {value!r}")


def seed(random_state: Any) -> int:
    """None gives the same fit every time, as everywhere in this package."""
    if random_state is None:
        return 0
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    if isinstance(random_state, int | np.integer) and random_state >= 0:
        return int(random_state)
    raise ValueError(f"random_state must be a whole number of at least 0 or a generator, got {random_state!r}")
