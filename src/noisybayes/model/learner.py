"""Naive Bayes as a learner of cross-fitted scores: the sums of a fold are taken once, and left out by subtraction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np

from .._threads import in_threads
from .beliefs import Belief
from .families import Family
from .folded import Folded, sum_by_fold
from .rows import Design, score_dtype
from .scoring import scoring
from .tree import Array, add_into, tree_map
from .variants import Offsets, Score, Variant


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

    def in_one_thread(self) -> NaiveBayes:
        one = copy(self)
        one.n_threads = 1
        return one

    def gather(self, folded: Folded, belief: Belief) -> Gathered:
        self.dtype = score_dtype(folded.design)
        weight = belief.trust * folded.labels.weight

        def sums(design: Design, rows: Array) -> Sums:
            return self._sums(design, belief.label[rows], weight[rows])

        parts = sum_by_fold(folded, sums, self.n_threads)
        total = reduce(add_into, parts[1:], tree_map(np.copy, parts[0]))
        return Gathered(total, parts)

    def left_out(self, gathered: Gathered, variant: Variant, settled: bool) -> list[Any]:
        without = partial(_without, total=gathered.total, variant=variant, settled=settled)
        return list(in_threads(without, gathered.parts, self.n_threads))

    def predictor(self, gathered: Gathered, variant: Variant, settled: bool) -> Any:
        return _parameters(gathered.total, variant, settled)

    def score(self, predictor: Any, variant: Variant, X: Any) -> Array:
        scores = [
            score.family.scorer(params, score_dtype(X))(X)
            for score, params in zip(variant.scores, predictor, strict=True)
        ]
        return np.asarray(scores)

    def weighed(self, predictor: Any, variant: Variant, temperature: Array) -> Callable[[Any], Array]:
        families = tuple(score.family for score in variant.scores)
        return scoring(families, predictor, temperature, np.zeros(self.n_classes)).log_joint

    def shares(self, gathered: Gathered) -> Array:
        if self.class_prior is not None:
            return np.asarray(np.log(np.maximum(self.class_prior, 1e-300)))
        weight = gathered.total.weight
        return np.asarray(np.log((weight + 1.0) / (weight.sum() + self.n_classes)))

    def _sums(self, design: Design, label: Array, weight: Array) -> Sums:
        resp = np.zeros((len(label), self.n_classes), dtype=self.dtype)
        resp[np.arange(len(label)), label] = weight
        features = self.family.statistics(design, resp)
        features = tree_map(lambda leaf: leaf.astype(np.float64, copy=False), features)
        return Sums(features, resp.sum(axis=0, dtype=np.float64))


def _parameters(sums: Sums, variant: Variant, settled: bool) -> list[Any]:
    return [score.estimate(sums.features, sums.weight, settled) for score in variant.scores]


def _without(own: Sums, total: Sums, variant: Variant, settled: bool) -> list[Any]:
    rest = tree_map(np.subtract, total, own)
    return _parameters(rest._replace(weight=np.maximum(rest.weight, 0.0)), variant, settled)


def pooled_variants(family: Family, strengths: Sequence[float], offsets: tuple[Offsets, ...]) -> list[Variant]:
    """Shrinkage towards the pooled mean: several strengths at first, and once labels are weighted the best one."""
    return [_variant(f"strength {s:g}", family, partial(_pooled_prior, family, s), offsets) for s in strengths]


def fixed_variant(family: Family, alpha: float, offsets: tuple[Offsets, ...]) -> Variant:
    return _variant(f"alpha {alpha:g}", family, partial(_fixed_prior, family, alpha), offsets)


def _variant(name: str, family: Family, prior: Callable[..., Any], offsets: tuple[Offsets, ...]) -> Variant:
    return Variant(name, (Score(partial(_estimate, family, prior), family),), prior, offsets)


def _pooled_prior(family: Family, strength: float, stats: Any, weight: Array, settled: bool) -> Any:
    return family.pooled_prior(stats, weight, None if settled else strength)


def _fixed_prior(family: Family, alpha: float, stats: Any, weight: Array, settled: bool) -> Any:
    return family.fixed_prior(alpha, stats, weight)


def _estimate(family: Family, prior: Callable[..., Any], stats: Any, weight: Array, settled: bool) -> Any:
    return family.estimate(stats, weight, prior(stats, weight, settled))
