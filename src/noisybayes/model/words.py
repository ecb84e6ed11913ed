"""Event models of words for the robust fit: multinomial or complement, plain or with weights of equal length.

Complement weights (what all other classes do *not* say) and equal lengths help where classes differ in size; the data
choose between them by the likelihood of the labels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from .crossfit import Variant
from .families.base import linear_score
from .tree import Array


@dataclass(frozen=True)
class Words:
    """Scores of word weights: X @ weights.T."""

    def scorer(self, weights: Array, dtype: np.dtype[Any]) -> Callable[[Any], Array]:
        columns = np.ascontiguousarray(weights.T, dtype=dtype)
        return partial(linear_score, weights=columns, offset=np.zeros(len(weights), dtype=dtype))


SMOOTHING = (0.1, 0.3, 1.0)
#: Offsets first all but forbidden, then nearly free (see crossfit.OFFSETS_MUST_EARN).
PENALTIES = (0.1, 0.001)


def word_variants(n_classes: int, smoothing: Sequence[float] = SMOOTHING) -> list[Variant]:
    # with two classes the complement of one is the other
    kinds = (False,) if n_classes == 2 else (False, True)
    return [
        Variant(
            f"{'complement' if complement else 'multinomial'}{', equal lengths' if equal else ''}, alpha {alpha:g}",
            partial(word_weights, complement=complement, equal_lengths=equal, alpha=alpha),
            Words(),
            PENALTIES,
            False,
        )
        for complement in kinds
        for equal in (False, True)
        for alpha in smoothing
    ]


def word_weights(
    counts: Array, weight: Array, settled: bool, *, complement: bool, equal_lengths: bool, alpha: float
) -> Array:
    """(K, d) weights of the words."""
    counts = np.maximum(counts.sum(axis=0) - counts if complement else counts, 0.0) + max(alpha, 1e-10)
    weights = np.log(counts) - np.log(counts.sum(axis=1, keepdims=True))
    if complement:
        weights = -weights
    if equal_lengths:
        weights -= weights.mean(axis=0)
        weights *= weights.shape[1] / np.maximum(np.abs(weights).sum(axis=1, keepdims=True), 1e-300)
    return np.asarray(weights)
