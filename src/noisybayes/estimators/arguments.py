"""Checks and converts constructor arguments; an error names the argument and its valid values."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.em import PAPER_INTERVALS, Settings
from ..model.matrix import STRUCTURES, Fixed, Structure

Array = NDArray[Any]

STARTS = ("labels", *PAPER_INTERVALS)
METHODS = ("crossfit", "em")


def method(name: Any) -> str:
    if name not in METHODS:
        raise ValueError(f"method must be one of {', '.join(map(repr, METHODS))}, got {name!r}")
    return str(name)


def fit_settings(estimator: Any) -> Settings:
    alpha, start, n_init = estimator.alpha, getattr(estimator, "start", "labels"), getattr(estimator, "n_init", 1)
    if alpha != "auto" and not (_is_number(alpha) and alpha >= 0):
        raise ValueError(f"alpha must be 'auto' or a number of at least 0, got {alpha!r}")
    if start not in STARTS:
        raise ValueError(f"start must be one of {', '.join(map(repr, STARTS))}, got {start!r}")
    whole_number("n_init", n_init, minimum=1)
    whole_number("max_iter", estimator.max_iter, minimum=1)
    if not (_is_number(estimator.tol) and estimator.tol >= 0):
        raise ValueError(f"tol must be a number of at least 0, got {estimator.tol!r}")
    return Settings(alpha, start, int(n_init), int(estimator.max_iter), float(estimator.tol))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and bool(np.isfinite(value))


def whole_number(name: str, value: Any, minimum: int) -> None:
    if not (_is_number(value) and value == int(value) and value >= minimum):
        raise ValueError(f"{name} must be a whole number of at least {minimum}, got {value!r}")


def structure(mislabel: Any, mislabel_prior: Any, classes: Array) -> Structure:
    K = len(classes)
    if isinstance(mislabel, str):
        if mislabel not in STRUCTURES:
            names = ", ".join(map(repr, STRUCTURES))
            raise ValueError(f"mislabel must be one of {names} or a matrix of shape (K, K), got {mislabel!r}")
        estimated: Structure = STRUCTURES[mislabel].for_classes(_pseudo_counts(mislabel_prior, K), classes)
        return estimated
    if mislabel_prior is not None:
        raise ValueError("mislabel_prior has no use when mislabel is a given matrix; leave one of them out")
    matrix = np.asarray(mislabel, dtype=np.float64)
    if matrix.shape != (K, K):
        raise ValueError(
            f"mislabel has the shape {matrix.shape}, but y has {K} classes: it must be ({K}, {K}), rows observed, "
            "columns true, in the order of the sorted labels"
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


def _pseudo_counts(prior: Any, K: int) -> Any:
    counts = np.asarray(0.0 if prior is None else prior, dtype=np.float64)
    if counts.shape not in ((), (K, K)):
        raise ValueError(f"mislabel_prior must be a number or of the shape ({K}, {K}), got the shape {counts.shape}")
    if not np.isfinite(counts).all() or (counts < 0).any():
        raise ValueError("mislabel_prior must contain finite pseudo-counts of at least 0")
    return float(counts) if counts.ndim == 0 else counts


def class_prior(prior: Any, K: int) -> Array | None:
    if prior is None:
        return None
    shares = np.asarray(prior, dtype=np.float64)
    if shares.shape != (K,):
        raise ValueError(f"class_prior has the shape {shares.shape}, but y has {K} classes: give one share each")
    if not (shares >= 0).all() or not np.isclose(shares.sum(), 1.0):
        raise ValueError(f"class_prior must be probabilities of at least 0 that sum to 1, got {shares.tolist()}")
    return np.asarray(shares / shares.sum())


def generator(random_state: Any) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**31 - 1)
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ValueError(f"random_state must be a whole number or a generator, got {random_state!r}") from None


def whole_seed(random_state: Any) -> Any:
    """The same random state as an int that can be stored, or None."""
    if random_state is None:
        return None
    is_whole = isinstance(random_state, numbers.Integral)
    return int(random_state if is_whole else generator(random_state).integers(2**31))
