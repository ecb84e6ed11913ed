"""Event models of words for the robust fit: multinomial and complement weights side by side, of equal length.

Complement weights (from the words of all *other* classes) help if classes differ in size, and equal lengths keep a
class with dependent words from dominating the others (Rennie et al. 2003). Neither kind is best everywhere: each gets
its own temperature, and the likelihood of the labels determines how much each counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..dataset.tree import Array
from .constants import Offsets
from .old_model.families import Multinomial
from .old_model.families.base import linear_score, linear_terms
from .score_models import Score, ScoreModel


@dataclass(frozen=True)
class Words:
    """Scores of word weights: X @ weights.T."""

    def scorer(self, weights: Array, dtype: np.dtype[Any]) -> Callable[[Any], Array]:
        columns = np.ascontiguousarray(weights.T, dtype=dtype)
        return partial(linear_score, weights=columns, offset=np.zeros(len(weights), dtype=dtype))

    def terms(self, weights: Array, X: Any, component: Array, other: Array) -> Any:
        return linear_terms(X, weights, component, other)


def word_models(n_classes: int, smoothing: Sequence[float], offsets: tuple[Offsets, ...]) -> list[ScoreModel]:
    # with two classes the complement of one is the other
    variants = (False,) if n_classes == 2 else (False, True)

    def score(alpha: float, complement: bool) -> Score:
        estimate = partial(word_weights, complement=complement, alpha=alpha, n_classes=n_classes)
        return Score(_no_prior, estimate, Words())

    return [
        ScoreModel(
            f"{'multinomial' if n_classes == 2 else 'multinomial and complement'}, alpha {alpha:g}",
            tuple(score(alpha, complement) for complement in variants),
            partial(_word_prior, alpha),
            offsets,
        )
        for alpha in smoothing
    ]


def word_weights(counts: Array, weight: Array, prior: None, *, complement: bool, alpha: float, n_classes: int) -> Array:
    """(C, d) weights of the words; components are replicates of the classes."""
    weights = np.empty_like(counts)
    # one replicate at a time: its arrays stay in the cache, and their memory is reused
    for first in range(0, len(counts), n_classes):
        replicate = slice(first, first + n_classes)
        weights[replicate] = _class_weights(counts[replicate], complement, alpha)
    return weights


def _class_weights(counts: Array, complement: bool, alpha: float) -> Array:
    weights = counts.sum(axis=0) - counts if complement else counts.copy()
    np.maximum(weights, 0.0, out=weights)
    weights += max(alpha, 1e-10)
    totals = weights.sum(axis=1, keepdims=True)
    np.log(weights, out=weights)
    weights -= np.log(totals)
    if complement:
        np.negative(weights, out=weights)
    weights -= weights.mean(axis=0)
    weights *= weights.shape[1] / np.maximum(np.abs(weights).sum(axis=1, keepdims=True), 1e-300)
    return np.asarray(weights)


def _no_prior(counts: Array, weight: Array, reweighted: bool) -> None:
    return None


def _word_prior(alpha: float, counts: Array, weight: Array, reweighted: bool) -> Any:
    return Multinomial().fixed_prior(alpha, counts, weight)
