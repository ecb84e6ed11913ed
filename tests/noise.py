"""Mislabeling matrices, (K, K) as [observed, true]."""

from __future__ import annotations

from typing import Any

import numpy as np


def uniform_noise(n_classes: int, rate: float) -> Any:
    """A wrong label is any other class with equal probability."""
    matrix = np.full((n_classes, n_classes), rate / (n_classes - 1))
    np.fill_diagonal(matrix, 1 - rate)
    return matrix


def pair_noise(n_classes: int, rate: float) -> Any:
    """Class k is confused with k + 1 only."""
    return (1 - rate) * np.eye(n_classes) + rate * np.roll(np.eye(n_classes), 1, axis=0)
