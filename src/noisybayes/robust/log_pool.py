"""P(wrong) if it is unknown why labels are wrong.

There are two possible posteriors. If mistakes depend on the class, the given label is evidence, by the mislabeling
matrix: P(true | x, label). If people make mistakes on ambiguous rows, a label adds nothing to the features:
P(true | x). The second gives far higher P(wrong) than the first, so the mean of the two probabilities would rank rows
by the second alone. A logarithmic opinion pool, the weighted mean of their logs, uses both: the label counts as half
the evidence, or as less if the labels do not support the matrix. The expected number of wrong labels is the mean of the
expectations of the two posteriors:

    log P(true = k) = w log P(k | x, label) + (1 - w) log P(k | x) - shift [k is the label] + constant
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from ..dataset.tree import Array

# Keeps logarithms finite.
_TINY = 1e-30
# Bound of the search for the shift: e to this power is beyond any odds.
_MAX_SHIFT = 100.0


class LogPool(NamedTuple):
    """A logarithmic opinion pool of P(true | x, label) and P(true | x)."""

    label_weight: float  # w, from 0 to 1/2: weight of the posterior that uses the label
    shift: float

    @classmethod
    def fit(cls, true: Array, prior: Array, observed: Array, weight: Array, share: float = 1.0) -> LogPool:
        """Choose the shift such that as many labels are wrong as the two posteriors expect on average.

        true, prior : (n, K) P(true | x, label) and P(true | x) of the fit
        weight : (n,) of the rows
        share : how far the labels support the matrix, from 0 to 1
        """
        unshifted = cls(0.5 * share, 0.0)
        labeled = np.flatnonzero(observed < true.shape[1])
        true, prior, observed, weight = true[labeled], prior[labeled], observed[labeled], weight[labeled]
        every = np.arange(len(labeled))
        others = unshifted(true, prior, observed)
        p_right = others[every, observed]
        others[every, observed] = 0.0  # summed up, not 1 - P(right): that is 0 where they are below rounding
        log_odds = np.log(others.sum(axis=1) + _TINY) - np.log(p_right + _TINY)
        target = float(weight @ (1.0 - 0.5 * (true[every, observed] + prior[every, observed])))

        def excess(shift: float) -> float:
            return float(weight @ expit(log_odds + shift)) - target

        if excess(-_MAX_SHIFT) >= 0.0 or excess(_MAX_SHIFT) <= 0.0:  # no labels, or none that could be wrong
            return unshifted
        from scipy.optimize import brentq  # takes a quarter of a second to import

        return unshifted._replace(shift=float(brentq(excess, -_MAX_SHIFT, _MAX_SHIFT, xtol=1e-12)))

    def __call__(self, true: Array, prior: Array, observed: Array) -> Array:
        """(n, K) P(true | x, label) as it is reported; for rows without a label, unchanged."""
        w = self.label_weight
        logs = w * np.log(true.astype(np.float64) + _TINY) + (1.0 - w) * np.log(prior.astype(np.float64) + _TINY)
        labeled = np.flatnonzero(observed < logs.shape[1])
        logs[labeled, observed[labeled]] -= self.shift
        exps = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(exps / exps.sum(axis=1, keepdims=True), dtype=true.dtype)
