"""What predicts: scores of the features, a temperature and a constant per class."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..model.rows import score_dtype
from ..model.tree import Array


class Scoring(NamedTuple):
    family: Any  # has scorer(params, dtype)
    params: Any
    temperature: float
    constant: Array  # (K,)

    def log_joint(self, design: Any) -> Array:
        """(n, K), up to a constant per row."""
        dtype = score_dtype(design)
        scores = self.family.scorer(self.params, dtype)(design)
        if self.temperature != 1.0:
            scores *= dtype.type(self.temperature)
        scores += self.constant.astype(dtype)
        return np.asarray(scores)


def normalise(log_joint: Array) -> Array:
    """Logarithms to probabilities that sum to 1 in every row; the array is overwritten."""
    log_joint -= log_joint.max(axis=1, keepdims=True)
    np.exp(log_joint, out=log_joint)
    log_joint /= log_joint.sum(axis=1, keepdims=True)
    return log_joint
