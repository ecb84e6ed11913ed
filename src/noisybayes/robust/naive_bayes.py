"""Naive Bayes as a source of cross-fitted scores: sums by fold in one pass, a fold left out by subtraction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .._threads import in_threads
from ..dataset import Dataset, Rows
from ..dataset.tree import Array, summed, tree_map
from .label_weights import LabelWeights
from .old_model.em import row_weights
from .old_model.families import Family
from .score_models import ScoreModel
from .scoring import CombinedScores, OutOfFoldScores, Scoring, make_scoring


class Sums(NamedTuple):
    features: Any  # the family's statistics, for R * K components
    weight: Array  # (R * K,)


class LearnedNaiveBayes(NamedTuple):
    """Parameters learned from the labels in one pass."""

    source: NaiveBayes
    model: ScoreModel
    total: Sums
    params: tuple[tuple[Any, ...], ...]  # [fold][score]: learned without the fold
    reweighted: bool  # whether labels had been weighted
    dtype: np.dtype[Any]

    @property
    def shares(self) -> Array:
        """(R, K) log class shares."""
        if self.source.class_prior is not None:
            return np.log(np.maximum(self.source.class_prior, 1e-300))[None]
        weight = self.total.weight.reshape(-1, self.source.n_classes)
        return np.asarray(np.log((weight + 1.0) / (weight.sum(axis=1, keepdims=True) + self.source.n_classes)))

    @property
    def out_of_fold(self) -> OutOfFoldScores:
        families = [score.family for score in self.model.scores]
        scorers = tuple(
            tuple(family.scorer(params, self.dtype) for family, params in zip(families, by_score, strict=True))
            for by_score in self.params
        )
        return OutOfFoldScores(scorers, self.source.n_classes)

    def combined(self, temperature: Array) -> CombinedScores:
        scorers = [self._scoring(params, temperature).compiled(self.dtype) for params in self.params]
        return CombinedScores(tuple(scorers))

    def terms(self, rows: Rows, component: Array, other: Array, temperature: Array) -> Any:
        """(n, d) CSR: what each column of rows in the order of their folds adds to the log-odds of `component` against
        `other`."""
        parts, start = [], 0
        for fold, fold_rows in rows.by_fold():
            span = slice(start, start + fold_rows.n_rows)
            start = span.stop
            weighted = [
                factor * score.family.terms(params, fold_rows.X, component[span], other[span])
                for score, params, factor in zip(self.model.scores, self.params[fold], temperature, strict=True)
            ]
            parts.append(sum(weighted[1:], weighted[0]))
        return sparse.csr_array(sparse.vstack(parts, format="csr"))

    def by_view(self, rows: Rows, *_: Any) -> list[list[tuple[str, float]]]:
        """Naive Bayes has no other contributions than the columns."""
        return [[] for _ in range(rows.n_rows)]

    def scoring(self, temperature: Array, constant: Array) -> Scoring:
        """The scorer of new rows."""
        from_all_folds = self.source.estimator(self.total, self.model, self.reweighted)(self.total)
        return self._scoring(from_all_folds, temperature, constant)

    def _scoring(self, params: Sequence[Any], temperature: Array, constant: Array | None = None) -> Scoring:
        families = tuple(score.family for score in self.model.scores)
        constant = np.zeros(self.source.n_classes) if constant is None else constant
        return make_scoring(families, params, temperature, constant)


@dataclass(frozen=True)
class NaiveBayes:
    family: Family
    candidates: Sequence[Sequence[ScoreModel]]  # for each block of columns the candidate score models
    n_classes: int
    class_prior: Array | None = None
    n_threads: int = 1
    additive = True

    def sums(self, data: Dataset, weights: LabelWeights, left_out: Array | None = None) -> tuple[Sums, ...]:
        """Statistics of every fold. left_out : (R,) the fold that each replicate leaves out"""
        fn = partial(
            fold_sums, family=self.family, weights=weights, n_classes=self.n_classes, left_out=left_out,
            dtype=data.dtype,
        )  # fmt: skip
        by_fold: tuple[Sums, ...] = data.map_sum(fn, by="fold")
        return by_fold

    def learn(
        self,
        data: Dataset,
        weights: LabelWeights,
        model: ScoreModel,
        reweighted: bool,
        left_out: Array | None = None,
    ) -> LearnedNaiveBayes:
        return self.from_sums(self.sums(data, weights, left_out), model, reweighted, data.dtype)

    def from_sums(
        self, by_fold: tuple[Sums, ...], model: ScoreModel, reweighted: bool, dtype: np.dtype[Any]
    ) -> LearnedNaiveBayes:
        """reweighted : whether labels have been weighted, so that the prior's strength can be estimated from them"""
        total = summed(by_fold)
        estimate = self.estimator(total, model, reweighted)

        def leave_out(fold_total: Sums) -> tuple[Any, ...]:
            rest = tree_map(np.subtract, total, fold_total)
            return estimate(rest._replace(weight=np.maximum(rest.weight, 0.0)))

        params = tuple(in_threads(leave_out, by_fold, self.n_threads))
        return LearnedNaiveBayes(self, model, total, params, reweighted, dtype)

    def estimator(self, total: Sums, model: ScoreModel, reweighted: bool) -> Callable[[Sums], tuple[Any, ...]]:
        """Sums to the parameters of every score, with priors estimated from all rows: what rows have in common carries
        no information about the label of one row."""
        pooled = _mean_of_replicates(total, self.n_classes)
        priors = [score.prior(pooled.features, pooled.weight, reweighted) for score in model.scores]

        def estimate(sums: Sums) -> tuple[Any, ...]:
            pairs = zip(model.scores, priors, strict=True)
            return tuple(score.estimate(sums.features, sums.weight, prior) for score, prior in pairs)

        return estimate


def _mean_of_replicates(sums: Sums, n_classes: int) -> Sums:
    """Sums for K components: replicates have nearly the same rows, and one prior serves all of them."""
    n_replicates = len(sums.weight) // n_classes
    if n_replicates == 1:
        return sums
    mean: Sums = tree_map(lambda leaf: leaf.reshape(n_replicates, n_classes, *leaf.shape[1:]).mean(axis=0), sums)
    return mean


def fold_sums(
    rows: Rows,
    family: Family,
    weights: LabelWeights,
    n_classes: int,
    left_out: Array | None,
    dtype: np.dtype[Any],
) -> Sums:
    """Statistics of the rows of one fold, by label and replicate."""
    label, weight = weights(rows)
    row_weight = row_weights(rows, left_out)
    weight = weight if row_weight is None else weight * row_weight
    n, R = weight.shape
    resp = np.zeros((n, R, n_classes), dtype=dtype)
    np.put_along_axis(resp, np.broadcast_to(label, (n, R))[:, :, None], weight[:, :, None], axis=2)
    resp = resp.reshape(n, R * n_classes)
    features = tree_map(lambda leaf: leaf.astype(np.float64, copy=False), family.statistics(rows.X, resp))
    return Sums(features, resp.sum(axis=0, dtype=np.float64))
