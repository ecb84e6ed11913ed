"""Normal priors of the effects of a source's levels, and the marginal likelihood of each standard deviation."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ..dataset.tree import Array

# Standard deviations of effects that are compared, in log-odds; the first is practically zero.
SPREADS = 2.0 ** np.arange(-4.0, 2.5, 0.5)
# Standard deviation of the level of a random walk, which the shift of all rows already covers.
_WALK_LEVEL = 2.0


class Prior(Protocol):
    """Near its maximum the likelihood of effects is normal, with the information and the linear term of each level."""

    def precision(self, n_levels: int, spread: float) -> Array:
        """(L, L) of the effects."""
        ...

    def log_marginal(self, information: Array, linear: Array, spread: float) -> float:
        """Log marginal likelihood of the linear terms (L,), integrated over the effects."""
        ...


class Independent:
    """Levels without an order: each effect is normal around 0."""

    def precision(self, n_levels: int, spread: float) -> Array:
        return np.asarray(np.eye(n_levels) / spread**2)

    def log_marginal(self, information: Array, linear: Array, spread: float) -> float:
        precision = 1.0 / spread**2
        total = information + precision
        return float(0.5 * (np.log(precision / total) + linear**2 / total).sum())


class Walk:
    """Levels in an order: each effect is normal around the one before."""

    def precision(self, n_levels: int, spread: float) -> Array:
        step = np.diff(np.eye(n_levels), axis=0)
        return np.asarray(step.T @ step / spread**2 + np.eye(n_levels) / _WALK_LEVEL**2)

    def log_marginal(self, information: Array, linear: Array, spread: float) -> float:
        precision = self.precision(len(information), spread)
        total = precision + np.diag(information)
        size = np.linalg.slogdet(precision)[1] - np.linalg.slogdet(total)[1]
        return float(0.5 * (size + linear @ np.linalg.solve(total, linear)))


def best_spread(prior: Prior, information: Array, linear: Array) -> float:
    """The standard deviation with the highest marginal likelihood."""
    log_marginals = [prior.log_marginal(information, linear, spread) for spread in SPREADS.tolist()]
    return float(SPREADS[int(np.argmax(log_marginals))])
