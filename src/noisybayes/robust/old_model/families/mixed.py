"""Blocks of columns, each with its own family; given the class, the blocks are independent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from ....dataset.tree import Array
from .base import Family


@dataclass(frozen=True)
class Mixed(Family):
    """Everything is a tuple with one entry per block; `columns` are index arrays into X."""

    families: tuple[Family, ...]
    columns: tuple[Array, ...]

    def prepare(self, X: Any) -> tuple[Any, ...]:
        return tuple(family.prepare(X[:, columns]) for family, columns in zip(self.families, self.columns, strict=True))

    def anchor(self, X: tuple[Any, ...]) -> Mixed:
        return replace(self, families=tuple(f.anchor(x) for f, x in zip(self.families, X, strict=True)))

    def statistics(self, X: tuple[Any, ...], resp: Array) -> tuple[Any, ...]:
        return tuple(f.statistics(x, resp) for f, x in zip(self.families, X, strict=True))

    def fixed_prior(self, alpha: float, stats: tuple[Any, ...], weight: Array) -> tuple[Any, ...]:
        return tuple(f.fixed_prior(alpha, s, weight) for f, s in zip(self.families, stats, strict=True))

    def pooled_prior(self, stats: tuple[Any, ...], weight: Array, strength: float | None = None) -> tuple[Any, ...]:
        return tuple(f.pooled_prior(s, weight, strength) for f, s in zip(self.families, stats, strict=True))

    def strength(self, prior: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(f.strength(p) for f, p in zip(self.families, prior, strict=True))

    def estimate(self, stats: tuple[Any, ...], weight: Array, prior: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(f.estimate(s, weight, p) for f, s, p in zip(self.families, stats, prior, strict=True))

    def log_prior(self, params: tuple[Any, ...], prior: tuple[Any, ...]) -> Array:
        terms = [f.log_prior(q, p) for f, q, p in zip(self.families, params, prior, strict=True)]
        return np.asarray(np.sum(terms, axis=0))

    def scorer(self, params: tuple[Any, ...], dtype: np.dtype[Any]) -> Callable[[Any], Array]:
        scorers = tuple(f.scorer(p, dtype) for f, p in zip(self.families, params, strict=True))
        return partial(_sum_scores, scorers=scorers)

    def terms(self, params: tuple[Any, ...], X: tuple[Any, ...], component: Array, other: Array) -> Any:
        blocks = zip(self.families, params, X, self.columns, strict=True)
        n_columns = sum(len(columns) for columns in self.columns)
        parts = [in_columns(f.terms(p, x, component, other), columns, n_columns) for f, p, x, columns in blocks]
        return sum(parts[1:], parts[0])

    def sample(self, params: Any, stats: Any, weight: Array, component: Array, rng: np.random.Generator) -> Array:
        X = np.zeros((len(component), sum(len(c) for c in self.columns)))
        for family, columns, p, s in zip(self.families, self.columns, params, stats, strict=True):
            X[:, columns] = family.sample(p, s, weight, component, rng)
        return X


def in_columns(terms: Any, columns: Array, n_columns: int) -> Any:
    """Terms of a block, in the columns of the whole."""
    entries = terms.tocoo()
    where = (entries.coords[0], columns[entries.coords[1]])
    return sparse.csr_array((entries.data, where), shape=(terms.shape[0], n_columns))


def _sum_scores(X: tuple[Any, ...], scorers: tuple[Callable[[Any], Array], ...]) -> Array:
    total = scorers[0](X[0])
    for scorer, block in zip(scorers[1:], X[1:], strict=True):
        total += scorer(block)
    return total
