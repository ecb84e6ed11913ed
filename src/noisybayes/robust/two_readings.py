"""P(wrong) if it is unknown why labels are wrong.

There are two readings. Where mistakes depend on the class, the given label is evidence, by the mislabeling matrix:
P(true | x, label). Where people make mistakes on ambiguous rows, a wrong label says no more than the row does:
P(true | x). The second gives far higher P(wrong) than the first, so the mean of the two probabilities would rank rows
by the second alone. The mean of their logs uses both: the label counts as half the evidence, or as less if the labels
do not support the matrix. The expected number of wrong labels is the mean of the expectations of the two readings:

    log P(true = k) = w log P(k | x, label) + (1 - w) log P(k | x) - shift [k is the label] + constant
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from ..dataset.tree import Array

# Keeps logarithms finite.
_TINY = 1e-30
# Upper bound of the search for the shift: e to this power is beyond any odds.
_FARTHEST = 100.0


class TwoReadings(NamedTuple):
    label_weight: float  # w, from 0 to 1/2: how far the label counts as evidence
    shift: float

    @classmethod
    def balanced(cls, true: Array, prior: Array, observed: Array, weight: Array, share: float = 1.0) -> TwoReadings:
        """With the shift by which as many labels are wrong as the two readings expect on average.

        true, prior : (n, K) P(true | x, label) and P(true | x) of the fit
        weight : (n,) of the rows
        share : how far the labels support the matrix, from 0 to 1
        """
        unshifted = cls(0.5 * share, 0.0)
        there = np.flatnonzero(observed < true.shape[1])
        true, prior, observed, weight = true[there], prior[there], observed[there], weight[there]
        at = np.arange(len(there))
        others = unshifted(true, prior, observed)
        p_right = others[at, observed]
        others[at, observed] = 0.0  # summed up, not 1 - P(right): that is 0 where they are below rounding
        log_odds = np.log(others.sum(axis=1) + _TINY) - np.log(p_right + _TINY)
        target = float(weight @ (1.0 - 0.5 * (true[at, observed] + prior[at, observed])))

        def excess(shift: float) -> float:
            return float(weight @ expit(log_odds + shift)) - target

        if excess(-_FARTHEST) >= 0.0 or excess(_FARTHEST) <= 0.0:  # no labels, or none that could be wrong
            return unshifted
        return unshifted._replace(shift=float(brentq(excess, -_FARTHEST, _FARTHEST, xtol=1e-12)))

    def __call__(self, true: Array, prior: Array, observed: Array) -> Array:
        """(n, K) P(true | x, label) as it is reported; for rows without a label, unchanged."""
        w = self.label_weight
        logs = w * np.log(true.astype(np.float64) + _TINY) + (1.0 - w) * np.log(prior.astype(np.float64) + _TINY)
        there = np.flatnonzero(observed < logs.shape[1])
        logs[there, observed[there]] -= self.shift
        raised = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(raised / raised.sum(axis=1, keepdims=True), dtype=true.dtype)
