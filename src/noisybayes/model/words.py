"""Event models of words for the robust fit: multinomial and complement weights side by side, of equal length.

Complement weights (what all other classes do *not* say) help where classes differ in size, and equal lengths keep a
class whose words depend on one another from shouting the others down (Rennie et al. 2003). Neither kind is best
everywhere: each gets a temperature of its own, and the likelihood of the labels weighs them against each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from .families import Multinomial
from .families.base import linear_score, linear_terms
from .tree import Array
from .variants import Offsets, Score, Variant


@dataclass(frozen=True)
class Words:
    """Scores of word weights: X @ weights.T."""

    def scorer(self, weights: Array, dtype: np.dtype[Any]) -> Callable[[Any], Array]:
        columns = np.ascontiguousarray(weights.T, dtype=dtype)
        return partial(linear_score, weights=columns, offset=np.zeros(len(weights), dtype=dtype))

    def terms(self, weights: Array, X: Any, component: Array, other: Array) -> Any:
        return linear_terms(X, weights, component, other)


#: Pseudo-counts that are compared; the first is kept unless another is better beyond chance.
SMOOTHING = (0.3, 0.1, 1.0)
#: Offsets hold to the class shares; or to equal classes, or are nearly free (see stages.OFFSETS_MUST_EARN).
OFFSETS = (Offsets(0.1), Offsets(0.1, from_shares=False), Offsets(0.001))


def word_variants(n_classes: int, smoothing: Sequence[float] = SMOOTHING) -> list[Variant]:
    # with two classes the complement of one is the other
    kinds = (False,) if n_classes == 2 else (False, True)
    return [
        Variant(
            f"{'multinomial' if n_classes == 2 else 'multinomial and complement'}, alpha {alpha:g}",
            tuple(Score(partial(word_weights, complement=kind, alpha=alpha), Words()) for kind in kinds),
            partial(_word_prior, alpha),
            OFFSETS,
        )
        for alpha in smoothing
    ]


def word_weights(counts: Array, weight: Array, settled: bool, *, complement: bool, alpha: float) -> Array:
    """(K, d) weights of the words."""
    counts = np.maximum(counts.sum(axis=0) - counts if complement else counts, 0.0) + max(alpha, 1e-10)
    weights = np.log(counts)
    weights -= np.log(counts.sum(axis=1, keepdims=True))
    if complement:
        np.negative(weights, out=weights)
    weights -= weights.mean(axis=0)
    weights *= weights.shape[1] / np.maximum(np.abs(weights).sum(axis=1, keepdims=True), 1e-300)
    return np.asarray(weights)


def _word_prior(alpha: float, counts: Array, weight: Array, settled: bool) -> Any:
    return Multinomial().fixed_prior(alpha, counts, weight)
