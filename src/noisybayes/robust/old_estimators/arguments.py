"""Checks and converts constructor arguments; an error names the argument and its valid values."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from ..._threads import effective_n_jobs
from ...dataset import MapSum
from ...dataset.tree import Array
from ...engines import ENGINES
from ..old_model.fit import Settings
from ..old_model.mislabel import Fixed, Structure
from ..old_model.start import PAPER_INTERVALS
from ..old_model.structures import STRUCTURES

STARTS = ("labels", "random", *PAPER_INTERVALS)
METHODS = ("crossfit", "em")


def method(name: Any) -> str:
    if name not in METHODS:
        raise ValueError(f"method must be one of {', '.join(map(repr, METHODS))}, got {name!r}")
    return str(name)


def fit_settings(estimator: Any) -> Settings:
    alpha = estimator.alpha
    if alpha != "auto" and not (_is_number(alpha) and alpha >= 0):
        raise ValueError(f"alpha must be 'auto' or a number of at least 0, got {alpha!r}")
    if estimator.start not in STARTS:
        raise ValueError(f"start must be one of {', '.join(map(repr, STARTS))}, got {estimator.start!r}")
    for name in ("n_init", "max_iter"):
        whole_number(name, getattr(estimator, name), minimum=1)
    if not (_is_number(estimator.tol) and estimator.tol >= 0):
        raise ValueError(f"tol must be a number of at least 0, got {estimator.tol!r}")
    return Settings(alpha, estimator.start, int(estimator.n_init), int(estimator.max_iter), float(estimator.tol))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and bool(np.isfinite(value))


def whole_number(name: str, value: Any, minimum: int) -> None:
    if not (_is_number(value) and value == int(value) and value >= minimum):
        raise ValueError(f"{name} must be a whole number of at least {minimum}, got {value!r}")


def structure(mislabel: Any, mislabel_prior: Any, classes: Array) -> Structure:
    n_classes = len(classes)
    if isinstance(mislabel, str):
        if mislabel not in STRUCTURES:
            names = ", ".join(map(repr, STRUCTURES))
            raise ValueError(f"mislabel must be one of {names} or a matrix of shape (K, K), got {mislabel!r}")
        estimated: Structure = STRUCTURES[mislabel].for_classes(_pseudo_counts(mislabel_prior, n_classes), classes)
        return estimated
    if mislabel_prior is not None:
        raise ValueError("mislabel_prior has no use when mislabel is a given matrix; leave one of them out")
    matrix = np.asarray(mislabel, dtype=np.float64)
    if matrix.shape != (n_classes, n_classes):
        raise ValueError(
            f"mislabel has the shape {matrix.shape}, but y has {n_classes} classes: it must be "
            f"({n_classes}, {n_classes}), rows observed, columns true, in the order of the sorted labels"
        )
    if not np.isfinite(matrix).all() or (matrix < 0).any():
        raise ValueError("mislabel contains entries that are negative or not finite; its entries are probabilities")
    sums = matrix.sum(axis=0)
    if not np.allclose(sums, 1.0, rtol=0.0, atol=1e-6):
        worst = int(np.abs(sums - 1).argmax())
        raise ValueError(
            f"the columns of mislabel must sum to 1 (column k: how true class k is labeled), but column {worst} "
            f"sums to {sums[worst]:.6g}; divide each column by its sum, or transpose the matrix if its rows sum to 1"
        )
    return Fixed(matrix / sums)


def _pseudo_counts(prior: Any, n_classes: int) -> Any:
    if prior is None:
        return 0.0
    counts = np.asarray(prior, dtype=np.float64)
    if counts.shape not in ((), (n_classes, n_classes)):
        raise ValueError(
            f"mislabel_prior must be a number or of the shape ({n_classes}, {n_classes}), got the shape {counts.shape}"
        )
    if not np.isfinite(counts).all() or (counts < 0).any():
        raise ValueError("mislabel_prior must contain finite pseudo-counts of at least 0")
    return float(counts) if counts.ndim == 0 else counts


def class_prior(prior: Any, n_classes: int) -> Array | None:
    if prior is None:
        return None
    shares = np.asarray(prior, dtype=np.float64)
    if shares.shape != (n_classes,):
        raise ValueError(
            f"class_prior has the shape {shares.shape}, but y has {n_classes} classes: give one share each"
        )
    if not (shares >= 0).all() or not np.isclose(shares.sum(), 1.0):
        raise ValueError(f"class_prior must be probabilities of at least 0 that sum to 1, got {shares.tolist()}")
    return np.asarray(shares / shares.sum())


def checked_compress(compress: Any) -> bool | str:
    if compress not in (True, False, "auto"):
        raise ValueError(f"compress must be True, False or 'auto', got {compress!r}")
    return "auto" if compress == "auto" else bool(compress)


def n_jobs(number: Any) -> int:
    if number is None:
        return -1
    if not (_is_number(number) and number == int(number) and number != 0):
        raise ValueError(f"n_jobs must be a whole number other than 0 (-1: all cores), got {number!r}")
    return int(number)


def n_threads(number: Any) -> int:
    return int(effective_n_jobs(n_jobs(number)))


def engine(name: Any, workers: Any) -> MapSum:
    if callable(name):
        map_sum: MapSum = name
        return map_sum
    if name not in ENGINES:
        names = ", ".join(map(repr, ENGINES))
        raise ValueError(f"engine must be one of {names} or a function map_sum(fn, chunks), got {name!r}")
    return ENGINES[name](n_jobs(workers))


def whole_seed(random_state: Any) -> Any:
    """The same random state as an int that can be stored, or None."""
    if random_state is None:
        return None
    is_whole = isinstance(random_state, numbers.Integral)
    return int(random_state if is_whole else generator(random_state).integers(2**31))


def generator(random_state: Any) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**31 - 1)
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ValueError(f"random_state must be a whole number or a generator, got {random_state!r}") from None
