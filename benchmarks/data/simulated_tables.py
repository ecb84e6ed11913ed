"""Simulated numeric tables on which naive Bayes is misspecified: columns are dependent, boundaries are curved."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from noisybayes.data.simulate import Array

# Centres of each class among the hidden factors: several, so that no plane separates two classes.
_CENTRES = 4
# Distance of the centres, in standard deviations of a factor.
_SPREAD = 1.6
# Standard deviation of the noise in each column.
_OWN = 0.3


class SimulatedTable(NamedTuple):
    X: Array  # (n, d)
    true: Array  # (n,) codes of the classes


def simulate_table(
    n: int = 1_000,
    *,
    n_features: int = 12,
    n_classes: int = 3,
    random_state: int | np.random.Generator | None = None,
) -> SimulatedTable:
    """Draw numeric rows and their classes; `corrupt` and `boundary_noise` add label noise.

    Parameters
    ----------
    n, n_features, n_classes : int
        Rows, columns and classes.
    random_state : int or numpy.random.Generator, optional

    Returns
    -------
    SimulatedTable
        Each row has a third as many hidden factors as columns, normal and independent. Every class has four centres
        in the space of the factors, and a row belongs to the class with the nearest centre. A column is a bounded
        nonlinear function of a mix of all factors plus noise: columns are correlated, also within classes.
    """
    if n < 1 or n_features < 1 or n_classes < 1:
        raise ValueError(f"n, n_features and n_classes must be at least 1, got {n}, {n_features}, {n_classes}")
    rng = np.random.default_rng(random_state)
    n_factors = max(2, n_features // 3)
    factors = rng.normal(size=(n, n_factors))
    centres = _SPREAD * rng.normal(size=(_CENTRES * n_classes, n_factors))
    distance = ((factors[:, None] - centres) ** 2).sum(axis=2)
    mixed = 0.5 * factors @ rng.normal(size=(n_factors, n_features))
    X = np.tanh(mixed) + _OWN * rng.normal(size=(n, n_features))
    return SimulatedTable(X, np.asarray(distance.argmin(axis=1) % n_classes))
