"""A family that the package does not have, written as a user would: one class."""

from __future__ import annotations

from functools import partial

import numpy as np
from noisybayes.model.csr import transposed_product

from noisybayes.model.families.base import Family, linear_score


class Poisson(Family):
    """x_j | k ~ Poisson(rate[k, j]); the parameters are the rates, the prior is (shape, rows) of a Gamma."""

    def statistics(self, X, resp):
        return transposed_product(X, resp).T

    def fixed_prior(self, alpha, stats, weight):
        return self.pooled_prior(stats, weight, max(alpha, 1e-10))

    def pooled_prior(self, stats, weight, strength=None):
        strength = 1.0 if strength is None else strength
        return strength * (stats.sum(axis=0) + 0.5) / (weight.sum() + 1.0), strength

    def strength(self, prior):
        return prior[1]

    def estimate(self, stats, weight, prior):
        shape, rows = prior
        return (stats + shape) / (weight[:, None] + rows)

    def log_prior(self, params, prior):
        shape, rows = prior
        return (shape * np.log(params) - rows * params).sum(axis=1)

    def scorer(self, params, dtype):
        weights = np.ascontiguousarray(np.log(params).T, dtype=dtype)
        return partial(linear_score, weights=weights, offset=-params.sum(axis=1).astype(dtype))

    def sample(self, params, stats, weight, component, rng):
        return rng.poisson(params[component]).astype(float)
