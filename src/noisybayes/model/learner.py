"""Naive Bayes as a learner of cross-fitted scores: the sums of a fold are taken once, and left out by subtraction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial, reduce
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from .beliefs import Belief
from .families import Family
from .rows import Rows, score_dtype, split
from .tree import Array, add_into, tree_map
from .variants import Score, Variant


class Sums(NamedTuple):
    features: Any
    weight: Array  # (K,)


class Gathered(NamedTuple):
    total: Sums
    parts: list[Sums]


class NaiveBayes:
    """Scores are log-likelihoods of the family's variants."""

    additive = True

    def __init__(
        self,
        family: Family,
        blocks: Sequence[Sequence[Variant]],
        n_classes: int,
        n_threads: int,
        class_prior: Array | None = None,
    ) -> None:
        self.family, self.blocks, self.n_classes, self.n_threads = family, blocks, n_classes, n_threads
        self.class_prior = class_prior
        self.dtype: np.dtype[Any] = np.dtype(np.float64)

    def gather(self, parts: list[Rows], beliefs: list[Belief]) -> Gathered:
        self.dtype = score_dtype(parts[0].X)
        sums = self._map(lambda pair: self._sums(*pair), list(zip(parts, beliefs, strict=True)))
        total = reduce(add_into, sums[1:], tree_map(np.copy, sums[0]))
        return Gathered(total, sums)

    def out_of_fold(self, gathered: Gathered, variant: Variant, settled: bool, parts: list[Rows]) -> list[Array]:
        def score(pair: tuple[Sums, Rows]) -> Array:
            own, rows = pair
            return self.score(_without(own, gathered.total, variant, settled), variant, rows.X)

        return self._map(score, list(zip(gathered.parts, parts, strict=True)))

    def left_out(self, gathered: Gathered, variant: Variant, settled: bool) -> list[Any]:
        return [_without(own, gathered.total, variant, settled) for own in gathered.parts]

    def predictor(self, gathered: Gathered, variant: Variant, settled: bool) -> Any:
        return _parameters(gathered.total, variant, settled)

    def score(self, predictor: Any, variant: Variant, X: Any) -> Array:
        scores = [
            score.family.scorer(params, score_dtype(X))(X)
            for score, params in zip(variant.scores, predictor, strict=True)
        ]
        return np.asarray(scores, dtype=np.float64)

    def shares(self, gathered: Gathered) -> Array:
        if self.class_prior is not None:
            return np.asarray(np.log(np.maximum(self.class_prior, 1e-300)))
        weight = gathered.total.weight
        return np.asarray(np.log((weight + 1.0) / (weight.sum() + self.n_classes)))

    def _sums(self, rows: Rows, belief: Belief) -> Sums:
        weight = belief.trust if rows.weight is None else belief.trust * rows.weight
        total: Sums | None = None
        edges = np.cumsum([0] + [chunk.n_rows for chunk in split(rows, self.n_classes)])
        for start, stop in pairwise(edges):
            resp = np.zeros((stop - start, self.n_classes), dtype=self.dtype)
            resp[np.arange(stop - start), belief.label[start:stop]] = weight[start:stop]
            features = self.family.statistics(rows.view(start, stop).X, resp)
            features = tree_map(lambda leaf: leaf.astype(np.float64, copy=False), features)
            sums = Sums(features, resp.sum(axis=0, dtype=np.float64))
            total = sums if total is None else add_into(total, sums)
        assert total is not None
        return total

    def _map(self, fn: Callable[[Any], Any], items: list[Any]) -> list[Any]:
        if self.n_threads == 1:
            return [fn(item) for item in items]
        with ThreadPoolExecutor(self.n_threads) as pool:
            return list(pool.map(fn, items))


def _parameters(sums: Sums, variant: Variant, settled: bool) -> list[Any]:
    return [score.estimate(sums.features, sums.weight, settled) for score in variant.scores]


def _without(own: Sums, total: Sums, variant: Variant, settled: bool) -> list[Any]:
    rest = tree_map(np.subtract, total, own)
    return _parameters(rest._replace(weight=np.maximum(rest.weight, 0.0)), variant, settled)


def pooled_variants(family: Family, strengths: Sequence[float], penalties: tuple[float, ...]) -> list[Variant]:
    """Shrinkage towards the pooled mean: several strengths at first, and once labels are weighted the best one."""
    return [_variant(f"strength {s:g}", family, partial(_pooled_prior, family, s), penalties) for s in strengths]


def fixed_variant(family: Family, alpha: float, penalties: tuple[float, ...]) -> Variant:
    return _variant(f"alpha {alpha:g}", family, partial(_fixed_prior, family, alpha), penalties)


def _variant(name: str, family: Family, prior: Callable[..., Any], penalties: tuple[float, ...]) -> Variant:
    return Variant(name, (Score(partial(_estimate, family, prior), family),), prior, penalties, True)


def _pooled_prior(family: Family, strength: float, stats: Any, weight: Array, settled: bool) -> Any:
    return family.pooled_prior(stats, weight, None if settled else strength)


def _fixed_prior(family: Family, alpha: float, stats: Any, weight: Array, settled: bool) -> Any:
    return family.fixed_prior(alpha, stats, weight)


def _estimate(family: Family, prior: Callable[..., Any], stats: Any, weight: Array, settled: bool) -> Any:
    return family.estimate(stats, weight, prior(stats, weight, settled))
