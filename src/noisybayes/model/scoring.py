"""What predicts: scores of the features, a temperature for each kind of score, and a constant per class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .rows import score_dtype
from .tree import Array
from .words import Words


def scoring(families: tuple[Any, ...], params: Sequence[Any], temperature: Array, constant: Array) -> Scoring:
    if all(isinstance(family, Words) for family in families):  # weights of words add up: one product instead of two
        return Scoring((Words(),), (np.tensordot(temperature, params, axes=1),), np.ones(1), constant)
    return Scoring(families, tuple(params), temperature, constant)


class Scoring(NamedTuple):
    families: tuple[Any, ...]  # each has scorer(params, dtype)
    params: tuple[Any, ...]
    temperature: Array  # (B,)
    constant: Array  # (K,)

    def log_joint(self, design: Any) -> Array:
        """(n, K), up to a constant per row."""
        dtype = score_dtype(design)
        joint = None
        for family, params, temperature in zip(self.families, self.params, self.temperature, strict=True):
            scores = family.scorer(params, dtype)(design)
            if temperature != 1.0:
                scores *= dtype.type(temperature)
            joint = scores if joint is None else np.add(joint, scores, out=joint)
        joint += self.constant.astype(dtype)
        return np.asarray(joint)


def normalise(log_joint: Array) -> Array:
    """Logarithms to probabilities that sum to 1 in every row; the array is overwritten."""
    log_joint -= log_joint.max(axis=1, keepdims=True)
    np.exp(log_joint, out=log_joint)
    log_joint /= log_joint.sum(axis=1, keepdims=True)
    return log_joint
