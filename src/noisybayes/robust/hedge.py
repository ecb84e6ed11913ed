"""P(wrong) if nothing shows that mistakes depend on the class.

Then the mislabeling matrix explains the labels no better than the assumption that all of them are right, and P(wrong)
by the matrix ranks rows at random, or worse. Two explanations remain, which the labels cannot distinguish: all labels
are right, or mistakes are on ambiguous rows, so that a label is wrong with the probability of the other classes given
the row. Both have equal weight: P(wrong) is half of 1 - P(label | x). It never exceeds one half, since the given
label is still the most probable one; it shows which rows to review first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..dataset.tree import Array


class Hedge(NamedTuple):
    share: float  # how far the labels support the matrix, from 0 to 1
    factor: float  # temperature of the scores if all labels are right
    offset: Array  # (K,) offsets of the classes, likewise

    def all_right(self, prior: Array) -> Array:
        """(n, K) P(class | x) if all labels are right, from P(true | x) of the fit."""
        logits = self.factor * np.log(np.maximum(prior, np.finfo(prior.dtype).tiny)) + self.offset
        exps = np.exp(logits - logits.max(axis=1, keepdims=True))
        return np.asarray(exps / exps.sum(axis=1, keepdims=True), dtype=prior.dtype)

    def __call__(self, true: Array, prior: Array, observed: Array) -> Array:
        """(n, K) P(true | x, label) as it is reported; for rows without a label, unchanged.

        true, prior : (n, K) P(true | x, label) and P(true | x) of the fit
        """
        labeled = np.flatnonzero(observed < true.shape[1])
        hedged = 0.5 * self.all_right(prior[labeled])
        hedged[np.arange(len(labeled)), observed[labeled]] += 0.5
        reported = true.copy()
        reported[labeled] = self.share * true[labeled] + (1.0 - self.share) * hedged
        return reported
